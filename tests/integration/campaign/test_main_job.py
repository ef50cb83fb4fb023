"""The main job on the emulated daemon, through the command line, with real processes and real load."""

import json
import re
import signal
import stat

import jsonschema
import pytest

from autotune.campaign.lengths import lengths_of
from autotune.campaign.replay import replay
from autotune.campaign.space import options_of, space_of
from autotune.profile.reading import read_profile
from autotune.report.document import schema
from autotune.search.strategy import make_strategy
from autotune.store.state import StateDirectory
from autotune.store.study import CampaignStore

pytestmark = pytest.mark.slow
SHARED = pytest.mark.xdist_group("the tuned install")
"""One worker runs what looks at the shared campaign."""
FILES = (
    "report.html",
    "report.md",
    "report.json",
    "launches.csv",
    "curve.png",
    "curve.svg",
    "config.diff",
    "reproduce.md",
)


def campaign_of(job, number: int = -1):
    with CampaignStore(StateDirectory(root=job.state).database_url) as store:
        return store.load(store.runs()[number].run)


@SHARED
def test_one_command_tunes_reports_and_leaves_everything_as_it_was(tuned):
    assert tuned.done.returncode == 0, tuned.done.stderr
    assert tuned.done.stdout.splitlines()[0].startswith("Emulated service: maxBatchSize ")
    _is_whole(tuned.job)
    assert tuned.after == tuned.before
    tuned.job.nothing_left(tuned.after)


def _untouched(path):
    """What a write would change; reading a file may move its access time."""
    seen = path.stat()
    return seen.st_ino, seen.st_mode, seen.st_uid, seen.st_gid, seen.st_mtime_ns, seen.st_ctime_ns


