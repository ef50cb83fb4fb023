import itertools
import shutil
import sqlite3
import stat
from contextlib import closing
from dataclasses import replace

import optuna
import pytest
from hypothesis import HealthCheck, given, settings
from optuna.trial import TrialState

from autotune.errors import LaunchCause, Refused, UsageError
from autotune.model.bracket import Bracket
from autotune.model.campaign import Campaign, Decision, Verdict
from autotune.model.launch import LaunchRecord, Outcome, Purpose
from autotune.model.measurement import Invalid, InvalidReason, Measurement
from autotune.model.move import VerdictCode
from autotune.model.service import Description
from autotune.model.settings import Settings
from autotune.store.codec import Unreadable
from autotune.store.storage import StorageFailed
from autotune.store.study import CampaignStore, save

from .model_values import CAMPAIGN

INCUMBENT = Settings(max_batch_size=435, max_prefill_batch_size=217)
NEXT = Settings(max_batch_size=500, max_prefill_batch_size=250, support_select_batch=True)
CAMPAIGN_435 = Campaign(
    run="llama3-8b-1",
    profile_name="llama3-8b",
    profile_text="name: llama3-8b\n",
    description=Description(
        kind="mindie",
        version="2.2",
        place="/opt",
        model_name="llama3-8b",
        incumbent=INCUMBENT,
        block_size=128,
    ),
    bracket=Bracket(low=362, start=435, high=1088, start_prefill=217, blocks=2176, source="log"),
    strategy="guide",
    started_wall=1_796_000_000.5,
)


def level(tokens_per_second, concurrency=1000):
    """A level as the vendor's guide reads it at 1000 clients."""
    return Measurement(
        concurrency=concurrency,
        tokens_per_second=tokens_per_second,
        half_width=0.01,
        whole_run_tokens_per_second=tokens_per_second * 0.9,
        seconds=120.0,
        requests=2000,
        completed=2000,
    )


FIRST = LaunchRecord(
    number=1,
    purpose=Purpose.INCUMBENT,
    settings=INCUMBENT,
    outcome=Outcome.ENDED,
    blocks=2176,
    levels=(level(2845.3),),
)
SECOND = LaunchRecord(
    number=2, purpose=Purpose.CANDIDATE, settings=NEXT, outcome=Outcome.ENDED, levels=(level(2980.3),)
)


@pytest.fixture(scope="module")
def empty_database(tmp_path_factory):
    """A database whose tables are made: making them anew for every test would take most of the time."""
    path = tmp_path_factory.mktemp("empty") / "campaigns.db"
    CampaignStore(f"sqlite:///{path}").close()
    return path


@pytest.fixture
def url(tmp_path, empty_database):
    path = shutil.copy(empty_database, tmp_path / "campaigns.db")
    return f"sqlite:///{path}"


@pytest.fixture
def store(url):
    with CampaignStore(url) as opened:
        yield opened


def put(store, record):
    store.launch_started(replace(record, levels=(), outcome=Outcome.PENDING, blocks=None))
    for ended in record.levels:
        store.level_ended(record.number, ended)
    store.launch_ended(record)


def trials_of(url, run="llama3-8b-1"):
    study = optuna.load_study(study_name=run, storage=url)
    found = study.get_trials()
    study._storage._backend.remove_session()
    study._storage._backend.engine.dispose()
    return found


@pytest.mark.slow
def test_a_stored_campaign_loads_exactly_equal(url):
    names = itertools.count()

    @settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(campaign=CAMPAIGN)
    def law(campaign):
        named = replace(campaign, run=f"{campaign.run}-{next(names)}")
        with CampaignStore(url) as store:
            save(store, named)
        with CampaignStore(url) as store:
            assert store.load(named.run) == named

    law()


def test_what_is_written_step_by_step_is_read_by_another_process_at_once(url, store):
    store.begin(CAMPAIGN_435)
    put(store, FIRST)
    moved = Decision(
        after_launches=1,
        after_levels=1,
        kind="launch",
        settings=NEXT,
        concurrency=None,
        reason="next hundred",
    )
    store.decided(moved)
    with CampaignStore(url) as reader:
        assert reader.load("llama3-8b-1") == replace(CAMPAIGN_435, launches=(FIRST,), decisions=(moved,))


