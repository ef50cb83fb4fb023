from dataclasses import replace

import pytest

from autotune.errors import LaunchCause
from autotune.model.launch import BudgetLeft, History, LaunchRecord, Outcome, Purpose
from autotune.model.move import Finish, Launch, Wait
from autotune.model.settings import Settings
from autotune.search.confirmation import MOST_A_SIDE
from autotune.search.fleet import Shared
from autotune.search.hosts import corrected, host_differences
from autotune.search.options import Options
from autotune.search.strategy import make_strategy

FOUND = Settings(max_batch_size=200)


def curve(size):
    """The guide's three points rise and fall: 435 -> 2845, 500 -> 2980, 600 -> 2521 token/s."""
    return 3000.0 - 0.01 * (size - 500) ** 2


@pytest.fixture
def fleet(tools):
    """A grid study of hosts that run in lockstep, the first one three times as fast to end a launch."""
    space = tools.space(incumbent=FOUND, tune_prefill=False)
    inner = make_strategy("grid", space, Options(step=100, max_launches=30))

    class Fleet:
        launches: tuple[LaunchRecord, ...] = ()
        half_width = 0.005

        def ask(self, host, left=30):
            budget = BudgetLeft(launches=left - len(self.launches))
            return Shared(inner, space, host).next_move(History(launches=self.launches, budget=budget))

        def begin(self, host):
            move = self.ask(host)
            if isinstance(move, Launch):
                number = len(self.launches) + 1
                record = LaunchRecord(
                    number=number, purpose=move.purpose, settings=move.settings, host=host, blocks=2176
                )
                self.launches += (record,)
            return move

        def end(self, host, factor=1.0, cause=None):
            for place, launch in enumerate(self.launches):
                if launch.host == host and launch.outcome is Outcome.PENDING:
                    ended = self.ended(launch, factor, cause)
                    self.launches = (*self.launches[:place], ended, *self.launches[place + 1 :])

        def ended(self, launch, factor, cause):
            if cause is not None:
                return replace(launch, outcome=Outcome.FAILED, cause=cause)
            speed = factor * curve(launch.settings.max_batch_size)
            level = tools.measured(space.concurrency, speed, self.half_width)
            return replace(launch, outcome=Outcome.ENDED, levels=(level,))

    return Fleet()


def finished(fleet, hosts, factors=None):
    """Let the hosts work until one of them knows the answer."""
    for _ in range(60):
        for host in hosts:
            move = fleet.begin(host)
            if isinstance(move, Finish):
                return move
        for host in hosts:
            fleet.end(host, (factors or {}).get(host, 1.0))
    raise AssertionError("the study does not end")


def test_hosts_that_ask_at_the_same_time_get_different_launches(fleet):
    moves = [fleet.begin(host) for host in "abcd"]
    assert all(isinstance(move, Launch) for move in moves)
    assert len({(move.settings, move.purpose) for move in moves}) == 4


@pytest.mark.parametrize("hosts", ["a", "ab", "abcd"])
def test_however_many_hosts_work_every_value_is_run_and_the_answer_is_the_same(fleet, hosts):
    finish = finished(fleet, hosts)
    grid = [each for each in fleet.launches if each.purpose is Purpose.CANDIDATE]
    sizes = [each.settings.max_batch_size for each in grid]
    assert set(sizes) == set(range(400, 1001, 100))
    assert len(sizes) - len(set(sizes)) <= 1, "only the leader is read again"
    assert finish.settings.max_batch_size == 500


def test_a_start_that_lacks_memory_on_one_host_bounds_all(fleet):
    for host in "abcd":
        fleet.begin(host)
    low = min(each.settings.max_batch_size for each in fleet.launches if each.purpose is Purpose.CANDIDATE)
    for host in "abcd":
        size = next(each.settings.max_batch_size for each in fleet.launches if each.host == host)
        fleet.end(host, cause=LaunchCause.MEMORY if size > low else None)
    before = len(fleet.launches)
    finished(fleet, "abcd")
    failed = [each.settings.max_batch_size for each in fleet.launches if each.outcome is Outcome.FAILED]
    later = [each.settings.max_batch_size for each in fleet.launches[before:]]
    assert all(size < min(failed) for size in later)


def test_a_host_waits_when_only_running_launches_can_tell_what_is_next(fleet):
    finish_near = finished(fleet, "a")
    assert isinstance(finish_near, Finish)
    pending = replace(fleet.launches[-1], outcome=Outcome.PENDING, levels=())
    fleet.launches = (*fleet.launches[:-1], pending)
    assert isinstance(fleet.ask("b"), Wait)


def confirming(fleet):
    """Settings of the confirmations that run now."""
    return [
        launch.settings.max_batch_size
        for launch in fleet.launches
        if launch.purpose is Purpose.CONFIRMATION and launch.outcome is Outcome.PENDING
    ]


@pytest.mark.parametrize(("half_width", "at_once"), [(0.3, [200, 500, 500]), (0.005, [200, 500])])
def test_a_confirmation_runs_as_many_launches_side_by_side_as_its_evidence_needs(fleet, half_width, at_once):
    fleet.half_width = half_width
    most = []
    for _ in range(60):
        ends = [isinstance(fleet.begin(host), Finish) for host in "abcd"]
        most = max(most, confirming(fleet), key=len)
        if any(ends):
            break
        for host in "abcd":
            fleet.end(host)
    assert sorted(most) == at_once
    fresh = [each.settings for each in fleet.launches if each.purpose is Purpose.CONFIRMATION]
    assert max(fresh.count(settings) for settings in fresh) <= MOST_A_SIDE


def test_a_faster_host_is_found_shown_and_corrected(fleet):
    finished(fleet, "ab", {"b": 1.10})
    space_concurrency = fleet.launches[0].last.concurrency
    fleet.launches += tuple(
        fleet.ended(
            LaunchRecord(number=90 + place, purpose=Purpose.CANDIDATE, settings=settings, host=host),
            1.1 if host == "b" else 1.0,
            None,
        )
        for place, (host, settings) in enumerate(
            (host, Settings(max_batch_size=size)) for size in (400, 500) for host in "ab"
        )
    )
    (difference,) = host_differences(fleet.launches, concurrency=space_concurrency)
    change = difference.change if difference.host == "b" else -difference.change / (1 + difference.change)
    assert change == pytest.approx(0.10, abs=0.002)
    assert difference.sure
    assert f"against {difference.against}" in str(difference)
    again = host_differences(corrected(fleet.launches, (difference,)), concurrency=space_concurrency)
    assert abs(again[0].change) < 0.002


def test_hosts_that_share_no_setting_cannot_be_compared(fleet):
    first = LaunchRecord(number=1, purpose=Purpose.CANDIDATE, settings=Settings(max_batch_size=400), host="a")
    other = replace(first, number=2, host="b", settings=Settings(max_batch_size=500))
    launches = [fleet.ended(launch, 1.0, None) for launch in (first, other)]
    assert host_differences(launches, concurrency=1306) == ()
