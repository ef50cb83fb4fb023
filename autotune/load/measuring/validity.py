"""Validity: the checks that every test must pass before its numbers are read."""

from collections.abc import Sequence

from autotune.load.measuring.reading import Fault, Reading
from autotune.load.measuring.tolerance import Tolerance
from autotune.load.measuring.watch import Stop
from autotune.model.measurement import InvalidReason

_REACHED_SHARE = 0.9
_MOST_CPU_SHARE = 0.95
_MOST_LAG_SECONDS = 0.1
_MOST_PAUSE_SECONDS, _MOST_PAUSE_SHARE = 2.0, 0.02
"""A client that was suspended for longer sent nothing meanwhile, and read what came late."""
_MOST_LITTLE = 0.3


_STOPS = {
    Stop.DEAD: InvalidReason.SERVICE_DIED,
    Stop.STALLED: InvalidReason.STALLED,
}


def fault_of_stop(stop: Stop | None, detail: str) -> Fault | None:
    """A test that was ended for a bad reason."""
    reason = _STOPS.get(stop) if stop is not None else None
    return Fault(reason=reason, detail=detail) if reason is not None else None


def first_fault(reading: Reading, tolerance: Tolerance, *, closed: bool) -> Fault | None:
    """The first check that fails, or None."""
    checks: Sequence[tuple[bool, InvalidReason, str]] = (
        (_too_many_failed(reading, tolerance), InvalidReason.REQUESTS_FAILED, _failures(reading)),
        (
            reading.short_replies > tolerance.short * max(1, reading.requests),
            InvalidReason.SHORT_REPLIES,
            f"{reading.short_replies} of {reading.requests} replies are shorter than asked",
        ),
        (reading.completed == 0, InvalidReason.TOO_SHORT, "no request was completed"),
        (
            closed and reading.concurrency_reached < _REACHED_SHARE * reading.concurrency,
            InvalidReason.CONCURRENCY_NOT_REACHED,
            f"{reading.concurrency_reached} of {reading.concurrency} requests were on their way",
        ),
        (
            reading.health.cpu_share > _MOST_CPU_SHARE or reading.health.lag_p90 > _MOST_LAG_SECONDS,
            InvalidReason.CLIENT_OVERLOADED,
            (
                f"the client used {reading.health.cpu_share:.0%} of a core and was "
                f"{reading.health.lag_p90 * 1000:.0f} ms late"
            ),
        ),
        (
            reading.health.lag_max > max(_MOST_PAUSE_SECONDS, _MOST_PAUSE_SHARE * reading.health.elapsed),
            InvalidReason.CLIENT_OVERLOADED,
            f"the client stood still for {reading.health.lag_max:.1f} s",
        ),
        (
            reading.little_residual is not None and reading.little_residual > _MOST_LITTLE,
            InvalidReason.LITTLES_LAW,
            f"rate x time differs from requests in the system by {reading.little_residual or 0.0:.0%}",
        ),
    )
    return next((Fault(reason=reason, detail=detail) for bad, reason, detail in checks if bad), None)


def _too_many_failed(reading: Reading, tolerance: Tolerance) -> bool:
    failed = sum(one.count for one in reading.failed)
    return failed > tolerance.failed * max(1, reading.requests)


def _failures(reading: Reading) -> str:
    counts = ", ".join(f"{one.count} {one.cause}" for one in reading.failed)
    details = "; ".join(reading.details)
    return f"of {reading.requests} requests failed: {counts} ({details})"
