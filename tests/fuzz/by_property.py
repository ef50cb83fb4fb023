"""By property: hypothesis in rounds until the time is up; what it finds is made small."""

import time
import traceback
from collections.abc import Callable

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import binary, text

from tests.fuzz.mutation import inputs
from tests.fuzz.outcome import Outcome
from tests.fuzz.target import Target

_ROUND = 200
_SETTINGS = settings(
    max_examples=_ROUND,
    deadline=None,
    database=None,
    derandomize=False,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.generate, Phase.shrink),
)


class _Out(BaseException):
    """The time is up; passes through hypothesis without being taken for a finding."""


def get_ready() -> None:
    """Let hypothesis do what it does only once, so that no target pays for it."""
    seed(0)(_SETTINGS(given(binary(max_size=1), text(max_size=1))(lambda _data, _text: None)))()


def run(target: Target, seconds: float, *, first_seed: int) -> Outcome:
    """Try inputs for so many seconds of CPU; stop at the first that breaks the law."""
    began = time.process_time()
    counted = [0]
    last = [b""]
    failing: list[bytes] = []

    def one(data: bytes) -> None:
        late = time.process_time() - began > seconds
        if late and not failing:
            raise _Out
        counted[0] += 1
        last[0] = data
        try:
            target.check(data)
        except BaseException:
            failing[:] = [data]
            raise

    number = first_seed
    try:
        while time.process_time() - began < seconds:
            _round(one, target, number)()
            number += 1
    except _Out:
        pass
    except Exception:  # noqa: BLE001 - whatever comes out of a parser is the finding
        return Outcome(
            inputs=counted[0],
            seconds=time.process_time() - began,
            broken_by=failing[0] if failing else last[0],
            traceback=traceback.format_exc(limit=-6),
        )
    return Outcome(inputs=counted[0], seconds=time.process_time() - began)


def _round(one: Callable[[bytes], None], target: Target, number: int) -> Callable[[], None]:
    return seed(number)(_SETTINGS(given(inputs(target))(one)))