def test_each_launch_is_a_trial_with_its_knobs_and_tokens_a_second(url, store):
    store.begin(CAMPAIGN_435)
    put(store, FIRST)
    put(store, SECOND)
    first, second = trials_of(url)
    assert first.params == {"max_batch_size": 435, "max_prefill_batch_size": 217}
    assert second.params["support_select_batch"] is True
    assert [trial.state for trial in (first, second)] == [TrialState.COMPLETE] * 2
    assert [trial.value for trial in (first, second)] == [2845.3, 2980.3]
    assert first.user_attrs["purpose"] == "incumbent"


def test_a_failed_start_is_complete_with_a_penalty_and_infeasible(url, store):
    failed = replace(
        SECOND, outcome=Outcome.FAILED, cause=LaunchCause.MEMORY, levels=(), detail="NPU out of memory"
    )
    store.begin(CAMPAIGN_435)
    put(store, failed)
    (trial,) = trials_of(url)
    assert (trial.state, trial.value) == (TrialState.COMPLETE, 0.0)
    assert trial.constraints == {"failed_start": 1.0}
    assert store.load("llama3-8b-1").launches == (failed,)


def test_a_sweep_is_pruned_and_shows_its_levels(url, store):
    sweep = replace(FIRST, purpose=Purpose.SCOUT, levels=(level(1500.0, 200), level(2400.0, 400)))
    store.begin(CAMPAIGN_435)
    put(store, sweep)
    (trial,) = trials_of(url)
    assert trial.state is TrialState.PRUNED
    assert trial.intermediate_values == {0: 1500.0, 1: 2400.0}
    assert store.load("llama3-8b-1").launches == (sweep,)


def test_a_launch_without_a_valid_level_gives_no_number(url, store):
    invalid = Invalid(concurrency=1000, reason=InvalidReason.STALLED, detail="no token for 60 s")
    store.begin(CAMPAIGN_435)
    put(store, replace(FIRST, levels=(invalid,)))
    (trial,) = trials_of(url)
    assert (trial.state, trial.value) == (TrialState.FAIL, None)
    assert store.load("llama3-8b-1").launches == (replace(FIRST, levels=(invalid,)),)


def test_a_crash_leaves_the_trial_running_and_resume_closes_it(url, store):
    store.begin(CAMPAIGN_435)
    put(store, FIRST)
    store.launch_started(replace(SECOND, levels=(), outcome=Outcome.PENDING))
    store.level_ended(2, level(2990.0))
    assert [trial.state for trial in trials_of(url)] == [TrialState.COMPLETE, TrialState.RUNNING]
    with CampaignStore(url) as again:
        resumed = again.resume("llama3-8b-1")
        assert resumed == replace(CAMPAIGN_435, launches=(FIRST,))
        closed = trials_of(url)[1]
        assert (closed.state, closed.user_attrs["ended_by"]) == (TrialState.FAIL, "interrupted")
        put(again, SECOND)
        assert again.load("llama3-8b-1").launches == (FIRST, SECOND)


def test_resume_leaves_the_launch_of_another_host_alone(url, store):
    store.begin(CAMPAIGN_435)
    store.launch_started(replace(SECOND, levels=(), outcome=Outcome.PENDING, host="b"))
    with CampaignStore(url) as again:
        again.resume("llama3-8b-1", host="a")
        assert trials_of(url)[0].state is TrialState.RUNNING
        again.resume("llama3-8b-1", host="b")
        assert trials_of(url)[0].state is TrialState.FAIL


def test_a_crash_between_the_last_fact_and_tell_loses_nothing(url, store, monkeypatch):
    store.begin(CAMPAIGN_435)
    with monkeypatch.context() as patch:
        patch.setattr("autotune.store.trials.tell", lambda *_: None)
        put(store, FIRST)
    assert trials_of(url)[0].state is TrialState.RUNNING
    with CampaignStore(url) as again:
        assert again.resume("llama3-8b-1").launches == (FIRST,)
    assert trials_of(url)[0].value == 2845.3


def test_decisions_go_on_after_a_resume(url, store):
    one = Decision(
        after_launches=0, after_levels=0, kind="launch", settings=NEXT, concurrency=None, reason="one"
    )
    store.begin(CAMPAIGN_435)
    store.decided(one)
    with CampaignStore(url) as again:
        again.resume("llama3-8b-1")
        again.decided(replace(one, reason="two"))
        assert [decision.reason for decision in again.load("llama3-8b-1").decisions] == ["one", "two"]


