"""The study that hosts share, here on SQLite: one machine's lock is missing, so the check must do."""

from dataclasses import replace

import pytest

from autotune.errors import UsageError
from autotune.model.launch import LaunchRecord, Outcome, Purpose
from autotune.model.settings import Settings
from autotune.store.lease import Agent, Lease, is_over
from autotune.store.shared_study import LeaseLost, SharedStudy
from autotune.store.study import CampaignStore

from .test_store_study import CAMPAIGN_435, level

ADA = Agent(host="ada", pid=100, boot_id="boot-1")
BOB = Agent(host="bob", pid=200, boot_id="boot-2")
CANDIDATE = LaunchRecord(number=0, purpose=Purpose.CANDIDATE, settings=Settings(max_batch_size=500))


@pytest.fixture
def join(tmp_path):
    made = []

    def make(agent, seconds=60.0):
        study = SharedStudy(f"sqlite:///{tmp_path / 'fleet.db'}", "shared", agent, seconds=seconds)
        made.append(study)
        study.open(replace(CAMPAIGN_435, run="shared"))
        return study

    yield make
    for study in made:
        study.close()


def test_a_claim_is_numbered_seen_by_all_and_ends_as_it_was_measured(join, tmp_path):
    ada, bob = join(ADA), join(BOB)
    claimed = ada.claim(CANDIDATE)
    assert (claimed.number, claimed.host) == (1, "ada")
    assert bob.launches() == (claimed,)
    ended = replace(claimed, outcome=Outcome.ENDED, levels=(level(2980.3),))
    ada.launch_ended(ended)
    ada.launch_ended(ended)  # the answer of the first call may have been lost
    assert bob.launches() == (ended,)
    with CampaignStore(f"sqlite:///{tmp_path / 'fleet.db'}") as store:
        assert store.load("shared").launches == (ended,)


def test_a_setting_that_runs_elsewhere_cannot_be_claimed_and_leaves_no_trace(join):
    ada, bob = join(ADA), join(BOB)
    ada.claim(CANDIDATE)
    assert bob.claim(CANDIDATE) is None
    assert [launch.host for launch in bob.launches()] == ["ada"]


def test_the_incumbent_may_be_measured_on_every_host(join):
    incumbent = replace(CANDIDATE, purpose=Purpose.INCUMBENT)
    assert join(ADA).claim(incumbent) is not None
    assert join(BOB).claim(incumbent) is not None


def test_a_silent_agent_gives_its_launch_back_and_cannot_tell_it_any_more(join):
    ada, bob = join(ADA, seconds=-1.0), join(BOB)
    claimed = ada.claim(CANDIDATE)
    assert bob.give_back(lambda _: True) == (claimed,)
    assert bob.launches() == ()
    again = bob.claim(CANDIDATE)
    assert again.number == 2
    with pytest.raises(LeaseLost):
        ada.launch_ended(replace(claimed, outcome=Outcome.ENDED, levels=(level(2980.3),)))
    with pytest.raises(LeaseLost):
        ada.renew(claimed.number)
    assert bob.launches() == (again,)


def test_a_renewed_lease_is_kept(join):
    ada, bob = join(ADA), join(BOB)
    claimed = ada.claim(CANDIDATE)
    ada.renew(claimed.number)
    assert bob.give_back(lambda _: False) == ()


def test_an_abandoned_launch_is_free_at_once_and_an_ended_one_is_not(join):
    ada, bob = join(ADA), join(BOB)
    first = ada.claim(CANDIDATE)
    ada.abandon(first.number)
    second = bob.claim(CANDIDATE)
    bob.launch_ended(replace(second, outcome=Outcome.ENDED, levels=(level(2980.3),)))
    bob.abandon(second.number)
    assert [launch.number for launch in ada.launches()] == [2]


def test_a_claim_whose_answer_was_lost_is_found_again(join):
    claimed = join(ADA).claim(CANDIDATE)
    assert join(ADA).held() == claimed
    assert join(BOB).held() is None


def test_another_service_cannot_join(join, tmp_path):
    join(ADA)
    other = replace(CAMPAIGN_435, description=replace(CAMPAIGN_435.description, version="3.0"))
    study = SharedStudy(f"sqlite:///{tmp_path / 'fleet.db'}", "shared", BOB)
    with pytest.raises(UsageError, match=r"version is 2\.2 there and 3\.0 here"):
        study.open(other)
    study.close()


@pytest.mark.parametrize(
    ("lease", "lives", "over"),
    [
        (None, True, True),
        (Lease(agent=BOB, claim="c", until=99.0), True, True),
        (Lease(agent=BOB, claim="c", until=101.0), False, False),
        (Lease(agent=ADA, claim="c", until=101.0), True, False),
        (Lease(agent=ADA, claim="c", until=101.0), False, True),
        (Lease(agent=replace(ADA, boot_id="boot-0"), claim="c", until=101.0), True, True),
    ],
    ids=[
        "never written",
        "time is up",
        "another host's pid says nothing",
        "ours",
        "ours is dead",
        "rebooted",
    ],
)
def test_a_lease_is_over_when_its_time_is_up_or_its_process_is_known_to_be_gone(lease, lives, over):
    assert is_over(lease, now=100.0, here=ADA, lives=lives) is over
