"""Shares of requests: is a percentile, a goodput or an error limit kept, and how surely (binomial)."""

import math
from enum import Enum, unique


@unique
class Judgement(Enum):
    """Whether a limit is kept."""

    KEPT = "kept"
    BROKEN = "broken"
    OPEN = "open"
    """The requests seen so far say neither with the wanted confidence."""


def highest_share(violations: int, requests: int, *, confidence: float = 0.99) -> float:
    """One-sided upper bound of a share of which `violations` in `requests` were seen.

    Clopper and Pearson (1934): exact, so never surer than stated. Raises ValueError for impossible counts.
    """
    _check(violations, requests)
    if violations == requests:
        return 1.0
    return _beta_quantile(confidence, violations + 1.0, float(requests - violations))


def lowest_share(violations: int, requests: int, *, confidence: float = 0.99) -> float:
    """One-sided lower bound of the same share. Raises ValueError for impossible counts."""
    _check(violations, requests)
    if violations == 0:
        return 0.0
    return _beta_quantile(1.0 - confidence, float(violations), requests - violations + 1.0)


def fewest_requests(allowed: float, *, confidence: float = 0.99) -> int:
    """Requests without one violation that prove a share below `allowed`.

    459 for a 99th percentile at 99 %: 0.99 ** 459 < 0.01. Raises ValueError unless 0 < allowed < 1.
    """
    if not 0.0 < allowed < 1.0 or not 0.0 < confidence < 1.0:
        raise ValueError("allowed and confidence must lie between 0 and 1")
    return math.ceil(math.log(1.0 - confidence) / math.log(1.0 - allowed))


def judge_share(violations: int, requests: int, allowed: float, *, confidence: float = 0.99) -> Judgement:
    """Whether the share of violations is surely at most `allowed`, surely above it, or open."""
    if requests == 0:
        return Judgement.OPEN
    if highest_share(violations, requests, confidence=confidence) <= allowed:
        return Judgement.KEPT
    if lowest_share(violations, requests, confidence=confidence) > allowed:
        return Judgement.BROKEN
    return Judgement.OPEN


def judge_mean(value: float, error: float, bound: float, *, quantile: float = 1.645) -> Judgement:
    """Whether a positive mean is surely at most `bound`; `error` is its standard error as a fraction.

    `quantile` is the normal one of the one-sided confidence, 1.645 for 95 %.
    """
    if value * (1.0 + quantile * error) <= bound:
        return Judgement.KEPT
    return Judgement.BROKEN if value * (1.0 - quantile * error) > bound else Judgement.OPEN


def _check(violations: int, requests: int) -> None:
    if requests < 1 or not 0 <= violations <= requests:
        raise ValueError(f"{violations} violations among {requests} requests are impossible")


def _beta_quantile(p: float, a: float, b: float) -> float:
    from scipy.special import betaincinv

    return float(betaincinv(a, b, p))
