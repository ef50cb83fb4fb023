"""Shares: one load test cut into parts for several processes, and their tallies put together again."""

from collections.abc import Sequence
from dataclasses import replace

from autotune.load.client.plan import LoadPlan
from autotune.load.client.recorder import Bucket, Columns
from autotune.load.client.tally import ClientHealth, Tally


def shares_of(plan: LoadPlan, workers: int) -> tuple[LoadPlan, ...]:
    """The plan cut into parts: clients, rate and requests are shared out, the row of prompts interleaved."""
    parts = []
    for number in range(workers):
        requests = None if plan.requests is None else len(range(number, plan.requests, workers))
        parts.append(
            replace(
                plan,
                concurrency=len(range(number, plan.concurrency, workers)),
                rate=None if plan.rate is None else plan.rate / workers,
                requests=requests,
                first_request=plan.first_request + number,
                request_step=workers,
                staggered=len(range(number, plan.staggered, workers)),
                seed=plan.seed * workers + number,
            )
        )
    return tuple(part for part in parts if part.concurrency > 0 and part.requests != 0)


def merged(tallies: Sequence[Tally]) -> Tally:
    """All processes together; buckets as long as every process has them, or has ended."""
    if len(tallies) == 1:
        return tallies[0]
    columns = Columns()
    failed: dict[str, int] = {}
    details: dict[str, str] = {}
    for tally in tallies:
        columns.extend(tally.columns)
        for cause, count in tally.failed.items():
            failed[cause] = failed.get(cause, 0) + count
        details = {**tally.details, **details}
    longest = max(len(tally.buckets) for tally in tallies)
    return Tally(
        started=min(tally.started for tally in tallies),
        ended=max(tally.ended for tally in tallies),
        buckets=[row_sum([tally.buckets for tally in tallies], index) for index in range(longest)],
        columns=columns,
        gaps=sorted((one for tally in tallies for one in tally.gaps), key=lambda one: one.start),
        failed=failed,
        details=details,
        events=sum(tally.events for tally in tallies),
        peak_in_flight=sum(tally.peak_in_flight for tally in tallies),
        health=ClientHealth(
            cpu_seconds=sum(tally.health.cpu_seconds for tally in tallies),
            elapsed=max(tally.health.elapsed for tally in tallies),
            lag_p90=max(tally.health.lag_p90 for tally in tallies),
            lag_max=max(tally.health.lag_max for tally in tallies),
            busiest_share=max(tally.health.cpu_share for tally in tallies),
            processes=len(tallies),
        ),
    )


def row_sum(rows: Sequence[Sequence[Bucket]], index: int) -> Bucket:
    """Bucket number `index` of all processes that have one."""
    buckets = [row[index] for row in rows if index < len(row)]
    return Bucket(
        start=buckets[0].start,
        events=sum(one.events for one in buckets),
        whole_tokens=sum(one.whole_tokens for one in buckets),
        running=sum(one.running for one in buckets),
        in_flight=sum(one.in_flight for one in buckets),
        completions=sum(one.completions for one in buckets),
        failures=sum(one.failures for one in buckets),
        told_tokens=sum(one.told_tokens for one in buckets),
        told_events=sum(one.told_events for one in buckets),
    )
