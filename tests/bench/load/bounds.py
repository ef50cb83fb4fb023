"""Bounds: what the figures of the load bench have to keep."""

import math
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Bound:
    """Of one figure; both ends included."""

    figure: str
    least: float = -math.inf
    most: float = math.inf


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """One bound held against the median of the runs."""

    kept: bool
    text: str


def _counted() -> tuple[Bound, ...]:
    missed = (f"{what}_missed_{size}" for what in ("events", "tokens") for size in (1, 4, 8))
    gaps = tuple(Bound(figure=f"gap_over_tpot_{n}", least=0.95 * n, most=1.1 * n) for n in (1, 4, 8))
    return (*(Bound(figure=name, least=0, most=0) for name in missed), *gaps)


BOUNDS: Mapping[str, tuple[Bound, ...]] = {
    "decisive": (
        Bound(figure="cpu_seconds_a_million_events", most=14),
        Bound(figure="ttft_mean_error_ms", least=-3, most=3),
        Bound(figure="gap_p99_error_ms", least=-2, most=2),
        Bound(figure="peak_mib", most=60),
        Bound(figure="first_request_seconds", most=0.5),
    ),
    "counted": _counted(),
    "short": (Bound(figure="requests_a_second", least=10_000),),
    "closing": (
        Bound(figure="completed", least=60_000, most=60_000),
        Bound(figure="failed", least=0, most=0),
    ),
    "steady": (Bound(figure="steady_error", least=-0.02, most=0.02),),
    "ladder": (Bound(figure="highest_on_time", least=60_000),),
    "beside": (
        Bound(figure="own CPU s/M events", most=14),
        Bound(figure="own gap p99 error ms", least=-2, most=2),
        Bound(figure="own TTFT mean error ms", least=-3, most=3),
        Bound(figure="own PSS MiB", most=60),
        Bound(figure="own start s", most=0.5),
        Bound(figure="own tokens missed", least=0, most=0),
        Bound(figure="best-peer times our CPU", least=2.4),
    ),
}


def verdicts(test: str, medians: Mapping[str, float]) -> list[Verdict]:
    """One a bound; a figure that was not measured keeps none, but the one that needs a peer is left out."""
    return [_judged(bound, medians.get(bound.figure)) for bound in BOUNDS[test] if _wanted(bound, medians)]


def _wanted(bound: Bound, medians: Mapping[str, float]) -> bool:
    return bound.figure in medians or not bound.figure.startswith("best-peer")


def _judged(bound: Bound, value: float | None) -> Verdict:
    kept = value is not None and bound.least <= value <= bound.most
    ends = {
        (False, True): f"at most {bound.most:g}",
        (True, False): f"at least {bound.least:g}",
        (True, True): f"{bound.least:g} to {bound.most:g}",
    }[math.isfinite(bound.least), math.isfinite(bound.most)]
    seen = "not measured" if value is None else f"{value:.4g}"
    return Verdict(kept=kept, text=f"{'kept  ' if kept else 'MISSED'} {bound.figure}: {seen}, {ends}")
