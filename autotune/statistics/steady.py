"""Steady state: how much of the beginning of a series must be dropped, by MSER-5."""

from collections.abc import Sequence

_GROUP = 5
_FEWEST = 2


def mser5(values: Sequence[float]) -> int:
    """Number of leading values to drop so that the rest has the smallest marginal standard error.

    MSER-5 (White, 1997): means of five values each; the cut d minimises
    sum((x - mean)^2) / (n - d)^2 over the rest, and at most the first half is dropped.
    """
    groups = len(values) // _GROUP
    total = squares = 0.0
    best_cut, best_error = 0, float("inf")
    center = sum(values) / len(values) if values else 0.0
    for cut in range(groups - 1, -1, -1):
        mean = sum(values[cut * _GROUP : (cut + 1) * _GROUP]) / _GROUP - center
        total += mean
        squares += mean * mean
        rest = groups - cut
        if 2 * cut > groups or rest < _FEWEST:
            continue
        error = max(0.0, squares - total * total / rest) / rest**2
        if error <= best_error:
            best_cut, best_error = cut, error
    return best_cut * _GROUP
