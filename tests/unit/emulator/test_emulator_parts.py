"""Links, metrics, step times, and the numbers of the stand-in benchmark."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from autotune.emulator.benchmark_client import Answer, Sent, prompts_of
from autotune.emulator.benchmark_command import generation_of
from autotune.emulator.benchmark_flags import read_flags
from autotune.emulator.benchmark_numbers import summary
from autotune.emulator.default_config import known_version
from autotune.emulator.faults import Faults
from autotune.emulator.links import Links
from autotune.emulator.step_times import StepTimes
from autotune.emulator.tally import Tally
from autotune.errors import UsageError
from autotune.mindie_rules.benchmark_output import Generation, Row
from autotune.simulator.cost import StepCost
from autotune.simulator.noise import QUIET, Noise
from autotune.simulator.rounds import Round, RoundKind
from autotune.simulator.sequence import Sequence


class Client:
    def __init__(self):
        self.served = False

    def serve(self):
        self.served = True


@given(some.integers(1, 5), some.lists(some.integers(0, 20), max_size=60))
def test_never_more_work_than_workers_nor_wait_than_twice_as_many(limit, leaving):
    links = Links(limit)
    inside = []
    for turn, place in enumerate(leaving):
        client = Client()
        room = links.working + links.queued < 3 * limit
        assert links.admit(client) == room
        if room:
            inside.append(client)
        if turn % 3 == 2 and inside:
            links.release(inside.pop(place % len(inside)))
        assert links.working <= limit
        assert links.queued <= 2 * limit
        assert sum(one.served for one in inside) == links.working
        assert not links.queued or links.working == limit


def test_the_queue_is_first_in_first_out():
    links = Links(1)
    clients = [Client() for _ in range(3)]
    assert all(links.admit(client) for client in clients)
    links.release(clients[0])
    assert [client.served for client in clients] == [True, True, False]
    links.release(clients[2])
    links.release(clients[1])
    assert (links.working, links.queued) == (0, 0)


def test_buckets_hold_what_was_added():
    tally = Tally()
    for seconds in (0.0005, 0.03, 3.0, 100.0):
        tally.first_token(seconds)
    histogram = tally.ttft.histogram()
    assert histogram.count == 4
    assert histogram.total == pytest.approx(103.0305)
    assert histogram.counts[0] == 1
    assert histogram.counts[-1] == 1
    assert tally.mean_ttft_ms == pytest.approx(103.0305 / 4 * 1000)


COST = StepCost(decode_base=0.05, decode_per_sequence=0.0)
WORK = Round(RoundKind.DECODE, (Sequence(number=1, prompt_tokens=1, output_tokens=1),), 1, 1)


def times(faults=None, launch=2, noise=QUIET, seed=1):
    return StepTimes(COST, noise, seed=seed, launch=launch, faults=lambda: faults or Faults())


def test_without_noise_a_step_takes_its_cost():
    assert times().seconds(WORK, 0.0) == pytest.approx(0.05)


def test_noise_is_the_same_for_the_same_seed_and_launch():
    one, two = times(noise=Noise(step=0.05)), times(noise=Noise(step=0.05))
    assert [one.seconds(WORK, 0.0) for _ in range(5)] == [two.seconds(WORK, 0.0) for _ in range(5)]
    other = times(noise=Noise(step=0.05), launch=3)
    assert other.seconds(WORK, 0.0) != times(noise=Noise(step=0.05)).seconds(WORK, 0.0)


def test_only_the_first_launch_is_cold():
    cold = Faults(cold_first_launch=1.5)
    assert times(cold, launch=1).seconds(WORK, 0.0) == pytest.approx(0.075)
    assert times(cold, launch=2).seconds(WORK, 0.0) == pytest.approx(0.05)


def test_launches_differ_by_their_noise_and_steps_get_slower_with_drift():
    factors = {times(Faults(launch_noise=0.02), launch=launch).seconds(WORK, 0.0) for launch in range(2, 9)}
    assert len(factors) == 7
    assert all(0.9 < seconds / 0.05 < 1.1 for seconds in factors)
    assert times(Faults(drift_per_hour=0.1)).seconds(WORK, 7200.0) == pytest.approx(0.06)


def test_outliers_come_at_their_rate():
    faults = Faults(outlier_rate=0.1, outlier_seconds=2.0)
    steps = times(faults)
    late = sum(steps.seconds(WORK, 0.0) > 1 for _ in range(2000))
    assert 140 <= late <= 260


# --- the stand-in benchmark


FLAGS = ["--ModelName", "m", "--ModelPath", "/m", "--DatasetType", "gsm8k"]


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["--ModelName"],
        FLAGS[:4],
        [*FLAGS[:5], "nothing"],
        [*FLAGS, "--Concurrency", "0"],
        [*FLAGS, "--Concurrency", "60001"],
        ["run", "x"],
    ],
)
def test_wrong_flags_are_refused(argv):
    with pytest.raises(UsageError):
        read_flags(argv)


def test_defaults_are_the_vendors():
    flags = read_flags(FLAGS)
    assert (flags.concurrency, flags.max_output_len, flags.warmup_size) == (128, 20, 10)
    assert flags.url == "https://127.0.0.1:1025"


def test_prompts_come_from_the_questions_of_a_folder_and_are_looped(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"question": "q1"}\n\n{"question": "q2"}\n', encoding="utf-8")
    flags = read_flags([*FLAGS, "--DatasetPath", str(tmp_path), "--RequestCount", "5"])
    assert prompts_of(flags) == ["q1", "q2", "q1", "q2", "q1"]


def answer(prefill, *decode):
    return Answer(
        prompt_tokens=10,
        prefill_ms=prefill,
        decode_ms=decode,
        batches=(2,) * (len(decode) + 1),
        waits_us=(50.0,) * (len(decode) + 1),
        text="abcd" * (len(decode) + 1),
    )


def test_speeds_are_tokens_over_the_whole_run():
    sent = Sent(answers=(answer(100.0, 20.0, 40.0), answer(300.0, 30.0)), total=3, seconds=2.0)
    run = summary(read_flags([*FLAGS, "--Concurrency", "4"]), sent, "2026-11-30 10:00:00")
    common = run.common
    assert (common.failed, common.returned, common.total) == (1, 2, 3)
    assert common.output_tokens_per_second == pytest.approx(2.5)
    assert common.total_tokens_per_second == pytest.approx(12.5)
    assert common.output_tokens_per_second_per_client == pytest.approx(2.5 / 4)
    assert common.prompt_ms_per_token == pytest.approx(400 / 20)
    assert run.performance[Row.FIRST_TOKEN_TIME].average == 200.0
    assert run.performance[Row.DECODE_TIME].average == 30.0
    assert run.performance[Row.DECODE_TIME].maximum == 40.0


def test_a_run_without_answers_has_zeros():
    run = summary(read_flags(FLAGS), Sent(answers=(), total=5, seconds=1.0), "now")
    assert run.common.output_tokens_per_second == 0.0
    assert run.performance[Row.FIRST_TOKEN_TIME].average == 0.0
    assert run.performance[Row.FIRST_TOKEN_TIME].count == 0


@pytest.mark.parametrize(
    ("version", "generation"),
    [
        ("1.0.RC2", Generation.RC2),
        ("1.0.0", Generation.V1),
        ("2.0.RC1", Generation.V1),
        ("2.2", Generation.V2),
    ],
)
def test_the_output_follows_the_version(version, generation):
    assert generation_of(known_version(version)) is generation
