"""Collected: the report.json of many hosts as one table; whatever is no report says why."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from autotune.report.document import SCHEMA_VERSION
from autotune.report.figures import over
from autotune.report.safe_text import one_line

REPORT = "report.json"
LARGEST_BYTES = 50_000_000
NAME = 60


class NoReport(ValueError):
    """A file that is no report; the text says why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Side:
    """A setting and what it read."""

    max_batch_size: int
    tokens_per_second: float
    half_width: float | None
    """None where the interval is endless."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HostReport:
    """What one host's report says."""

    host: str
    """Where its report lies below the collected directory."""
    run: str
    profile: str
    engine: str
    """Kind and version."""
    model: str
    verdict: str
    incumbent: Side | None
    best: Side | None
    gain: float | None
    emulated: bool
    """True for rehearsals too."""
    ended: float | None
    """Seconds since the epoch."""

    @property
    def group(self) -> tuple[str, str, str, bool]:
        """Reports of one group may be compared."""
        return self.profile, self.engine, self.model, self.emulated


@dataclass(frozen=True, kw_only=True, slots=True)
class Unread:
    """A file that could not be taken."""

    path: str
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Collection:
    """Everything that was found below one directory, by group and host."""

    hosts: tuple[HostReport, ...]
    unread: tuple[Unread, ...]

    def against_others(self, report: HostReport) -> float | None:
        """A host's best reading over the median of its group, minus 1; None for a group of one."""
        group = [other.best for other in self.hosts if other.group == report.group and other.best]
        if report.best is None or len(group) < 2:  # noqa: PLR2004 - nobody to compare with
            return None
        return over(report.best.tokens_per_second, median(side.tokens_per_second for side in group))


def collect(directory: Path) -> Collection:
    """Read every report.json below a directory. Raises OSError when the directory cannot be read."""
    hosts, unread = [], []
    for place in sorted(directory.rglob(REPORT)):
        name = one_line(str(place.relative_to(directory).parent), NAME)
        try:
            hosts.append(_read(place, name))
        except (NoReport, OSError, UnicodeDecodeError, RecursionError) as error:
            unread.append(
                Unread(path=one_line(str(place.relative_to(directory))), reason=one_line(str(error)))
            )
    return Collection(hosts=tuple(sorted(hosts, key=_order)), unread=tuple(unread))


def collected_document(collection: Collection) -> dict[str, object]:
    """The same for programs: fractions are fractions, moments seconds since the epoch."""
    hosts = [_host_document(report, collection.against_others(report)) for report in collection.hosts]
    unread = [{"path": each.path, "reason": each.reason} for each in collection.unread]
    return {"schema_version": SCHEMA_VERSION, "hosts": hosts, "unread": unread}


def collected_csv(collection: Collection) -> str:
    """The same for spreadsheets, a row a host."""
    import pandas as pd

    from autotune.report.safe_text import csv_cell

    rows = []
    for report in collection.hosts:
        flat = {**_host_document(report, collection.against_others(report))}
        flat |= _flat("incumbent", report.incumbent) | _flat("best", report.best)
        rows.append(
            {key: csv_cell(value) if isinstance(value, str) else value for key, value in flat.items()}
        )
    return pd.DataFrame(rows, dtype=object).to_csv(index=False, lineterminator="\n")


def _order(report: HostReport) -> tuple[tuple[str, str, str, bool], str]:
    return report.group, report.host


def _flat(name: str, side: Side | None) -> dict[str, object]:
    values = _side_document(side) or dict.fromkeys(("max_batch_size", "tokens_per_second", "half_width"))
    return {name: None} | {f"{name}_{key}": value for key, value in values.items()}


def _host_document(report: HostReport, against: float | None) -> dict[str, object]:
    return {
        "host": report.host,
        "run": report.run,
        "profile": report.profile,
        "engine": report.engine,
        "model": report.model,
        "verdict": report.verdict,
        "incumbent": _side_document(report.incumbent),
        "best": _side_document(report.best),
        "gain": report.gain,
        "against_others": against,
        "emulated": report.emulated,
        "ended": report.ended,
    }


def _side_document(side: Side | None) -> dict[str, object] | None:
    if side is None:
        return None
    return {
        "max_batch_size": side.max_batch_size,
        "tokens_per_second": side.tokens_per_second,
        "half_width": side.half_width,
    }


def _read(place: Path, name: str) -> HostReport:
    if place.stat().st_size > LARGEST_BYTES:
        raise NoReport("larger than a report ever is")
    try:
        document = json.loads(place.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise NoReport(f"no JSON: {error}") from error
    if not isinstance(document, dict) or document.get("schema_version") != SCHEMA_VERSION:
        raise NoReport(f"not a report of schema version {SCHEMA_VERSION}")
    engine, verdict = _object(document, "engine"), _object(document, "verdict")
    return HostReport(
        host=name,
        run=_text(document, "run"),
        profile=_text(document, "profile"),
        engine=f"{_text(engine, 'kind')} {_text(engine, 'version')}".strip(),
        model=_text(engine, "model_name"),
        verdict=_text(verdict, "code"),
        incumbent=_side(document.get("incumbent")),
        best=_side(document.get("best")),
        gain=_number(document.get("gain")),
        emulated=document.get("emulated") is True or document.get("rehearsed") is True,
        ended=_number(document.get("ended")),
    )


def _object(document: dict[str, Any], key: str) -> dict[str, Any]:
    value = document.get(key)
    if not isinstance(value, dict):
        raise NoReport(f"it has no {key}")
    return value


def _text(document: dict[str, Any], key: str) -> str:
    value = document.get(key)
    if not isinstance(value, str):
        raise NoReport(f"its {key} is no text")
    return one_line(value, NAME)


def _side(value: object) -> Side | None:
    if not isinstance(value, dict):
        return None
    settings, rate = value.get("settings"), _number(value.get("tokens_per_second"))
    batch = settings.get("max_batch_size") if isinstance(settings, dict) else None
    if not isinstance(batch, int) or isinstance(batch, bool) or rate is None:
        raise NoReport("a reading in it is not complete")
    return Side(max_batch_size=batch, tokens_per_second=rate, half_width=_number(value.get("half_width")))


def _number(value: object) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and abs(float(value)) < float("inf") else None  # type: ignore[arg-type]


def names(reports: Iterable[HostReport]) -> tuple[str, ...]:
    """Host names that tell reports of different profiles on one host apart."""
    shown = list(reports)
    several = len({report.profile for report in shown}) > 1
    return tuple(f"{report.host} · {report.profile}" if several else report.host for report in shown)
