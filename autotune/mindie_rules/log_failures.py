"""Why a start failed, told from the lines of MindIE's logs and console: its class and the first lines."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from autotune.errors import LaunchCause
from autotune.mindie_rules.failure_signs import NO_FAULT, TIERS, Tier

MOST_LINES: Final = 5
_ERROR_LINE = re.compile(r"\b(?:ERROR|error|CRITICAL|FATAL)\b|^\w*(?:Error|Exception)\b")

_QUIET = re.compile(r"\[\s*(?:INFO|DEBUG|VERBOSE|TRACE)\s*\]|^\d{4}-\d\d-\d\d \S+ \d+ (?:info|debug|trace) ")
"""Lines of these levels tell of no failure, whatever a request's text in them says."""
_WARNING = re.compile(r"\bWARN(?:ING)?\b")


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """Why a start failed."""

    cause: LaunchCause
    lines: tuple[str, ...]
    """The line that tells the class, and error lines after it; at most MOST_LINES."""


def first_failure(lines: Sequence[str]) -> Failure | None:
    """The first failure of the most telling kind; None when the lines tell of none."""
    tiers = _possible("\n".join(lines).lower())
    best: tuple[int, int, LaunchCause] | None = None
    for number, line in enumerate(lines) if any(tiers) else ():
        found = _cause_of(line, tiers if best is None else tiers[: best[0]])
        if found is not None:
            best = (found[0], number, found[1])
    if best is None:
        return None
    _, number, cause = best
    return Failure(cause=cause, lines=_telling(lines[number:]))


def is_failure(line: str) -> bool:
    """Whether this line by itself tells of a failure."""
    return _cause_of(line, _possible(line.lower())) is not None


def _possible(lowered: str) -> tuple[Tier, ...]:
    """The tiers with those signs only whose part stands somewhere in a text; most texts have hardly any."""
    return tuple(
        tuple(
            (cause, here)
            for cause, signs in tier
            if (here := tuple(sign for sign in signs if sign.part in lowered))
        )
        for tier in TIERS
    )


def _cause_of(line: str, tiers: Sequence[Tier]) -> tuple[int, LaunchCause] | None:
    """The number of the first tier that knows the line, and the line's class."""
    lowered = line.lower()
    if any(words in lowered for words in NO_FAULT):
        return None
    found = _known(line, lowered, tiers)
    if found is None or _QUIET.search(line):
        return None
    return None if _WARNING.search(line) and _is_done_without(found[1], lowered) else found


def _is_done_without(cause: LaunchCause, lowered: str) -> bool:
    """Whether a service that only warns of this goes on: an import that is missing, a cache that is full."""
    return cause is LaunchCause.MODEL or (cause is LaunchCause.MEMORY and "out of memory" not in lowered)


def _known(line: str, lowered: str, tiers: Sequence[Tier]) -> tuple[int, LaunchCause] | None:
    for number, tier in enumerate(tiers):
        for cause, signs in tier:
            if any(sign.shows(line, lowered) for sign in signs):
                return number, cause
    return None


def _telling(lines: Sequence[str]) -> tuple[str, ...]:
    kept: dict[str, None] = {}
    for number, line in enumerate(lines):
        if number == 0 or _ERROR_LINE.search(line) or is_failure(line):
            kept[line.strip()] = None
        if len(kept) == MOST_LINES:
            break
    return tuple(kept)
