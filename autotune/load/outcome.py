"""Outcome: from what the client wrote down of a test to its reading, faults included."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from autotune.load.client.recorder import Columns
from autotune.load.client.tally import ClientHealth, Tally
from autotune.load.ends import ForRequests, UntilSure
from autotune.load.measuring.assembling import Frame, assembled
from autotune.load.measuring.reading import Fault, Reading
from autotune.load.measuring.span import Span, plateau
from autotune.load.measuring.validity import fault_of_stop, first_fault
from autotune.model.measurement import InvalidReason

if TYPE_CHECKING:
    from autotune.load.client.plan import LoadPlan
    from autotune.load.load_test import LoadTest
    from autotune.load.measuring.watch import LevelWatch


def reading_of(test: LoadTest, plan: LoadPlan, watch: LevelWatch, tally: Tally) -> Reading:
    """The reading of a test that ran to an end, with the first check that it does not pass."""
    reading = assembled(tally, _span(test, plan, watch, tally), _frame(test, watch), None)
    fault = fault_of_stop(watch.stop, "; ".join((watch.detail, *reading.details)))
    fault = fault or first_fault(reading, test.tolerance, closed=test.rate is None)
    return replace(reading, fault=fault)


def unreached(test: LoadTest, detail: str) -> Reading:
    """The reading of a test that could not begin."""
    nothing = Tally(
        started=0.0,
        ended=0.0,
        buckets=[],
        columns=Columns(),
        gaps=[],
        health=ClientHealth(cpu_seconds=0.0, elapsed=0.0, lag_p90=0.0, lag_max=0.0),
    )
    span = Span(begin=0, end=0, seconds=0.0, rate=None, half_width=None)
    frame = Frame(
        concurrency=test.concurrency,
        time_scale=test.time_scale,
        streaming=test.target.streaming,
        whole_test_latencies=True,
        from_schedule=False,
    )
    return assembled(nothing, span, frame, Fault(reason=InvalidReason.SERVICE_DIED, detail=detail))


def _span(test: LoadTest, plan: LoadPlan, watch: LevelWatch, tally: Tally) -> Span:
    """From the window where it has spoken, else the plateau between ramp and drain."""
    width = plan.bucket_seconds
    status = watch.status()
    if status is None or status.tokens_per_second is None:
        factor = watch.factor or test.tokens_an_event
        return plateau(
            tally.buckets,
            factor=factor,
            width=width,
            streaming=test.target.streaming,
            scale=test.time_scale,
        )
    end = watch.fed
    length = round(status.seconds / (width * test.time_scale))
    return Span(
        begin=max(0, end - length),
        end=end,
        seconds=status.seconds / test.time_scale,
        rate=status.tokens_per_second * test.time_scale,
        half_width=status.half_width,
        batch_means=tuple(mean * test.time_scale for mean in status.batch_means),
        capped=isinstance(test.end, UntilSure) and status.capped,
    )


def _frame(test: LoadTest, watch: LevelWatch) -> Frame:
    return Frame(
        concurrency=test.concurrency,
        time_scale=test.time_scale,
        streaming=test.target.streaming,
        whole_test_latencies=isinstance(test.end, ForRequests),
        from_schedule=test.rate is not None,
        tokens_an_event=test.tokens_an_event,
        fed_factor=watch.factor,
        limits=test.limits,
    )
