"""Run: what `autotune load` does, from its options to the text it prints."""

import json
from collections.abc import Callable
from dataclasses import dataclass

from autotune.load.load_test import run_load_test
from autotune.load.options import LoadOptions, prepared

_HINTS = {
    "too_short": "give more --requests or a longer --duration",
    "concurrency_not_reached": "the service takes fewer connections: check its maxLinkNum",
    "service_died": "check that the service runs and that --url is right",
    "client_overloaded": "give the client CPUs of its own (--cpus) or more --workers",
}
"""By the reason why a test is no measurement."""


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
    """Run the test. Raises UsageError or Refused before anything is sent, ClientDied for a lost worker."""
    ready = prepared(options)
    for text in ready.notices:
        notice(text)
    if progress is None:
        reading = run_load_test(ready.test)
    else:
        from autotune.load.progress_line import ProgressLine

        with ProgressLine(progress) as line:
            reading = run_load_test(ready.test, progress=line.tell)
    from autotune.load.document import block_of, document_of  # the clock has stopped

    fault = reading.fault
    return Outcome(
        json=json.dumps(document_of(reading), indent=2),
        text=block_of(reading),
        began=reading.requests > 0 or reading.events > 0,
        why_invalid=f"{fault.reason.value}: {fault.detail}" if fault is not None else None,
        hint=_HINTS.get(fault.reason.value, "") if fault is not None else "",
    )
