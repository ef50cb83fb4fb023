"""The engine: an absolute schedule, every token to its stream, and nothing lost when the host is late."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from autotune.emulator.ask import Ask
from autotune.emulator.clock import ServiceClock
from autotune.emulator.engine_loop import EngineLoop
from autotune.emulator.protocols.reply import Inquiry
from autotune.emulator.streams import Plan, Stream
from autotune.emulator.tally import Tally
from autotune.emulator.trace import Trace
from autotune.errors import UsageError
from autotune.simulator.mindie import MindieScheduler
from autotune.simulator.rules import MindieRules


class Host:
    """The host's monotonic time, moved by hand."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


class HandTimer:
    """Remembers what it was set to."""

    def __init__(self):
        self.moment = None

    def set(self, moment):
        self.moment = moment


class Reply:
    """Says which token it is."""

    def begun(self, waited):
        self.waited = waited

    def token(self, position, _moment, _batch):
        return b"%d;" % position

    def last(self, position, _moment, _batch, reason):
        return b"last %d %s;" % (position, reason.encode())

    def whole(self, tokens, reason):
        return f"{tokens} {reason}"


@dataclass
class Sink:
    host: Host
    pieces: list = field(default_factory=list)
    times: list = field(default_factory=list)
    ended: str = ""

    def write(self, data):
        self.pieces.append(data)
        self.times.append(self.host.now)

    def end(self, data):
        self.write(data)
        self.ended = "end"

    def answer(self, body):
        self.pieces.append(body)
        self.ended = "answer"

    def fail(self, status, message):
        self.ended = f"{status} {message}"

    def cut(self):
        self.ended = "cut"


class Bench:
    """An engine with a hand-driven host; every round takes `seconds` of the service's clock."""

    def __init__(self, *, scale=1.0, seconds=0.05, **rules):
        self.host = Host()
        self.timer = HandTimer()
        clock = ServiceClock(scale, monotonic=self.host)
        limits = {"blocks": 500, "max_queue_delay_microseconds": 500} | rules
        self.scheduler = MindieScheduler(MindieRules(**limits))
        self.engine = EngineLoop(
            self.scheduler, lambda _work, _moment: seconds, clock, tally=Tally(), trace=Trace()
        )
        self.engine.attach(self.timer)

    def submit(self, tokens=3, *, stream=True, prompt=100, cut_after=None):
        ask = Ask(
            identity="x", prompt="", prompt_tokens=prompt, prompt_hash=0, max_tokens=tokens, stream=stream
        )
        sink = Sink(self.host)
        plan = Plan(tokens=tokens, reason="length", cut_after=cut_after)
        one = Stream(Inquiry(ask=ask, reply=Reply()), plan, sink, self.engine.next_number())
        self.engine.submit(one)
        return one, sink

    def fire(self, late=0.0):
        """Let the timer expire, this much too late."""
        moment, self.timer.moment = self.timer.moment, None
        self.host.now = max(self.host.now, moment) + late
        self.engine.step()

    def run(self, most=10_000):
        for _ in range(most):
            if self.timer.moment is None:
                return
            self.fire()
        pytest.fail("the engine never came to rest")


def test_a_stream_gets_each_token_once_and_in_order():
    bench = Bench()
    _, sink = bench.submit(tokens=4)
    bench.run()
    assert sink.pieces == [b"0;", b"1;", b"2;", b"last 3 length;0\r\n\r\n"]
    assert sink.ended == "end"


def test_an_answer_comes_whole_when_its_last_token_is_there():
    bench = Bench()
    _, sink = bench.submit(tokens=4, stream=False)
    bench.run()
    assert (sink.pieces, sink.ended) == (["4 length"], "answer")


def test_a_late_step_does_not_delay_the_next_one():
    bench = Bench()
    _, sink = bench.submit(tokens=20)
    while not sink.times:
        bench.fire()
    bench.fire(late=0.03)
    bench.run()
    first = sink.times[0]
    assert sink.times[1] == pytest.approx(first + 0.05 + 0.03)
    assert sink.times[2] == pytest.approx(first + 0.10)
    assert sink.times[-1] == pytest.approx(first + 19 * 0.05)


def test_a_host_that_falls_far_behind_catches_up_step_by_step():
    bench = Bench()
    _, sink = bench.submit(tokens=10)
    while not sink.times:
        bench.fire()
    bench.fire(late=0.2)
    bench.run()
    assert sink.times[-1] == pytest.approx(sink.times[0] + 9 * 0.05)
    assert sum(second.late_steps for second in bench.engine.punctuality.seconds()) > 0


