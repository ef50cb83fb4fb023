"""What a soak says of what it saw: memory by launch, descriptors that add up, drift beyond the interval."""

from dataclasses import dataclass

import pytest

from tests.soak.__main__ import Result, Sample, level_cap


@dataclass(frozen=True)
class Level:
    tokens_per_second: float
    half_width: float = 0.02


@dataclass(frozen=True)
class Ended:
    last: Level


IDLE, LOADED = (100.0, 20), (160.0, 60)
"""Memory and descriptors between launches and under load."""


def soaked(*, memory=lambda _: 0.0, open_files=lambda _: 0, speed=lambda _: 1000.0, launches=16, code=0):
    samples = [
        Sample(seconds=float(number), rss_mib=rss + memory(number), descriptors=count + open_files(number),
               launches=number)
        for number in range(launches)
        for rss, count in (IDLE, LOADED, LOADED, IDLE)
    ]  # fmt: skip
    ended = tuple(Ended(Level(speed(number))) for number in range(launches))
    return Result(exit_code=code, samples=tuple(samples), launches=ended)


def test_a_tuner_that_keeps_its_size_has_no_faults():
    assert soaked().faults() == []
    assert soaked().growth == 0.0


def test_what_the_first_two_launches_load_is_no_growth():
    assert soaked(memory=lambda number: -90.0 if number < 2 else 0.0).faults() == []


@pytest.mark.parametrize(("mib", "grown"), [(12.0, False), (15.0, True)])
def test_memory_may_grow_by_a_tenth(mib, grown):
    result = soaked(memory=lambda number: mib if number >= 12 else 0.0)
    assert result.growth == pytest.approx(mib / 130.0)
    assert bool(result.faults()) is grown
    assert not grown or result.faults() == ["memory grew by 11.5%"]


def test_one_descriptor_that_is_never_closed_is_found():
    assert soaked(open_files=lambda number: number // 8).faults() == ["descriptors grew from 20 to 21"]


@pytest.mark.parametrize("sign", [1, -1])
def test_readings_that_drift_beyond_their_interval_are_told(sign):
    (fault,) = soaked(speed=lambda number: 1000.0 * (1 + sign * 0.03 * (number >= 8))).faults()
    assert fault.startswith(f"readings drift by {sign * 3:+.1f}%, beyond their interval of 2.0%")


def test_a_campaign_that_failed_or_was_too_short_proves_nothing():
    assert soaked(code=5).faults() == ["the campaign ended with 5 after 16 readings"]
    assert soaked(launches=3).faults() == ["the campaign ended with 0 after 3 readings"]


def test_a_short_soak_has_as_many_launches_and_a_long_one_long_levels():
    assert level_cap(45.0, 3.0) == 240
    assert level_cap(3.0, 3.0) == 45
