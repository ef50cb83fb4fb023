"""What makes two runs comparable, and what does not."""

import json
from dataclasses import replace

import pytest

from autotune.campaign.ascend_versions import ascend_versions
from autotune.campaign.fingerprint import earlier, fingerprint, fingerprint_facts
from autotune.campaign.nightly.retention import forget_old
from autotune.model.campaign import Reading, Verdict
from autotune.model.move import VerdictCode
from autotune.model.service import Fact
from autotune.model.settings import Settings
from autotune.profile.reading import read_profile
from autotune.store.state import StateDirectory
from autotune.store.study import CampaignStore, save

CONFIG = {
    "ServerConfig": {
        "ipAddress": "10.0.0.5",
        "managementIpAddress": "127.0.0.2",
        "port": 1025,
        "managementPort": 1026,
        "metricsPort": 1027,
        "maxLinkNum": 1000,
    },
    "BackendConfig": {"ScheduleConfig": {"maxBatchSize": 200, "maxPrefillTokens": 8192}},
    "LogConfig": {"logLevel": "Info"},
}


@pytest.fixture
def known(tmp_path, campaign):
    """The facts of a service whose configuration and model a test changes."""
    config = tmp_path / "config.json"
    model = tmp_path / "model"
    model.mkdir()
    (model / "weights.bin").write_bytes(b"1234")
    path = tmp_path / "profile.yaml"
    path.write_text(f"name: p\nengine: {{kind: mindie}}\nmodel: {{path: {model}}}\n")
    path.chmod(0o600)
    profile = read_profile(path, []).profile
    found = replace(campaign, description=replace(campaign.description, config_path=str(config)))

    def facts(document=None):
        config.write_text(json.dumps(document or CONFIG))
        config.chmod(0o640)
        return fingerprint(replace(found, environment=fingerprint_facts(profile, found.description)))

    facts.model = model
    return facts


def changed(*keys, value):
    document = json.loads(json.dumps(CONFIG))
    place = document
    for key in keys[:-1]:
        place = place[key]
    place[keys[-1]] = value
    return document


@pytest.mark.parametrize(
    ("document", "same"),
    [
        (CONFIG, True),
        (changed("BackendConfig", "ScheduleConfig", "maxBatchSize", value=500), True),
        (changed("BackendConfig", "ScheduleConfig", "maxPrefillTokens", value=4096), True),
        (changed("LogConfig", "logLevel", value="Error"), True),
        (changed("ServerConfig", "ipAddress", value="10.0.0.6"), True),
        (changed("ServerConfig", "managementIpAddress", value="127.0.0.3"), True),
        (changed("ServerConfig", "port", value=1035), True),
        (changed("ServerConfig", "managementPort", value=1036), True),
        (changed("ServerConfig", "metricsPort", value=1037), True),
        (changed("ServerConfig", "maxLinkNum", value=2000), False),
    ],
)
def test_tuned_values_addresses_and_the_log_section_are_no_part_of_it(known, document, same):
    assert (known() == known(document)) == same


def test_other_model_files_begin_a_new_history(known):
    before = known()
    (known.model / "weights.bin").write_bytes(b"12345")
    assert known() != before


def test_versions_are_read_from_ascends_own_files(tmp_path):
    driver = tmp_path / "usr/local/Ascend/driver"
    driver.mkdir(parents=True)
    (driver / "version.info").write_text("Version=24.1.rc2\nascendhal_version=7.35.19\n")
    toolkit = tmp_path / "toolkit"
    toolkit.mkdir()
    (toolkit / "version.cfg").write_text("# version: 1.0\nruntime_running_version=[7.5.0.1.129:8.0.RC3]\n")
    assert ascend_versions({"ASCEND_TOOLKIT_HOME": str(toolkit)}, tmp_path) == (
        Fact(name="CANN", value="7.5.0.1.129"),
        Fact(name="NPU driver", value="24.1.rc2"),
    )
    assert ascend_versions({}, tmp_path / "empty") == ()


@pytest.fixture
def store(tmp_path):
    with CampaignStore(f"sqlite:///{tmp_path / 'campaigns.db'}") as made:
        yield made


def ended(campaign, number, code=VerdictCode.INCUMBENT_BEST, version="3.0"):
    reading = Reading(
        settings=Settings(max_batch_size=200), tokens_per_second=1000.0, half_width=0.01, launches=2
    )
    return replace(
        campaign,
        run=f"run-{number}",
        description=replace(campaign.description, version=version),
        started_wall=float(number),
        verdict=Verdict(code=code, reason="", incumbent=reading, best=reading),
        restored=True,
        launches=(),
    )


def test_old_runs_go_and_the_last_known_good_one_never_does(campaign, store, tmp_path):
    state = StateDirectory(root=tmp_path / "state")
    save(store, ended(campaign, 1))
    for number in range(2, 9):
        save(store, ended(campaign, number, VerdictCode.NOT_MEASURABLE))
    (state.run("run-2")).mkdir(parents=True)
    gone = forget_old(store, state, keep=3)
    assert gone == ("run-2", "run-3", "run-4", "run-5")
    assert [run.run for run in store.runs()] == ["run-1", "run-6", "run-7", "run-8"]
    assert not state.run("run-2").exists()


def test_only_runs_of_the_same_fingerprint_are_remembered(campaign, store, reading):
    from autotune.model.launch import LaunchRecord, Outcome, Purpose

    launch = LaunchRecord(
        number=1,
        purpose=Purpose.INCUMBENT,
        settings=Settings(max_batch_size=200),
        outcome=Outcome.ENDED,
        levels=(reading(1000.0),),
    )
    for number, version in ((1, "3.0"), (2, "3.1"), (3, "3.0")):
        save(store, replace(ended(campaign, number, version=version), launches=(launch,)))
    now = replace(campaign, description=replace(campaign.description, version="3.0"))
    assert [run.run for run in earlier(store, now, most=10)] == ["run-1", "run-3"]
    assert [run.run for run in earlier(store, now, most=1)] == ["run-3"]
