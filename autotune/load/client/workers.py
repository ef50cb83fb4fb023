"""Workers: one load test in several processes, for rates that one core can't take."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from time import perf_counter

from autotune.errors import NotMeasurable
from autotune.load.client.errand import Enough, Failed, Go, Ready, Share
from autotune.load.client.plan import LoadPlan
from autotune.load.client.process import See
from autotune.load.client.reaching import Unreached
from autotune.load.client.recorder import Bucket, Columns
from autotune.load.client.tally import ClientHealth, Tally

_HEAD_START_SECONDS = 0.05
_TICK_SECONDS = 0.05
_END_SECONDS = 10.0


def run_workers(plan: LoadPlan, see: See, *, workers: int, cpus: tuple[int, ...] = ()) -> Tally:
    """Run the test in `workers` processes, on `cpus` in turn. Raises Unreached or NotMeasurable."""
    shares = shares_of(plan, workers)
    with _started(shares, cpus) as pipes:
        for pipe in pipes:
            _expect_ready(pipe)
        at = perf_counter() + _HEAD_START_SECONDS
        for pipe in pipes:
            pipe.send(Go(at=at))
        return _collected(pipes, see)


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
                seed=plan.seed * workers + number,
            )
        )
    return tuple(part for part in parts if part.concurrency > 0)


@contextmanager
def _started(shares: tuple[LoadPlan, ...], cpus: tuple[int, ...]) -> Iterator[list[Connection]]:
    processes: list[subprocess.Popen[bytes]] = []
    pipes: list[Connection] = []
    try:
        for number, plan in enumerate(shares):
            ours, theirs = Pipe()
            argv = [sys.executable, "-m", "autotune.load.client.worker", str(theirs.fileno())]
            processes.append(subprocess.Popen(argv, pass_fds=(theirs.fileno(),), stdin=subprocess.DEVNULL))
            theirs.close()
            ours.send(Share(plan=plan, cpus=(cpus[number % len(cpus)],) if cpus else ()))
            pipes.append(ours)
        yield pipes
    finally:
        for pipe in pipes:
            pipe.close()
        for process in processes:
            _end(process)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """A worker ends by itself when its pipe is closed; one that does not is made to."""
    try:
        process.wait(timeout=_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _expect_ready(pipe: Connection) -> None:
    said = _receive(pipe)
    if isinstance(said, Failed):
        raise Unreached(said.message, hint=said.hint)
    assert isinstance(said, Ready)


def _collected(pipes: list[Connection], see: See) -> Tally:
    rows: dict[Connection, list[Bucket]] = {pipe: [] for pipe in pipes}
    tallies: dict[Connection, Tally] = {}
    told = 0
    while len(tallies) < len(pipes):
        for pipe in wait([pipe for pipe in pipes if pipe not in tallies], timeout=_TICK_SECONDS):
            assert isinstance(pipe, Connection)
            said = _receive(pipe)
            if isinstance(said, Tally):
                tallies[pipe] = said
            elif isinstance(said, tuple):
                rows[pipe].extend(said)
        complete = (
            min(len(rows[pipe]) for pipe in pipes if pipe not in tallies)
            if len(tallies) < len(pipes)
            else told
        )
        new = [
            _sum([row[index] for row in rows.values() if index < len(row)]) for index in range(told, complete)
        ]
        told = max(told, complete)
        if see(new):
            for pipe in pipes:
                if pipe not in tallies:
                    pipe.send(Enough())
            see = _nothing
    return merged(list(tallies.values()))


def _nothing(buckets: object) -> bool:
    del buckets
    return False


def _receive(pipe: Connection) -> object:
    try:
        return pipe.recv()
    except (EOFError, OSError) as error:
        raise NotMeasurable(
            "a client process ended before its time", hint="look at its message above"
        ) from error


def _sum(buckets: list[Bucket]) -> Bucket:
    first = buckets[0]
    return Bucket(
        start=first.start,
        events=sum(one.events for one in buckets),
        whole_tokens=sum(one.whole_tokens for one in buckets),
        running=sum(one.running for one in buckets),
        in_flight=sum(one.in_flight for one in buckets),
        completions=sum(one.completions for one in buckets),
        failures=sum(one.failures for one in buckets),
        told_tokens=sum(one.told_tokens for one in buckets),
        told_events=sum(one.told_events for one in buckets),
    )


def merged(tallies: list[Tally]) -> Tally:
    """All processes together; buckets as long as every process has them, or has ended."""
    columns = Columns()
    failed: dict[str, int] = {}
    details: dict[str, str] = {}
    for tally in tallies:
        columns.extend(tally.columns)
        for cause, count in tally.failed.items():
            failed[cause] = failed.get(cause, 0) + count
        details = {**tally.details, **details}
    longest = max(len(tally.buckets) for tally in tallies)
    buckets = [
        _sum([tally.buckets[index] for tally in tallies if index < len(tally.buckets)])
        for index in range(longest)
    ]
    return Tally(
        started=min(tally.started for tally in tallies),
        ended=max(tally.ended for tally in tallies),
        buckets=buckets,
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
            send_delay_mean=max(tally.health.send_delay_mean for tally in tallies),
            processes=len(tallies),
        ),
    )
