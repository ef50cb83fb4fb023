"""A winner of trials with other host settings is proven without them before it is applied, or stays out."""

from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import SimpleNamespace

import pytest

from autotune.campaign.interruption import InterruptibleClock
from autotune.campaign.parts import Bounds
from autotune.campaign.reconfirmation import PAIRS, Reconfirmation
from autotune.campaign.session import Session
from autotune.campaign.sides.side import HostSide, PreparedHost
from autotune.emulator.install import make_install
from autotune.engines.mindie.config_file import read
from autotune.engines.mindie.config_text import settings_of
from autotune.errors import Interrupted, LaunchCause, NotMeasurable, Refused
from autotune.model.launch import Purpose
from autotune.model.move import Finish, Launch, Measure, Move, VerdictCode
from autotune.model.protocols import LevelRequest
from autotune.model.service import Fact
from autotune.model.settings import Settings
from autotune.profile.reading import parse_profile
from autotune.store.state import StateDirectory

FOUND = Settings(max_batch_size=200, max_prefill_batch_size=100)
WINNER = Settings(max_batch_size=400, max_prefill_batch_size=200)
PROFILE = """
name: p
engine: {home: /opt}
workload: {dataset: {type: synthetic, input_tokens: 186, output_tokens: 346}}
"""
REQUEST = LevelRequest(concurrency=100, half_width=0.01, cap_seconds=600.0)


def proof(host, clock, events, *, seconds=1e9, **side):
    return Reconfirmation(
        side=HostSide(**{"engine": host, "source": host, "clock": InterruptibleClock(clock)} | side),
        request=REQUEST,
        listener=events.append,
        seconds_left=lambda: seconds - clock.now(),
        least_gain=0.01,
        launch_seconds=300.0,
    )


def test_a_clear_gain_needs_one_launch_of_each(host, clock, events):
    fact = proof(host, clock, events).run(FOUND, WINNER)
    assert fact.value.startswith("without the host settings of the trials: +16.7% over what was found")
    assert [line for line in host.log if line.startswith("start")] == ["start 200", "start 400"]
    assert "2 to 4 launches" in events[0].message
    assert host.admitted == [200, 400]


def test_a_gain_that_is_not_there_without_the_settings_is_refused_after_the_last_pair(host, clock, events):
    host.speed = lambda settings: 1000.0 + 0.01 * settings.max_batch_size
    with pytest.raises(Refused, match=r"it reads \+0\.2% over what was found, -\d") as refused:
        proof(host, clock, events).run(FOUND, WINNER)
    assert "host.keep: true" in refused.value.hint
    assert len([line for line in host.log if line.startswith("start")]) == 2 * PAIRS


def test_a_second_pair_decides_what_the_first_left_open(host, clock, events):
    host.speed = lambda settings: 1000.0 + 0.08 * settings.max_batch_size
    fact = proof(host, clock, events).run(FOUND, WINNER)
    assert "by 2 launches of each" in fact.value


def test_the_service_runs_where_production_runs_and_not_on_the_cpus_of_the_trials(host, clock, events):
    bound = replace(host, log=[])
    proof(host, clock, events, engine=bound, plain_engine=host).run(FOUND, WINNER)
    assert host.log[0] == "start 200"
    assert bound.log == []


def test_without_time_nothing_is_started(host, clock, events):
    with pytest.raises(Refused, match="no time is left"):
        proof(host, clock, events, seconds=299.0).run(FOUND, WINNER)
    assert host.log == []


def test_a_launch_that_fails_or_reads_nothing_proves_nothing(host, clock, events):
    host.failing[400] = LaunchCause.MEMORY
    with pytest.raises(NotMeasurable, match=r"without the host settings failed \(memory\)"):
        proof(host, clock, events).run(FOUND, WINNER)
    assert host.up is None


def test_an_interruption_stops_the_service_and_applies_nothing(host, clock, events):
    def interrupt():
        raise KeyboardInterrupt

    host.on_measure = interrupt
    with pytest.raises(Interrupted):
        proof(host, clock, events).run(FOUND, WINNER)
    assert host.up is None


@dataclass
class Script:
    """A strategy that says its moves in order."""

    moves: list[Move]

    def next_move(self, history) -> Move:
        del history
        return self.moves.pop(0)


def test_a_whole_session_puts_the_host_back_then_proves_the_winner_and_then_applies_it(
    host, clock, events, store, campaign, tmp_path
):
    config = make_install(tmp_path / "install") / "conf" / "config.json"
    found = settings_of(read(config).config)
    winner = replace(found, max_batch_size=435, max_prefill_batch_size=217)

    @contextmanager
    def tuned_host(_listener):
        host.log.append("governor performance")
        yield PreparedHost(facts=(Fact(name="governor", value="schedutil -> performance, applied"),))
        host.log.append("governor schedutil")

    (tmp_path / "state").mkdir(mode=0o700)
    store.log_to = lambda _path: None
    moves = [
        Launch(settings=found, purpose=Purpose.INCUMBENT, reason="as found"),
        Measure(concurrency=100, half_width=0.01),
        Launch(settings=winner, purpose=Purpose.CANDIDATE, reason="larger"),
        Measure(concurrency=100, half_width=0.01),
        Finish(settings=winner, code=VerdictCode.IMPROVED, reason="faster"),
    ]
    session = Session(
        profile=parse_profile(PROFILE, path=tmp_path / "p.yaml").profile,
        campaign=replace(
            campaign, description=replace(host.describe(), incumbent=found, config_path=str(config))
        ),
        plan=SimpleNamespace(forecast=None),
        space=SimpleNamespace(concurrency=100, bracket=lambda *_: None),
        bounds=Bounds(max_launches=12, level_cap_seconds=600),
        side=HostSide(engine=host, source=host, clock=InterruptibleClock(clock), settings=tuned_host),
        store=store,
        state=StateDirectory(root=tmp_path / "state"),
        resumed=False,
        apply=True,
        locked=True,
        strategy=Script(moves),
    )
    ending = session.run(events.append)
    assert [line for line in host.log if line.startswith(("start", "governor"))] == [
        "governor performance",
        *("start 200", "start 435"),
        "governor schedutil",
        *("start 200", "start 435"),
    ]
    assert ending.campaign.applied
    assert settings_of(read(config).config) == winner
    told = {fact.name: fact.value for fact in ending.campaign.environment}
    assert told["re-confirmed"].startswith("without the host settings of the trials: +19.6%")
    assert store.campaign.applied
