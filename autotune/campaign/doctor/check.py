"""Check: one thing that was looked at, how it stands, and the command that mends it."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, unique


@unique
class Level(Enum):
    """How a thing stands."""

    OK = "ok"
    ADVICE = "advice"
    """A campaign works; this makes it better or surer."""
    ERROR = "error"
    """A campaign would be refused, fail or mean nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """The result of looking at one thing."""

    name: str
    level: Level
    fact: str
    """What was found, one line."""
    mend: str = ""
    """The command or the step that mends it; empty where nothing is to be mended."""


def fine(name: str, fact: str) -> Check:
    """All is as it should be."""
    return Check(name=name, level=Level.OK, fact=fact)


def advice(name: str, fact: str, mend: str) -> Check:
    """It works, and could be better."""
    return Check(name=name, level=Level.ADVICE, fact=fact, mend=mend)


def error(name: str, fact: str, mend: str) -> Check:
    """A campaign would trip over it."""
    return Check(name=name, level=Level.ERROR, fact=fact, mend=mend)


def worst(checks: Iterable[Check]) -> Level:
    """The worst of several levels; OK for none."""
    levels = {check.level for check in checks}
    for level in (Level.ERROR, Level.ADVICE):
        if level in levels:
            return level
    return Level.OK
