"""Bounds of the scheduling fields by MindIE's version and by chip.

Sources: MindIE service parameter documentation of each version; public source of MindIE-LLM
(maxBatchSize rose from 5000 to 819200 in March 2026, with 3.0).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum, unique
from typing import Final

from autotune.errors import UsageError
from autotune.mindie_rules.fields import Field


@unique
class Stage(IntEnum):
    """How far a version is, in their order."""

    TRIAL = 0
    CANDIDATE = 1
    FINAL = 2


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Version:
    """A version of MindIE, ordered: 1.0.RC3 < 1.0.0 < 2.0.T3 < 2.0.RC1 < 2.3.0 < 3.0."""

    major: int
    minor: int
    stage: Stage = Stage.FINAL
    number: int = 0


_VERSION = re.compile(r"(\d{1,9})\.(\d{1,9})(?:\.(T|RC|B)?(\d{1,9}))?", re.IGNORECASE)
_STAGES: Final[Mapping[str, Stage]] = {"T": Stage.TRIAL, "B": Stage.TRIAL, "RC": Stage.CANDIDATE}


def parse_version(text: str) -> Version | None:
    """The first version in the text, as in `2.0.T3` or `mindie_1.0.RC3`; None when there is none."""
    found = _VERSION.search(text)
    if found is None:
        return None
    stage = _STAGES.get((found[3] or "").upper(), Stage.FINAL)
    return Version(major=int(found[1]), minor=int(found[2]), stage=stage, number=int(found[4] or 0))


@dataclass(frozen=True, kw_only=True, slots=True)
class Bounds:
    """Smallest and largest value that the service takes."""

    low: int
    high: int

    def holds(self, value: int) -> bool:
        """Whether the value lies within."""
        return self.low <= value <= self.high

    def clamp(self, value: int) -> int:
        """The nearest value within."""
        return min(max(value, self.low), self.high)


_V3 = Version(major=3, minor=0, stage=Stage.TRIAL)
_V2_1 = Version(major=2, minor=1, stage=Stage.TRIAL)
_V1_RC2 = Version(major=1, minor=0, stage=Stage.CANDIDATE, number=2)

BATCH_HIGH: Final = 819200
"""maxBatchSize from 3.0 on."""
BATCH_HIGH_BEFORE_V3: Final = 5000
BATCH_HIGH_300I_DUO: Final = 2000
LINKS_HIGH: Final = 4096
LINKS_HIGH_BEFORE_V2_1: Final = 1000
LINKS_HIGH_RC1: Final = 300
"""RC2's own default is 1000."""
TOKENS_HIGH: Final = 4194304

_FIXED: Final[Mapping[Field, Bounds]] = {
    Field.MAX_PREFILL_BATCH_SIZE: Bounds(low=1, high=BATCH_HIGH),
    Field.MAX_PREFILL_TOKENS: Bounds(low=1, high=TOKENS_HIGH),
    Field.PREFILL_TIME_MS_PER_REQ: Bounds(low=0, high=1000),
    Field.DECODE_TIME_MS_PER_REQ: Bounds(low=0, high=1000),
    Field.MAX_QUEUE_DELAY_MICROSECONDS: Bounds(low=500, high=1000000),
    Field.MAX_FIRST_TOKEN_WAIT_TIME: Bounds(low=0, high=3600000),
    Field.CACHE_BLOCK_SIZE: Bounds(low=1, high=128),
    Field.PORT: Bounds(low=1024, high=65535),
    Field.MANAGEMENT_PORT: Bounds(low=1024, high=65535),
    Field.METRICS_PORT: Bounds(low=1024, high=65535),
    Field.TOKEN_TIMEOUT: Bounds(low=1, high=3600),
    Field.E2E_TIMEOUT: Bounds(low=1, high=65535),
}


def batch_bounds(version: str = "", chip: str = "") -> Bounds:
    """Bounds of maxBatchSize. An unknown version is taken for one before 3.0, the narrower one."""
    known = parse_version(version)
    high = BATCH_HIGH if known is not None and known >= _V3 else BATCH_HIGH_BEFORE_V3
    if "310P" in chip.upper() or "300I" in chip.upper():
        high = min(high, BATCH_HIGH_300I_DUO)
    return Bounds(low=1, high=high)


def link_bounds(version: str = "") -> Bounds:
    """Bounds of maxLinkNum. An unknown version is taken for one of 2.1 or later."""
    known = parse_version(version)
    if known is None or known >= _V2_1:
        return Bounds(low=1, high=LINKS_HIGH)
    return Bounds(low=1, high=LINKS_HIGH_RC1 if known < _V1_RC2 else LINKS_HIGH_BEFORE_V2_1)


def bounds_of(field: Field, version: str = "", chip: str = "") -> Bounds:
    """Bounds of a numeric field by itself; what hangs on other fields is for the checks.

    Raises UsageError for a field that has none.
    """
    if field is Field.MAX_BATCH_SIZE:
        return batch_bounds(version, chip)
    if field is Field.MAX_LINK_NUM:
        return link_bounds(version)
    if field not in _FIXED:
        raise UsageError(f"{field.value} has no bounds")
    return _FIXED[field]
