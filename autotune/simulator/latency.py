"""Latencies of a simulated run, as the distributions of a measurement."""

from collections.abc import Sequence as Values

from autotune.model.measurement import Distribution
from autotune.simulator.sequence import Sequence
from autotune.units import MILLISECONDS_PER_SECOND

_LEAST_FOR_P99 = 100


def distribution_ms(seconds: Values[float], weights: Values[int] | None = None) -> Distribution:
    """Mean and percentiles in milliseconds of samples in seconds, each counted `weights` times."""
    if not seconds:
        return Distribution()
    counts = weights if weights is not None else [1] * len(seconds)
    pairs = sorted(zip(seconds, counts, strict=True))
    total = sum(counts)
    mean = sum(value * count for value, count in pairs) / total
    levels = {"p50": 0.5, "p75": 0.75, "p90": 0.9}
    if total >= _LEAST_FOR_P99:
        levels["p99"] = 0.99
    found = {name: _percentile(pairs, share * total) for name, share in levels.items()}
    scaled = {name: value * MILLISECONDS_PER_SECOND for name, value in found.items()}
    return Distribution(mean=mean * MILLISECONDS_PER_SECOND, **scaled)


def _percentile(pairs: Values[tuple[float, int]], rank: float) -> float:
    seen = 0
    for value, count in pairs:
        seen += count
        if seen >= rank:
            return value
    return pairs[-1][0]


def ttft_seconds(sequence: Sequence) -> float:
    """From arrival to the first token; queueing included."""
    assert sequence.first_token is not None
    return sequence.first_token - sequence.arrived


def e2e_seconds(sequence: Sequence) -> float:
    """From arrival to the last token."""
    assert sequence.finished is not None
    return sequence.finished - sequence.arrived


def tpot_seconds(sequence: Sequence) -> float:
    """Mean time of the tokens after the first; the sequence must have two or more."""
    return (e2e_seconds(sequence) - ttft_seconds(sequence)) / (sequence.output_tokens - 1)