def test_the_list_of_runs_shows_verdicts_oldest_first(store):
    verdict = Verdict(code=VerdictCode.IMPROVED, reason="throughput dropped", gain=0.047)
    later = replace(CAMPAIGN_435, run="later", started_wall=CAMPAIGN_435.started_wall + 1)
    store.begin(later)
    store.begin(CAMPAIGN_435)
    put(store, FIRST)
    store.ended(replace(CAMPAIGN_435, verdict=verdict, restored=True, ended_wall=1_796_000_100.0))
    first, second = store.runs()
    assert (first.run, first.verdict, first.restored, first.launches) == ("llama3-8b-1", verdict, True, 1)
    assert (second.run, second.verdict, second.launches) == ("later", None, 0)


def test_a_later_fact_is_marked_on_a_stored_run(store):
    store.begin(CAMPAIGN_435)
    store.mark(replace(CAMPAIGN_435, applied=True))
    assert store.load("llama3-8b-1").applied


def test_a_name_is_used_once(store):
    store.begin(CAMPAIGN_435)
    with pytest.raises(UsageError, match="stored already") as caught:
        store.begin(CAMPAIGN_435)
    assert "--resume llama3-8b-1" in caught.value.hint


def test_an_unknown_run_is_answered_with_the_nearest_name(store):
    store.begin(CAMPAIGN_435)
    with pytest.raises(UsageError, match="no stored run llama3-8b-2") as caught:
        store.load("llama3-8b-2")
    assert caught.value.hint == "did you mean llama3-8b-1?"


def test_studies_of_other_programs_are_passed_over(store):
    optuna.create_study(study_name="theirs", storage=store._storage)
    assert store.runs() == ()
    with pytest.raises(Unreadable, match="theirs"):
        store.load("theirs")


def test_the_database_is_private(tmp_path):
    CampaignStore(f"sqlite:///{tmp_path / 'campaigns.db'}").close()
    assert stat.S_IMODE((tmp_path / "campaigns.db").stat().st_mode) == 0o600


def test_optuna_says_nothing(store, capfd):
    store.begin(CAMPAIGN_435)
    put(store, FIRST)
    put(store, replace(SECOND, outcome=Outcome.FAILED, levels=()))
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("url", ["nonsense", "postgresql+nothing://host/db"])
def test_a_url_that_cannot_be_used_is_a_usage_error(url):
    with pytest.raises(UsageError):
        CampaignStore(url)


def test_a_file_that_is_no_database_is_refused(tmp_path):
    (tmp_path / "text.db").write_text("not a database, but long enough to be taken for one" * 100)
    with pytest.raises(Refused, match="cannot open the database"):
        CampaignStore(f"sqlite:///{tmp_path / 'text.db'}")


def test_another_enqueued_trial_is_not_run_in_our_place(url, store):
    store.begin(CAMPAIGN_435)
    store._study.enqueue_trial({"max_batch_size": 7, "max_prefill_batch_size": 3})
    put(store, FIRST)
    foreign, ours = trials_of(url)
    assert foreign.state is TrialState.FAIL
    assert ours.params["max_batch_size"] == 435


def test_the_file_is_plain_sqlite(tmp_path, store):
    store.begin(CAMPAIGN_435)
    connection = sqlite3.connect(tmp_path / "campaigns.db")
    names = connection.execute("select study_name from studies").fetchall()
    connection.close()
    assert names == [("llama3-8b-1",)]


def test_a_deleted_run_is_gone(store):
    store.begin(CAMPAIGN_435)
    store.delete("llama3-8b-1")
    assert store.runs() == ()
    with pytest.raises(UsageError, match="no stored run"):
        store.delete("llama3-8b-1")


def test_a_database_that_breaks_is_one_clear_error(tmp_path, store):
    store.begin(CAMPAIGN_435)
    with closing(sqlite3.connect(tmp_path / "campaigns.db")) as connection:
        connection.execute("drop table trials")
    with pytest.raises(StorageFailed, match="no such table") as caught:
        store.launch_started(FIRST)
    assert "store.url" in caught.value.hint
