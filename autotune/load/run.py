"""Run: what `autotune load` does, from its options to the text it prints."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

from autotune.load.document import block_of, document_of
from autotune.load.load_test import Progress, run_load_test
from autotune.load.options import LoadOptions, prepared
from autotune.model.measurement import InvalidReason
from autotune.statistics.window import WindowStatus

_REPAINT_SECONDS = 0.5
_HINTS = {
    InvalidReason.TOO_SHORT: "give more --requests or a longer --duration",
    InvalidReason.CONCURRENCY_NOT_REACHED: "the service takes fewer connections: check its maxLinkNum",
    InvalidReason.SERVICE_DIED: "check that the service runs and that --url is right",
    InvalidReason.CLIENT_OVERLOADED: "give the client CPUs of its own (--cpus) or more --workers",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What is printed, and why it is no measurement, if it is none."""

    json: str
    text: str
    began: bool
    """False when not one request went out."""
    why_invalid: str | None
    hint: str = ""


def run(
    options: LoadOptions, *, notice: Callable[[str], None], progress: Callable[[str], None] | None = None
) -> Outcome:
    """Run the test. Raises UsageError or Refused before anything is sent."""
    ready = prepared(options)
    for text in ready.notices:
        notice(text)
    reading = run_load_test(ready.test, progress=_line(progress) if progress is not None else None)
    fault = reading.fault
    if progress is not None:
        progress("")
    return Outcome(
        json=json.dumps(document_of(reading), indent=2),
        text=block_of(reading),
        began=reading.requests > 0 or reading.events > 0,
        why_invalid=f"{fault.reason.value}: {fault.detail}" if fault is not None else None,
        hint=_HINTS.get(fault.reason, "") if fault is not None else "",
    )


def _line(show: Callable[[str], None]) -> Progress:
    last = perf_counter()

    def tell(seconds: float, status: WindowStatus | None) -> None:
        nonlocal last
        now = perf_counter()
        if now - last < _REPAINT_SECONDS:
            return
        last = now
        speed, width, left = "", "", ""
        if status is not None and status.tokens_per_second is not None:
            speed = f", {status.tokens_per_second:.1f} token/s"
            width = f" +- {100 * status.half_width:.2f} %" if status.half_width is not None else ""
        if status is not None and status.seconds_left is not None:
            left = f", about {status.seconds_left:.0f} s left"
        show(f"{seconds:.0f} s{speed}{width}{left}")

    return tell
