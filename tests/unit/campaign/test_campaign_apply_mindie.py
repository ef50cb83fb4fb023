"""A winner in config.json: only the named values differ, and a value put in by hand stays."""

import json
from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import pytest

from autotune.campaign.apply import apply, rollback
from autotune.campaign.ending import Ending
from autotune.campaign.proven import AFTERWARDS, KEPT, PUT_BACK
from autotune.campaign.reconfirmation import NAME as RECONFIRMED
from autotune.campaign.session import Session
from autotune.campaign.sides.side import PreparedHost
from autotune.campaign.winner_text import CONFIG_SHA256
from autotune.emulator.install import make_install
from autotune.engines.mindie.config_file import read
from autotune.engines.mindie.config_text import settings_of
from autotune.errors import NotRestored, Refused
from autotune.events import Event
from autotune.model.bracket import Bracket
from autotune.model.campaign import Campaign, Reading, Verdict
from autotune.model.change import SysfsWritten
from autotune.model.move import VerdictCode
from autotune.model.service import Description, Fact
from autotune.store.state import StateDirectory


@pytest.fixture
def state(tmp_path) -> StateDirectory:
    (tmp_path / "state").mkdir(mode=0o700)
    return StateDirectory(root=tmp_path / "state")


@pytest.fixture
def config(tmp_path):
    return make_install(tmp_path / "install") / "conf" / "config.json"


@pytest.fixture
def run(campaign, config) -> Campaign:
    found = read(config)
    incumbent = settings_of(found.config)
    description = Description(
        kind="mindie",
        version="3.0",
        place=str(config.parent.parent),
        model_name="llama3-8b",
        incumbent=incumbent,
        block_size=128,
        config_path=str(config),
    )
    best = replace(incumbent, max_batch_size=435, max_prefill_batch_size=217)
    reading = Reading(settings=best, tokens_per_second=1.0, half_width=0.01, launches=2)
    verdict = Verdict(code=VerdictCode.IMPROVED, reason="", best=reading)
    digest = (Fact(name=CONFIG_SHA256, value=found.sha256),)
    return replace(campaign, description=description, verdict=verdict, environment=digest)


def facts(path):
    status = path.stat()
    return path.read_bytes(), status.st_mode, status.st_uid, status.st_gid


def test_apply_rollback_apply_is_a_round_trip_in_which_only_the_named_values_differ(run, state, config):
    before = facts(config)
    for _ in range(2):
        apply(run, state)
        old, new = before[0].decode().splitlines(), config.read_text().splitlines()
        changed = [line.split('"')[1] for line, other in zip(old, new, strict=True) if line != other]
        assert changed == ["maxPrefillBatchSize", "maxBatchSize"]
        assert facts(config)[1:] == before[1:]
        rollback(state)
        assert facts(config) == before


def test_a_value_put_in_by_hand_in_between_is_overwritten_by_neither(run, state, config):
    apply(run, state)
    config.write_text(config.read_text().replace('"maxBatchSize" : 435', '"maxBatchSize" : 77'))
    by_hand = facts(config)
    for act in (lambda: rollback(state), lambda: apply(run, state)):
        with pytest.raises(NotRestored) as caught:
            act()
        assert caught.value.exit_code == 4
        assert facts(config) == by_hand


def test_the_services_own_rewriting_of_its_log_settings_is_no_edit(run, state, config):
    before = facts(config)
    apply(run, state)
    document = json.loads(config.read_text())
    assert "LogConfig" in document
    document["LogConfig"]["logLevel"] = "Debug"
    config.write_text(json.dumps(document, indent=4))
    rollback(state)
    assert facts(config) == before


def test_a_winner_is_held_against_the_bounds_of_the_chip_it_is_for(run, state, config):
    """300I Duo: at most 2000 (MindIE service parameter documentation)."""
    best = replace(run.verdict.best, settings=replace(run.verdict.best.settings, max_batch_size=2400))
    winner = replace(run, verdict=replace(run.verdict, best=best))
    duo = replace(run.description, facts=(Fact(name="chip", value="310P3"),))
    before = facts(config)
    with pytest.raises(Refused, match=r"maxBatchSize \[2400\] is out of bound \[2000\]"):
        apply(replace(winner, description=duo), state)
    assert facts(config) == before
    assert apply(winner, state)


def test_another_edit_beside_the_tuned_values_is_told(run, state, config):
    config.write_text(config.read_text().replace('"maxIterTimes" : 512', '"maxIterTimes" : 500'))
    assert any("beside the tuned values" in line for line in apply(run, state))
    assert '"maxIterTimes" : 500' in config.read_text()


