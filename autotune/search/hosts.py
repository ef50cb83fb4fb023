"""Host differences: how much faster one host of a fleet is than another, from settings that both measured."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from autotune.model.launch import LaunchRecord, Outcome, Purpose
from autotune.model.measurement import Level, Measurement
from autotune.model.settings import Settings
from autotune.search.evidence import reading_of
from autotune.statistics.drift import PRIOR_DOF, PRIOR_SPREAD
from autotune.statistics.student import t_quantile

CONFIDENCE = 0.95


@dataclass(frozen=True, kw_only=True, slots=True)
class HostDifference:
    """One host against the reference host."""

    host: str
    against: str
    change: float
    """Fraction; negative is slower."""
    half_width: float
    """Half of the 95 % interval, a fraction."""
    shared: int
    """Settings that this host measured and another one too."""

    @property
    def sure(self) -> bool:
        """It is more than chance."""
        return abs(self.change) > self.half_width

    def __str__(self) -> str:
        word = "" if self.sure else ", not more than chance"
        return (
            f"{self.change:+.1%} ± {self.half_width:.1%} against {self.against} "
            f"({self.shared} shared settings{word})"
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Row:
    host: str
    settings: Settings
    log_speed: float


def host_differences(launches: Sequence[LaunchRecord], *, concurrency: int) -> tuple[HostDifference, ...]:
    """Least squares of log speed = setting + host; hosts that share no setting with others are left out.

    The residual spread is pooled with the stated prior of launch-to-launch spread.
    """
    rows = _connected([row for launch in launches if (row := _row(launch, concurrency)) is not None])
    hosts = sorted({row.host for row in rows}, key=lambda host: (-_count(rows, host), host))
    if len(hosts) < 2:  # noqa: PLR2004 - one host differs from none
        return ()
    return _solved(rows, hosts)


def corrected(
    launches: Sequence[LaunchRecord], differences: Sequence[HostDifference]
) -> tuple[LaunchRecord, ...]:
    """The launches as the reference host would have read them; only differences that are sure count."""
    factors = {each.host: 1.0 + each.change for each in differences if each.sure}
    return tuple(
        replace(launch, levels=tuple(_scaled(level, factors[launch.host]) for level in launch.levels))
        if launch.host in factors
        else launch
        for launch in launches
    )


def _solved(rows: list[_Row], hosts: list[str]) -> tuple[HostDifference, ...]:
    import numpy as np

    settings = list(dict.fromkeys(row.settings for row in rows))
    design = np.zeros((len(rows), len(settings) + len(hosts) - 1))
    for place, row in enumerate(rows):
        design[place, settings.index(row.settings)] = 1.0
        if row.host != hosts[0]:
            design[place, len(settings) + hosts.index(row.host) - 1] = 1.0
    speeds = np.array([row.log_speed for row in rows])
    solution, _, rank, _ = np.linalg.lstsq(design, speeds, rcond=None)
    left = float(((speeds - design @ solution) ** 2).sum())
    dof = PRIOR_DOF + len(rows) - int(rank)
    variance = (PRIOR_DOF * PRIOR_SPREAD**2 + left) / dof
    covariance = np.linalg.pinv(design.T @ design) * variance
    reach = t_quantile(0.5 + CONFIDENCE / 2.0, dof)
    found = []
    for place, host in enumerate(hosts[1:], start=len(settings)):
        error = math.sqrt(max(0.0, float(covariance[place, place])))
        change = math.expm1(float(solution[place]))
        shared = len({row.settings for row in rows if row.host == host and _is_shared(rows, row)})
        found.append(
            HostDifference(
                host=host, against=hosts[0], change=change, half_width=reach * error, shared=shared
            )
        )
    return tuple(found)


def _row(launch: LaunchRecord, concurrency: int) -> _Row | None:
    if launch.outcome is not Outcome.ENDED or launch.purpose is Purpose.SCOUT or not launch.host:
        return None
    reading = reading_of(launch, concurrency)
    if reading is None:
        return None
    return _Row(host=launch.host, settings=launch.settings, log_speed=math.log(reading.tokens_per_second))


def _connected(rows: list[_Row]) -> list[_Row]:
    """What hangs together with the host that measured most, by settings that hosts share."""
    if not rows:
        return []
    hosts = {max(sorted({row.host for row in rows}), key=lambda host: _count(rows, host))}
    while True:
        settings = {row.settings for row in rows if row.host in hosts}
        more = {row.host for row in rows if row.settings in settings}
        if more <= hosts:
            return [row for row in rows if row.host in hosts]
        hosts |= more


def _count(rows: list[_Row], host: str) -> int:
    return sum(row.host == host for row in rows)


def _is_shared(rows: list[_Row], row: _Row) -> bool:
    return any(other.settings == row.settings and other.host != row.host for other in rows)


def _scaled(level: Level, factor: float) -> Level:
    if not isinstance(level, Measurement):
        return level
    return replace(level, tokens_per_second=level.tokens_per_second / factor)
