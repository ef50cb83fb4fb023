"""When a test is ended, and what the steady window is fed."""

import pytest

from autotune.load.client.recorder import Bucket
from autotune.load.measuring.watch import LevelWatch, Stop, WatchRules
from autotune.statistics.window import SteadyWindow


def bucket(events=50, completions=1, failures=0, told=None, running=10, whole=0):
    return Bucket(
        start=0.0,
        events=events,
        whole_tokens=whole,
        running=running,
        in_flight=10,
        completions=completions,
        failures=failures,
        told_tokens=told[0] if told else 0,
        told_events=told[1] if told else 0,
    )


class Fed:
    """A window that writes down what it is fed."""

    def __init__(self):
        self.rows = []

    def add(self, tokens, running, completions):
        self.rows.append((tokens, running, completions))

    def status(self):
        return SteadyWindow(half_width=0.01, cap_seconds=1e6).status()


def watch(window=None, **rules):
    values = {"concurrency": 10, "bucket_seconds": 0.5, **rules}
    return LevelWatch(rules=WatchRules(**values), window=window)


def test_events_become_tokens_by_the_servers_own_count_from_the_first_bucket_on():
    window = Fed()
    one = watch(window)
    one.see([bucket(events=10, completions=0), bucket(events=10, told=(80, 20))])
    one.see([bucket(events=5)])
    assert [row[0] for row in window.rows] == [40.0, 40.0, 20.0]
    assert one.fed == 3


def test_without_a_count_an_event_is_what_the_user_says():
    window = Fed()
    one = watch(window, tokens_an_event=8.0)
    one.see([bucket(events=3, completions=0), bucket(events=2)])
    assert [row[0] for row in window.rows] == [24.0, 16.0]


def test_replies_in_one_piece_count_when_they_end():
    window = Fed()
    one = watch(window, streaming=False)
    one.see([bucket(events=0, whole=120, running=0)])
    assert window.rows == [(120.0, 10, 1)]


def test_the_time_ends_a_test():
    one = watch(duration=2.0)
    assert [one.see([bucket()]) for _ in range(4)] == [False, False, False, True]
    assert one.stop is Stop.ENOUGH


def test_a_narrow_interval_ends_a_test():
    one = watch(SteadyWindow(half_width=0.02, cap_seconds=600.0))
    count = 0
    while not one.see([bucket(told=(50, 50))]):
        count += 1
        assert count < 1200
    assert one.stop is Stop.ENOUGH
    assert one.status().tokens_per_second == pytest.approx(100.0)


def test_many_failures_without_a_token_are_a_dead_service():
    one = watch()
    seen = [one.see([bucket(events=0, completions=0, failures=5)]) for _ in range(6)]
    assert seen[-1]
    assert one.stop is Stop.DEAD


def test_failures_among_tokens_are_no_dead_service():
    one = watch()
    assert not any(one.see([bucket(failures=9)]) for _ in range(100))


def test_silence_is_a_stall():
    one = watch(stall_seconds=5.0)
    seen = [one.see([bucket(events=0, completions=0)]) for _ in range(10)]
    assert seen == [False] * 9 + [True]
    assert one.stop is Stop.STALLED


def test_the_service_itself_may_tell_that_it_is_gone():
    one = LevelWatch(
        rules=WatchRules(concurrency=1, bucket_seconds=0.5), window=None, ask_outside=lambda: "exit code 1"
    )
    assert one.see([])
    assert (one.stop, one.detail) == (Stop.DEAD, "exit code 1")