def test_a_scaled_service_makes_its_steps_as_much_faster():
    bench = Bench(scale=20.0)
    _, sink = bench.submit(tokens=11)
    bench.run()
    assert sink.times[-1] - sink.times[0] == pytest.approx(10 * 0.05 / 20)


def test_a_lone_request_waits_out_the_queue_delay():
    bench = Bench(max_queue_delay_microseconds=5000)
    one, _ = bench.submit()
    bench.run()
    assert one.reply.waited == pytest.approx(0.005)
    assert one.first_at == pytest.approx(one.arrived + 0.005 + 0.05)


def test_an_arrival_during_a_round_is_seen_at_its_end():
    bench = Bench()
    bench.submit(tokens=5)
    bench.fire()
    bench.fire()
    bench.host.now += 0.01
    late, _ = bench.submit(tokens=2)
    assert bench.engine.waiting == 1
    bench.run()
    assert late.sent == 2


def test_a_cut_stream_ends_early_and_leaves_the_scheduler():
    bench = Bench()
    _, sink = bench.submit(tokens=10, cut_after=4)
    bench.run()
    assert sink.pieces == [b"0;", b"1;", b"2;"]
    assert sink.ended == "cut"
    assert bench.scheduler.free_blocks == 500
    assert bench.engine.running == 0


def test_a_cancelled_stream_is_looked_at_every_200_ms():
    bench = Bench()
    one, sink = bench.submit(tokens=100)
    for _ in range(3):
        bench.fire()
    bench.engine.cancel(one)
    written = len(sink.pieces)
    assert bench.engine.running == 1
    bench.run()
    assert bench.engine.running == 0
    assert len(sink.pieces) == written
    assert bench.host.now - 100.0 <= 0.2 + 0.05


def test_a_request_cancelled_before_it_was_seen_is_never_run():
    bench = Bench()
    bench.submit(tokens=50)
    bench.fire()
    bench.fire()
    unseen, sink = bench.submit(tokens=5)
    bench.engine.cancel(unseen)
    bench.run()
    assert unseen.sent == 0
    assert sink.pieces == []


def test_a_request_that_could_never_be_served_is_not_taken():
    bench = Bench(blocks=3)
    with pytest.raises(UsageError):
        bench.submit(tokens=400, prompt=300)


def test_a_halted_engine_goes_on_where_it_was():
    bench = Bench()
    _, sink = bench.submit(tokens=5)
    bench.fire()
    bench.fire()
    bench.engine.halt()
    bench.fire()
    bench.host.now += 10.0
    assert len(sink.pieces) <= 1
    bench.engine.resume()
    bench.run()
    assert sink.ended == "end"
    assert sink.times[-1] - sink.times[-2] == pytest.approx(0.05)


def test_the_lag_is_what_the_running_step_is_overdue_in_seconds_of_the_host():
    bench = Bench(scale=20.0)
    _, sink = bench.submit(tokens=50)
    while not sink.times:
        bench.fire()
    assert bench.engine.lag == 0.0
    bench.host.now = bench.timer.moment + 1.5
    assert bench.engine.lag == pytest.approx(1.5)
    bench.engine.step()
    bench.run()
    assert bench.engine.lag == 0.0


def test_counts_agree_with_what_was_written():
    bench = Bench()
    sinks = [bench.submit(tokens=tokens)[1] for tokens in (3, 5, 7)]
    bench.run()
    tally = bench.engine.tally
    assert tally.generated_tokens == 15
    assert tally.succeeded == 3
    assert sum(len(sink.pieces) for sink in sinks) == 15
    assert tally.ttft.histogram().count == 3


@settings(max_examples=40, deadline=None)
@given(
    lengths=some.lists(some.integers(1, 60), min_size=1, max_size=12),
    blocks=some.integers(12, 40),
    late=some.lists(some.floats(0, 0.3), min_size=1, max_size=8),
)
def test_every_request_gets_exactly_its_tokens_whatever_the_blocks_and_the_delays(lengths, blocks, late):
    bench = Bench(blocks=blocks, max_batch_size=8, max_prefill_batch_size=4)
    given_streams = [bench.submit(tokens=tokens, prompt=200) for tokens in lengths]
    for turn in range(20_000):
        if bench.timer.moment is None:
            break
        bench.fire(late=late[turn % len(late)])
    assert [one.sent for one, _ in given_streams] == lengths
    assert all(sink.ended == "end" for _, sink in given_streams)
    assert bench.scheduler.free_blocks == blocks
