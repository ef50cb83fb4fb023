"""What was measured is there twice: a database that was cut or locked loses no launch that had ended."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings

from autotune.store.run_log import RunLog, read_log
from autotune.store.state import StateDirectory
from autotune.store.study import CampaignStore, recollect, save

from .model_values import CAMPAIGN


def written(log: RunLog, campaign) -> None:
    log.campaign(campaign)
    for decision in campaign.decisions:
        log.decision(decision)
    for record in campaign.launches:
        log.launch(record)


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(campaign=CAMPAIGN)
def test_what_was_written_is_read_back(tmp_path_factory, campaign):
    log = RunLog(path=tmp_path_factory.mktemp("log") / "campaign.jsonl")
    written(log, campaign)
    assert read_log(log.path) == campaign
    assert log.path.stat().st_mode & 0o777 == 0o600


def an_example() -> object:
    found = []

    @settings(max_examples=200, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(campaign=CAMPAIGN)
    def look(campaign) -> None:
        if len(campaign.launches) == 3 and len({launch.number for launch in campaign.launches}) == 3:
            found.append(replace(campaign, run="r", verdict=None))

    look()
    return found[0]


@pytest.fixture(scope="module")
def campaign():
    return an_example()


def test_a_line_that_a_crash_cut_is_left_out_and_the_next_one_is_read(tmp_path, campaign):
    log = RunLog(path=tmp_path / "campaign.jsonl")
    written(log, replace(campaign, launches=campaign.launches[:2]))
    cut = log.path.read_bytes()[:-40]
    log.path.write_bytes(cut)
    log.launch(campaign.launches[2])
    assert read_log(log.path).launches == (campaign.launches[0], campaign.launches[2])


def test_no_log_tells_of_no_campaign(tmp_path):
    assert read_log(tmp_path / "campaign.jsonl") is None
    (tmp_path / "campaign.jsonl").write_text("\n{not json\n[1]\n")
    assert read_log(tmp_path / "campaign.jsonl") is None


def test_a_log_that_cannot_be_written_does_not_end_a_campaign(tmp_path, campaign):
    RunLog(path=tmp_path / "gone" / "campaign.jsonl").campaign(campaign)


@pytest.mark.parametrize("stored", [None, 0, 1, 2, 3])
def test_the_database_gets_what_it_lacks(tmp_path, campaign, stored):
    """None is a database that was lost as a whole."""
    state = StateDirectory(root=tmp_path)
    with CampaignStore(state.database_url) as store:
        if stored is not None:
            save(store, replace(campaign, launches=campaign.launches[:stored]))
        assert recollect(store, campaign) == 3 - (stored or 0)
        assert store.load("r").launches == campaign.launches
        assert recollect(store, campaign) == 0