CHANGED = SysfsWritten(
    path="/no/such/governor", before="schedutil", after="performance", boot_id="another boot"
)
SETTINGS = (Fact(name="governor", value="schedutil -> performance, applied on CPUs 0-3"),)


@dataclass
class Recorder:
    """Store, engine and host of a campaign that is at its end."""

    stored: list[Campaign] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    was_kept: bool = False

    def ended(self, campaign: Campaign) -> None:
        self.stored.append(campaign)

    def preview(self, settings) -> str:
        return "diff"

    def keep(self) -> tuple[SysfsWritten, ...]:
        self.was_kept = True
        return (CHANGED,)


def at_its_end(run, state, recorder: Recorder, *, keep: bool) -> tuple[Session, Ending, PreparedHost]:
    bracket = Bracket(low=1, start=2, high=3, blocks=24, start_prefill=1, source="log")
    session = Session(
        profile=SimpleNamespace(host=SimpleNamespace(keep=keep), objective=SimpleNamespace(limits=())),
        campaign=run,
        plan=None,
        space=None,
        bounds=None,
        side=SimpleNamespace(engine=recorder),
        store=recorder,
        state=state,
        resumed=False,
        apply=True,
    )
    ending = Ending(campaign=replace(run, bracket=bracket), exit_code=0)
    return session, ending, PreparedHost(facts=SETTINGS, changes=(CHANGED,), keep=recorder.keep)


def finished(run, state, recorder: Recorder, *, keep: bool) -> Ending:
    session, ending, host = at_its_end(run, state, recorder, keep=keep)
    return session._finished(ending, host, recorder.events.append)


def test_host_settings_stay_with_an_applied_winner_where_the_profile_says_so(run, state):
    recorder = Recorder()
    ending = finished(run, state, recorder, keep=True)
    assert ending.campaign.applied
    assert recorder.was_kept
    assert Fact(name=AFTERWARDS, value=KEPT) in ending.campaign.environment
    assert recorder.stored[-1].verdict is not None  # before anything is applied
    assert not recorder.stored[-1].applied
    assert len(rollback(state)) == 2


@dataclass
class Proof:
    """Stands in for the launches on the host as production has it."""

    outcome: Fact | Refused

    def run(self, found, winner) -> Fact:
        assert found.max_batch_size == 200
        assert winner.max_batch_size == 435
        if isinstance(self.outcome, Refused):
            raise self.outcome
        return self.outcome


PROVEN = Fact(name=RECONFIRMED, value="+4 %")


@pytest.mark.parametrize("outcome", [PROVEN, Refused("it reads +0.2%", hint="host.keep: true")])
def test_without_them_a_winner_is_applied_only_when_it_is_proven_once_more(
    run, state, config, monkeypatch, outcome
):
    monkeypatch.setattr(Session, "_reconfirmation", lambda *_, **__: Proof(outcome))
    recorder, before = Recorder(), config.read_bytes()
    session, ending, host = at_its_end(run, state, recorder, keep=False)
    ending = session._finished(ending, host, recorder.events.append)
    assert not ending.campaign.applied  # the host settings of the trials are still there
    ending = session._applied_elsewhere(ending, host, recorder.events.append, began=0.0)
    told = {fact.name: fact.value for fact in ending.campaign.environment}
    assert told[AFTERWARDS] == PUT_BACK
    assert told[RECONFIRMED] in {"+4 %", "it reads +0.2%"}
    holds = outcome is PROVEN
    assert (ending.campaign.applied, ending.exit_code) == (holds, 0 if holds else 1)
    assert (config.read_bytes() == before) is not holds
    assert not recorder.was_kept


def test_a_campaign_that_changed_no_host_setting_applies_its_winner_at_once(run, state):
    recorder = Recorder()
    session, ending, host = at_its_end(run, state, recorder, keep=False)
    ending = session._finished(ending, replace(host, facts=()), recorder.events.append)
    assert ending.campaign.applied


def test_a_winner_that_cannot_be_applied_takes_nothing_from_the_campaign(run, state, config):
    config.write_text(config.read_text().replace('"maxBatchSize" : 200', '"maxBatchSize" : 77'))
    recorder = Recorder()
    ending = finished(run, state, recorder, keep=True)
    assert (ending.exit_code, ending.campaign.applied, recorder.was_kept) == (4, False, False)
    assert ending.campaign.verdict == run.verdict
    assert Fact(name=AFTERWARDS, value=PUT_BACK) in ending.campaign.environment
    assert any("was not applied" in event.message for event in recorder.events)
