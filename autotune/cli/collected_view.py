"""Collected view: many hosts' reports as one table on the terminal."""

from autotune.cli.rows import rate
from autotune.cli.text_table import text_table
from autotune.report.collected import Collection, HostReport, Side
from autotune.report.figures import moment

TITLES = (
    "host",
    "verdict",
    "batch",
    "found token/s",
    "best token/s",
    "gain",
    "vs others",
    "profile",
    "model",
    "ended",
)
RIGHT = frozenset({2, 3, 4, 5, 6})


def collected_lines(collection: Collection, *, width: int | None) -> list[str]:
    """A row a host, then what could not be read."""
    rows = [_row(report, collection.against_others(report)) for report in collection.hosts]
    lines = list(text_table(TITLES, rows, right=RIGHT, width=width)) if rows else []
    return lines + [f"not read: {each.path}: {each.reason}" for each in collection.unread]


def _row(report: HostReport, against: float | None) -> tuple[str, ...]:
    found, best = report.incumbent, report.best
    return (
        report.host + (" (emulated)" if report.emulated else ""),
        report.verdict.replace("_", " "),
        _batches(found, best),
        _rate(found),
        _rate(best),
        _percent(report.gain),
        _percent(against),
        report.profile,
        report.model,
        moment(report.ended).removesuffix(" UTC"),
    )


def _batches(found: Side | None, best: Side | None) -> str:
    values = list(dict.fromkeys(side.max_batch_size for side in (found, best) if side))
    return " -> ".join(map(str, values)) or "-"


def _rate(side: Side | None) -> str:
    return rate(side.tokens_per_second, side.half_width) if side else "-"


def _percent(fraction: float | None) -> str:
    return "" if fraction is None else f"{round(100 * fraction, 1) + 0.0:+.1f} %"
