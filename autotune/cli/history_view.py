"""History view: stored runs by fingerprint, each with its trend, as a table or as JSON."""

from datetime import datetime, timezone

from autotune.cli.rows import rate
from autotune.cli.text_table import text_table
from autotune.report.figures import moment
from autotune.report.knob_names import engine_text
from autotune.report.safe_text import one_line
from autotune.report.sparkline import sparkline
from autotune.store.history import Lineage, Trend
from autotune.store.study import StoredRun

SCHEMA_VERSION = 1
TITLES = ("run", "verdict", "batch", "token/s ± 95 %", "gain", "started", "launches", "")
LEAST_SPAN = 0.1
"""Readings that differ by less than this fraction do not fill the height of a sparkline."""
RIGHT = frozenset({2, 3, 4, 6})


def history_lines(lineages: tuple[Lineage, ...], *, width: int | None, ascii_only: bool = False) -> list[str]:
    """A paragraph for each fingerprint: what was tuned, its sparkline and band, then its runs."""
    lines: list[str] = []
    for lineage in lineages:
        lines += ["", *_heading(lineage, ascii_only=ascii_only)]
        lines += [f"  {line}" for line in _runs(lineage, width)]
    return lines[1:]


def history_document(lineages: tuple[Lineage, ...]) -> dict[str, object]:
    """The same for programs; all runs are oldest first."""
    pairs = [(run, lineage.fingerprint) for lineage in lineages for run in lineage.runs]
    ordered = sorted(pairs, key=lambda pair: (pair[0].started_wall, pair[0].run))
    return {
        "schema_version": SCHEMA_VERSION,
        "runs": [_run_document(run, fingerprint) for run, fingerprint in ordered],
        "lineages": [_lineage_document(lineage) for lineage in lineages],
    }


def trend_of(lineage: Lineage) -> Trend | None:
    """The band of the setting that the newest finished run recommends; None with too few readings."""
    finished = [run for run in lineage.runs if run.verdict and run.verdict.best]
    if not finished:
        return None
    verdict = finished[-1].verdict
    return lineage.trend(verdict.best.settings) if verdict and verdict.best else None


def drifted(lineage: Lineage) -> bool:
    """Whether the newest reading lies outside the band of those before it."""
    trend = trend_of(lineage)
    if trend is None or len(lineage.runs) < 2:  # noqa: PLR2004 - one run has nothing before it
        return False
    verdict = lineage.runs[-1].verdict
    before = Lineage(fingerprint=lineage.fingerprint, runs=lineage.runs[:-1])
    if verdict is None or verdict.best is None:
        return False
    band = before.trend(verdict.best.settings)
    return band is not None and band.is_drift(verdict.best.tokens_per_second)


def _heading(lineage: Lineage, *, ascii_only: bool) -> tuple[str, str]:
    about, newest = lineage.runs[-1].description, lineage.runs[-1]
    engine = engine_text(about.kind, about.version)
    parts = [lineage.fingerprint, one_line(newest.profile_name), engine, one_line(about.model_name)]
    parts += ["emulated"] if about.emulated else []
    parts += ["rehearsed"] if newest.rehearsed else []
    trend, line = trend_of(lineage), sparkline(lineage.best, ascii_only=ascii_only, least_span=LEAST_SPAN)
    told = f"{len(lineage.runs)} {'run' if len(lineage.runs) == 1 else 'runs'}"
    if trend is not None:
        told += f", band {trend.low:,.1f} to {trend.high:,.1f} token/s"
        told += ", DRIFTED" if drifted(lineage) else ", holds"
    return "  ".join(parts), f"  {line}{'  ' if line else ''}{told}"


def _runs(lineage: Lineage, width: int | None) -> tuple[str, ...]:
    rows = [_row(run) for run in lineage.runs]
    room = None if width is None else width - 2
    return text_table(TITLES, rows, right=RIGHT, width=room)


def _row(run: StoredRun) -> tuple[str, ...]:
    verdict = run.verdict
    best, gain = (verdict.best, verdict.gain) if verdict else (None, None)
    found = run.description.incumbent.max_batch_size
    new = best.settings.max_batch_size if best else found
    return (
        one_line(run.run),
        verdict.code.value.replace("_", " ") if verdict else "unfinished",
        str(found) if new == found else f"{found} -> {new}",
        rate(best.tokens_per_second, best.half_width) if best else "-",
        f"{100 * gain:+.1f} %" if gain is not None else "",
        moment(run.started_wall).removesuffix(" UTC"),
        str(run.launches),
        "applied" if run.applied else "" if run.restored else "NOT RESTORED" if verdict else "",
    )


def _run_document(run: StoredRun, fingerprint: str) -> dict[str, object]:
    best = run.verdict.best if run.verdict else None
    started = datetime.fromtimestamp(run.started_wall, tz=timezone.utc)
    return {
        "run": run.run,
        "profile": run.profile_name,
        "fingerprint": fingerprint,
        "started": started.astimezone().isoformat(timespec="seconds"),
        "verdict": run.verdict.code.value if run.verdict else None,
        "settings": best.settings.as_dict() if best else None,
        "tokens_per_second": best.tokens_per_second if best else None,
        "half_width": best.half_width if best else None,
        "gain": run.verdict.gain if run.verdict else None,
        "launches": run.launches,
        "applied": run.applied,
        "restored": run.restored,
        "emulated": run.description.emulated or run.rehearsed,
    }


def _lineage_document(lineage: Lineage) -> dict[str, object]:
    about, trend = lineage.runs[-1].description, trend_of(lineage)
    return {
        "fingerprint": lineage.fingerprint,
        "engine": about.kind,
        "version": about.version,
        "model": about.model_name,
        "runs": [run.run for run in lineage.runs],
        "tokens_per_second": list(lineage.best),
        "trend": {"median": trend.median, "low": trend.low, "high": trend.high} if trend else None,
        "drifted": drifted(lineage),
    }
