"""The precise timer of the kernel, in the event loop that the service uses."""

import asyncio
import time

import pytest
import uvloop

from autotune.emulator.timer import PreciseTimer


async def _fired_after(*delays: float) -> list[float]:
    """Set the timer after each expiry; how late each one was, in seconds."""
    loop = asyncio.get_running_loop()
    due: list[float] = []
    late: list[float] = []
    done = loop.create_future()
    waiting = list(delays)

    def fire() -> None:
        late.append(time.monotonic() - due[-1])
        if waiting:
            begin()
        else:
            done.set_result(None)

    timer = PreciseTimer(loop, fire)

    def begin() -> None:
        due.append(time.monotonic() + waiting.pop(0))
        timer.set(due[-1])

    begin()
    await asyncio.wait_for(done, 5)
    timer.close()
    return late


def test_it_fires_once_for_each_setting_and_never_early():
    late = uvloop.run(_fired_after(0.002, 0.0, 0.001))
    assert len(late) == 3
    assert min(late) >= 0


def test_a_time_that_has_passed_fires_at_once():
    assert len(uvloop.run(_fired_after(-1.0, -5.0))) == 2


@pytest.mark.real_time
def test_it_is_right_to_half_a_millisecond():
    late = sorted(uvloop.run(_fired_after(*[0.003] * 50)))
    assert late[25] < 0.0005