def test_a_private_run_never_touches_the_configuration_and_its_json_is_what_the_schema_allows(make_job):
    job = make_job(mode="private")
    before = _untouched(job.config)
    done = job.tune("--output", str(job.reports), "--max-launches", "3", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    jsonschema.validate(document, schema())
    assert document["emulated"] is True
    assert document["restored"] is True
    assert [launch["number"] for launch in document["launches"]] == [1, 2, 3]
    _is_whole(job)
    assert _untouched(job.config) == before


def _is_whole(job):
    assert {path.name for path in job.reports.iterdir()} >= set(FILES)
    campaign = campaign_of(job)
    assert campaign.restored
    assert campaign.description.emulated
    assert all(launch.blocks == 23 for launch in campaign.launches if launch.levels)


@SHARED
def test_nobody_else_can_read_the_state_or_write_anything_even_under_an_open_umask(tuned):
    daemons_own = re.compile(r"state/runs/[^/]+/launch-\d+/log/")
    for path, mode in tuned.modes.items():
        if daemons_own.match(path):
            continue  # the daemon writes its logs as it likes; nobody else can come there
        assert not mode & 0o022, (path, oct(mode))
        private = path.startswith("state") and "/cwd" not in path and not path.endswith("/log")
        allowed = 0o700 if private else 0o755 if path == "made" else 0o750
        assert not stat.S_IMODE(mode) & ~allowed, (path, oct(mode))
    assert stat.S_IMODE(tuned.modes["state"]) == 0o700
    assert stat.S_IMODE(tuned.modes["state/campaigns.db"]) == 0o600
    assert stat.S_IMODE(tuned.modes["made/reports/report.html"]) == 0o640


@SHARED
def test_a_stored_campaign_replays_to_the_same_decisions(tuned):
    campaign = campaign_of(tuned.job)
    profile = read_profile(tuned.job.profile).profile
    space = space_of(profile, campaign.description, lengths_of(profile.workload), blocks=None)
    strategy = make_strategy("guide", space, options_of(profile, max_launches=7))
    assert len(campaign.decisions) > 4
    assert replay(campaign, strategy, max_launches=7) == ()


def test_an_interrupt_under_load_restores_and_the_run_resumes_without_repeating_a_launch(make_job):
    job = make_job()
    before = job.fingerprint()
    process = job.begin()
    job.wait_for(lambda: _second_launch_runs(job))
    _ends_and_restores(job, process, signal.SIGINT, before)
    finished = campaign_of(job).launches
    assert finished
    resumed = job.tune("--resume", "--max-launches", "3")
    assert resumed.returncode == 0, resumed.stderr
    after = campaign_of(job)
    assert after.launches[: len(finished)] == finished
    assert len(after.launches) > len(finished)
    assert len({launch.number for launch in after.launches}) == len(after.launches)
    job.nothing_left(before)


def test_a_killed_run_is_refused_then_recovered_and_resumed(make_job):
    job = make_job()
    before = job.fingerprint()
    process = job.begin()
    job.wait_for(lambda: bool(job.daemons()) and job.fingerprint() != before)
    process.kill()
    process.communicate()
    refused = job.tune()
    assert refused.returncode == 1
    assert "autotune recover" in refused.stderr
    recovered = job.run("recover", "--state", str(job.state))
    assert recovered.returncode == 0, recovered.stderr
    job.nothing_left(before)
    assert job.run("recover", "--state", str(job.state)).stdout == "nothing to recover\n"
    finished = len(campaign_of(job).launches)
    assert job.tune("--resume", "--max-launches", str(finished + 1)).returncode == 0
    assert len(campaign_of(job).launches) == finished + 1


def test_a_second_run_is_turned_away_and_changes_nothing_and_sigterm_ends_the_first_one_well(make_job):
    job = make_job()
    before = job.fingerprint()
    process = job.begin()
    job.wait_for(lambda: bool(job.daemons()))
    second = job.tune("--set", f"store.state={job.directory / 'other'}")
    assert second.returncode == 75, second.stderr
    job.wait_for(lambda: _second_launch_runs(job))
    _ends_and_restores(job, process, signal.SIGTERM, before)


def _ends_and_restores(job, process, number, before):
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "interrupted" in out.lower()
    job.nothing_left(before)


def test_apply_and_rollback_touch_only_the_named_values_and_the_host_settings_that_stay_with_them(make_job):
    job = make_job(max_batch_size=4)  # the gain is large enough for a busy machine
    governor = job.directory / "host/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
    governor.parent.mkdir(parents=True)
    governor.write_text("schedutil\n")
    job.driver = ("-m", "tests.torture.tuner", str(job.directory / "host"), str(job.directory / "clock"))
    before = job.fingerprint()
    text = job.config.read_text()
    done = job.tune("--apply", "--set", "host.governor=performance", "--set", "host.keep=true", timeout=220)
    assert done.returncode == 0, done.stderr
    campaign = campaign_of(job)
    if not campaign.applied:
        pytest.fail(f"no winner to apply: {done.stdout}")
    _only_the_named_values_differ(text, job.config.read_text())
    assert governor.read_text().strip() == "performance"
    assert "these host settings stay until the next boot" in done.stderr
    assert job.run("rollback", "--state", str(job.state)).returncode == 0
    assert job.fingerprint() == before
    assert governor.read_text().strip() == "schedutil"
    assert job.run("apply", campaign.run, "--state", str(job.state)).returncode == 0
    job.config.write_text(job.config.read_text().replace('"maxIterTimes" : 512', '"maxIterTimes" : 500'))
    hand_edited = job.config.read_text()
    assert job.run("rollback", "--state", str(job.state)).returncode == 4
    assert job.config.read_text() == hand_edited


TUNED = {
    "maxBatchSize",
    "maxPrefillBatchSize",
    "maxPrefillTokens",
    "supportSelectBatch",
    "prefillTimeMsPerReq",
    "decodeTimeMsPerReq",
}


def _only_the_named_values_differ(before, after):
    lines = zip(before.splitlines(), after.splitlines(), strict=True)
    changed = {old.split('"')[1] for old, new in lines if old != new}
    assert "maxBatchSize" in changed
    assert changed <= TUNED


def _second_launch_runs(job) -> bool:
    return any(job.state.glob("runs/*/launch-002/output.log")) and bool(job.daemons())
