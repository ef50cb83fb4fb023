"""The numbers of the stand-in benchmark, computed as the vendor's tool computes them."""

from collections.abc import Callable, Sequence

from autotune.emulator.benchmark_client import Answer, Sent
from autotune.emulator.benchmark_flags import Flags
from autotune.mindie_rules.benchmark_output import BenchmarkRun, CommonMetrics, Row, Statistics


def summary(flags: Flags, sent: Sent, current_time: str) -> BenchmarkRun:
    """Both tables of a run."""
    return BenchmarkRun(performance=_performance(sent.answers), common=_common(flags, sent, current_time))


def _performance(answers: Sequence[Answer]) -> dict[Row, Statistics]:
    rows: dict[Row, Callable[[Answer], Sequence[float]]] = {
        Row.FIRST_TOKEN_TIME: lambda answer: [answer.prefill_ms],
        Row.DECODE_TIME: lambda answer: answer.decode_ms,
        Row.LAST_DECODE_TIME: lambda answer: answer.decode_ms[-1:],
        Row.MAX_DECODE_TIME: lambda answer: [max(answer.decode_ms)] if answer.decode_ms else [],
        Row.GENERATE_TIME: lambda answer: [answer.total_ms],
        Row.INPUT_TOKENS: lambda answer: [answer.prompt_tokens],
        Row.GENERATED_TOKENS: lambda answer: [answer.tokens],
        Row.GENERATED_TOKEN_SPEED: lambda answer: [1000 * answer.tokens / max(answer.total_ms, 1e-9)],
        Row.GENERATED_CHARACTERS: lambda answer: [len(answer.text)],
        Row.CHARACTERS_PER_TOKEN: lambda answer: [len(answer.text) / answer.tokens],
        Row.PREFILL_BATCH_SIZE: lambda answer: answer.batches[:1],
        Row.DECODER_BATCH_SIZE: lambda answer: answer.batches[1:],
        Row.QUEUE_WAIT_TIME: lambda answer: answer.waits_us,
    }
    return {row: _statistics([list(values(answer)) for answer in answers]) for row, values in rows.items()}


def _statistics(requests: Sequence[list[float]]) -> Statistics:
    """Statistics over all values; slo_p90 over the means of the requests. Zeros when there are none."""
    values = sorted(value for request in requests for value in request)
    if not values:
        return Statistics(
            average=0.0, maximum=0.0, minimum=0.0, p75=0.0, p90=0.0, slo_p90=0.0, p99=0.0, count=0
        )
    means = sorted(sum(request) / len(request) for request in requests if request)
    return Statistics(
        average=sum(values) / len(values),
        maximum=values[-1],
        minimum=values[0],
        p75=_percentile(values, 0.75),
        p90=_percentile(values, 0.90),
        slo_p90=_percentile(means, 0.90),
        p99=_percentile(values, 0.99),
        count=len(requests),
    )


def _percentile(values: Sequence[float], share: float) -> float:
    """Linear between the two nearest, as numpy does it."""
    place = share * (len(values) - 1)
    below = int(place)
    above = min(below + 1, len(values) - 1)
    return values[below] + (values[above] - values[below]) * (place - below)


def _common(flags: Flags, sent: Sent, current_time: str) -> CommonMetrics:
    answers = sent.answers
    seconds = sent.seconds if answers else 0.0
    generated = sum(answer.tokens for answer in answers)
    prompted = sum(answer.prompt_tokens for answer in answers)

    def rate(count: float) -> float:
        return count / seconds if seconds else 0.0

    first = sum(answer.prefill_ms for answer in answers)
    return CommonMetrics(
        current_time=current_time,
        seconds=seconds,
        data_source=flags.dataset_path,
        failed=sent.total - len(answers),
        returned=len(answers),
        total=sent.total,
        concurrency=flags.concurrency,
        model_name=flags.model_name,
        prompt_ms_per_token=first / prompted if prompted else 0.0,
        requests_per_second=rate(len(answers)),
        output_tokens_per_second=rate(generated),
        input_tokens_per_second=rate(prompted),
        total_tokens_per_second=rate(generated + prompted),
        output_tokens_per_second_per_client=rate(generated) / flags.concurrency,
    )
