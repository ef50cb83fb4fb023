"""History: stored runs by fingerprint, the band of what the same setting read before, and what may go.

Only runs of one fingerprint (engine, versions, model, workload, kind of host) may be compared; a change of
any of these starts a history of its own.
"""

import hashlib
import json
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

import yaml

from autotune.model.campaign import Reading
from autotune.model.move import VerdictCode
from autotune.model.service import Fact
from autotune.model.settings import Settings
from autotune.store.study import StoredRun

PROFILE_PARTS = ("model", "workload", "objective")
"""Sections of a profile that decide what a reading means."""
_WHERE = frozenset({"addresses", "address", "daemon", "config_mode", "probing_start", "PATH"})
"""Facts of a description that say where the service is and how it was got hold of; readings don't depend on
them."""
GOOD = frozenset({VerdictCode.IMPROVED, VerdictCode.INCUMBENT_BEST, VerdictCode.EQUAL_SMALLER})
SPREADS = 3.0
SIGMAS_PER_MAD = 1.4826
"""Median absolute deviation of a normal distribution -> its standard deviation."""
FEWEST_READINGS = 3
NARROWEST = 0.01
"""A band is at least so wide to each side, as a fraction: launches of one setting differ by about that."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Trend:
    """Where a setting's readings lay, oldest first, and where the next one should lie."""

    tokens_per_second: tuple[float, ...]
    median: float
    low: float
    high: float

    def is_drift(self, reading: float) -> bool:
        """Whether a new reading lies outside the band."""
        return not self.low <= reading <= self.high


@dataclass(frozen=True, kw_only=True, slots=True)
class Lineage:
    """All runs of one fingerprint, oldest first."""

    fingerprint: str
    runs: tuple[StoredRun, ...]

    @property
    def best(self) -> tuple[float, ...]:
        """Tokens a second of what each finished run recommended, for a sparkline."""
        readings = (run.verdict.best for run in self.runs if run.verdict)
        return tuple(reading.tokens_per_second for reading in readings if reading)

    @property
    def last_good(self) -> StoredRun | None:
        """The newest run that ended with a valid verdict and left no damage."""
        return next((run for run in reversed(self.runs) if is_good(run)), None)

    def trend(self, settings: Settings, *, last: int = 20) -> Trend | None:
        """The band of the last readings of `settings` as incumbent or winner; None with fewer than three."""
        found = [reading.tokens_per_second for run in self.runs for reading in _readings(run, settings)]
        if len(found) < FEWEST_READINGS:
            return None
        return _trend(tuple(found[-last:]))


def fingerprint(run: StoredRun, *, facts: Collection[str] = ()) -> str:
    """Twelve hex digits that two runs share when their readings may be compared.

    `facts` names the environment facts that count too, such as driver version and NPU names.
    """
    about = run.description
    found = [fact for fact in about.facts if fact.name not in _WHERE]
    parts: dict[str, Any] = {
        "kind": about.kind,
        "version": about.version,
        "model_name": about.model_name,
        "block_size": about.block_size,
        "max_link_num": about.max_link_num,
        "emulated": about.emulated,
        "time_scale": about.time_scale,
        "rehearsed": run.rehearsed,
        "facts": [asdict(fact) for fact in (*found, *_chosen(run.environment, facts))],
        "profile": _profile_parts(run.profile_text),
    }
    text = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def lineages(runs: Iterable[StoredRun], *, facts: Collection[str] = ()) -> tuple[Lineage, ...]:
    """Runs by fingerprint, the lineage with the newest run first."""
    groups: dict[str, list[StoredRun]] = {}
    for run in sorted(runs, key=lambda entry: entry.started_wall):
        groups.setdefault(fingerprint(run, facts=facts), []).append(run)
    found = [Lineage(fingerprint=name, runs=tuple(members)) for name, members in groups.items()]
    return tuple(sorted(found, key=lambda lineage: -lineage.runs[-1].started_wall))


def is_good(run: StoredRun) -> bool:
    """Whether a run can be gone back to."""
    return run.verdict is not None and run.verdict.code in GOOD and (run.restored or run.applied)


def expired(
    runs: Iterable[StoredRun],
    *,
    keep: int,
    started_before: float = float("inf"),
    facts: Collection[str] = (),
) -> tuple[StoredRun, ...]:
    """Runs that may be deleted: beyond the newest `keep` of their lineage and started before a moment.

    Never among them: the last known good run of a lineage, the last one that was applied, and runs without
    a verdict, which can still be resumed.
    """
    gone: list[StoredRun] = []
    for lineage in lineages(runs, facts=facts):
        older = lineage.runs[: max(0, len(lineage.runs) - keep)]
        kept = {run.run for run in (lineage.last_good, _last_applied(lineage)) if run}
        gone += [
            run for run in older if run.verdict and run.run not in kept and run.started_wall < started_before
        ]
    return tuple(gone)


def _last_applied(lineage: Lineage) -> StoredRun | None:
    return next((run for run in reversed(lineage.runs) if run.applied), None)


def _readings(run: StoredRun, settings: Settings) -> list[Reading]:
    if run.verdict is None:
        return []
    sides = {id(side): side for side in (run.verdict.incumbent, run.verdict.best) if side}
    found = [side for side in sides.values() if side.settings == settings]
    return found[:1]


def _trend(readings: tuple[float, ...]) -> Trend:
    middle = median(readings)
    deviation = median(abs(reading - middle) for reading in readings)
    reach = max(SPREADS * SIGMAS_PER_MAD * deviation, NARROWEST * middle)
    return Trend(tokens_per_second=readings, median=middle, low=middle - reach, high=middle + reach)


def _chosen(facts: tuple[Fact, ...], names: Collection[str]) -> tuple[Fact, ...]:
    return tuple(sorted((fact for fact in facts if fact.name in names), key=lambda fact: fact.name))


def _profile_parts(text: str) -> dict[str, Any]:
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError:
        return {"text": text}
    if not isinstance(document, dict):
        return {"text": text}
    return {name: document.get(name) for name in PROFILE_PARTS}
