"""ClosedLoop: clients that each keep one request in the service, in virtual time.

The whole of a load test in one object: the scheduler chooses rounds, the step costs say how long they
take, finished requests are replaced at once. Decode rounds in which nothing can change are taken in one
go; the result is the same to the last bit as taking them one by one.
"""

from dataclasses import dataclass
from itertools import islice

from autotune.errors import UsageError
from autotune.model.measurement import Distribution
from autotune.simulator.cost import StepCost
from autotune.simulator.latency import distribution_ms, e2e_seconds, tpot_seconds, ttft_seconds
from autotune.simulator.ledger import Bucket, Ledger
from autotune.simulator.lengths import Lengths, Request
from autotune.simulator.noise import StepNoise
from autotune.simulator.rounds import Idle, Round, RoundKind
from autotune.simulator.scheduler import Scheduler
from autotune.simulator.sequence import Sequence
from autotune.simulator.work import Work

_LONGEST_JUMP = 4096


@dataclass(frozen=True, kw_only=True, slots=True)
class Load:
    """What the clients send."""

    lengths: Lengths
    concurrency: int
    requests: int | None = None
    """Stop sending after this many; None sends for ever."""

    def __post_init__(self) -> None:
        if self.concurrency < 1 or (self.requests is not None and self.requests < 1):
            raise UsageError("concurrency and requests must be at least 1")


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What a run gave, from its first request to its last round."""

    seconds: float
    tokens: int
    submitted: int
    completed: int
    running_mean: float
    preemptions: int
    recomputations: int
    work: Work
    ttft_ms: Distribution
    tpot_ms: Distribution
    e2e_ms: Distribution
    event_gap_ms: Distribution
    buckets: tuple[Bucket, ...]
    bucket_seconds: float

    @property
    def tokens_per_second(self) -> float:
        """All tokens over the whole run, as the vendor's benchmark reads it."""
        return self.tokens / self.seconds if self.seconds else 0.0


class ClosedLoop:
    """A running load test; `advance` takes it one round (or one quiet stretch) further."""

    def __init__(
        self,
        scheduler: Scheduler,
        cost: StepCost,
        load: Load,
        *,
        noise: StepNoise | None = None,
        bucket_seconds: float = 0.5,
        jump: bool = True,
    ) -> None:
        self.now = 0.0
        self.finished: list[Sequence] = []
        self.work = Work()
        self._scheduler = scheduler
        self._cost = cost
        self._noise = noise
        self._jump = jump
        self._requests = islice(load.lengths.endless(), load.requests)
        self._ledger = Ledger(bucket_seconds)
        self._submitted = 0
        self._tokens = 0
        self._running_seconds = 0.0
        self._gaps: dict[float, int] = {}
        self._last_decode: float | None = None
        for request in islice(self._requests, load.concurrency):
            self._submit(request)

    @property
    def completed(self) -> int:
        """Requests that are finished."""
        return len(self.finished)

    @property
    def submitted(self) -> int:
        """Requests that were sent."""
        return self._submitted

    @property
    def tokens(self) -> int:
        """Tokens generated so far."""
        return self._tokens

    @property
    def running_seconds(self) -> float:
        """Running sequences, integrated over time."""
        return self._running_seconds

    @property
    def preemptions(self) -> int:
        """Sequences that lost their blocks so far."""
        return self._scheduler.preemptions

    @property
    def full_buckets(self) -> int:
        """Number of buckets that are complete."""
        return self._ledger.full(self.now)

    def bucket(self, index: int) -> Bucket:
        """A complete bucket."""
        return self._ledger.bucket(index)

    def advance(self) -> bool:
        """Go one step on; False when there is nothing left to do."""
        chosen = self._scheduler.next_round(self.now)
        if isinstance(chosen, Idle):
            if chosen.until is None:
                return False
            self.now = chosen.until
            return True
        self._run(chosen)
        if self._jump:
            self._run_quiet()
        return True

    def run(self) -> Outcome:
        """Go on until all requests are finished; `requests` must be given in the load."""
        while self.advance():
            pass
        return self.outcome()

    def outcome(self) -> Outcome:
        """What the run has given so far."""
        several = [sequence for sequence in self.finished if sequence.output_tokens > 1]
        return Outcome(
            seconds=self.now,
            tokens=self._tokens,
            submitted=self._submitted,
            completed=len(self.finished),
            running_mean=self._running_seconds / self.now if self.now else 0.0,
            preemptions=self._scheduler.preemptions,
            recomputations=self._scheduler.recomputations,
            work=self.work.copy(),
            ttft_ms=distribution_ms([ttft_seconds(sequence) for sequence in self.finished]),
            tpot_ms=distribution_ms([tpot_seconds(sequence) for sequence in several]),
            e2e_ms=distribution_ms([e2e_seconds(sequence) for sequence in self.finished]),
            event_gap_ms=distribution_ms(list(self._gaps), list(self._gaps.values())),
            buckets=self._ledger.buckets(self.now),
            bucket_seconds=self._ledger.bucket_seconds,
        )

    def _submit(self, request: Request) -> None:
        sequence = Sequence(self._submitted, request.prompt_tokens, request.output_tokens)
        self._submitted += 1
        self._scheduler.submit(sequence, self.now)

    def _run(self, work: Round) -> None:
        begin = self.now
        running = self._scheduler.running
        if work.kind is RoundKind.PREFILL:
            running += len(work.sequences)
        self.work.add(work)
        self._pass_time(work.kind, self._cost.seconds(work), len(work.sequences))
        finished = self._scheduler.complete(work, self.now)
        self._book(begin, running, len(work.sequences), len(finished))
        self.finished.extend(finished)
        for request in islice(self._requests, len(finished)):
            self._submit(request)

    def _run_quiet(self) -> None:
        rounds = self._scheduler.quiet_rounds(_LONGEST_JUMP)
        if not rounds:
            return
        work = self._scheduler.quiet_round()
        served = len(work.sequences)
        context = work.context_tokens
        self.work.add_quiet(work, rounds)
        for _ in range(rounds):
            begin = self.now
            self._pass_time(work.kind, self._cost.decode_seconds(work.decoding, context), served)
            self._book(begin, served, served, 0)
            context += served
        self._scheduler.skip(rounds)

    def _pass_time(self, kind: RoundKind, seconds: float, served: int) -> None:
        """Let a round's time pass."""
        self.now += seconds * self._noise.factor(self.now) if self._noise else seconds
        if kind is RoundKind.PREFILL:
            return
        if self._last_decode is not None:
            gap = round(self.now - self._last_decode, 4)
            self._gaps[gap] = self._gaps.get(gap, 0) + served
        self._last_decode = self.now

    def _book(self, begin: float, running: int, tokens: int, completions: int) -> None:
        self._tokens += tokens
        self._running_seconds += running * (self.now - begin)
        self._ledger.add(begin, self.now, running=running, tokens=tokens, completions=completions)
