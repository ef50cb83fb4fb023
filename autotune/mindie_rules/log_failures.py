"""Why a start failed, told from the lines of MindIE's logs and console: its class and the first lines.

Sources: MindIE's trouble-shooting pages, public logs of 1.0.RC2 to 2.2, public source of MindIE-LLM.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from autotune.errors import LaunchCause

MOST_LINES: Final = 5


@dataclass(frozen=True, slots=True)
class _Sign:
    """A sign of a failure: a part in small letters, looked for first since that is fast, and the pattern."""

    part: str
    pattern: re.Pattern[str]

    def shows(self, line: str, lowered: str) -> bool:
        return self.part in lowered and self.pattern.search(line) is not None


def _signs(*parts_and_patterns: tuple[str, str], flags: int = 0) -> tuple[_Sign, ...]:
    return tuple(_Sign(part, re.compile(pattern, flags)) for part, pattern in parts_and_patterns)


def _parts(*texts: str) -> tuple[_Sign, ...]:
    """Signs that are a plain text, in capital or small letters."""
    return tuple(_Sign(text.lower(), re.compile(re.escape(text), re.IGNORECASE)) for text in texts)


_CONFIG: Final = (
    *_parts(
        "Json file is invalid",
        "missing compulsory field",
        "The type of param in each npuDeviceIds",
        "ConfigManager init exception",
        "JSON error in ConfigManager",
        "[json.exception.",
        "should not be less than maxInputTokenLen",
        "cannot be set greater than",
        "does not equal to modelInstanceNumber",
        "does not equal to worldSize",
        "(subset) does not equal",
        "does not allow repetitive element",
        "Unrecognized command-line argument",
        "The templateType must be",
        "The templateName must be",
        "The inferMode should be",
        "Endpoint port cannot be equal",
        "failed, file is too large",
        "is not a regular file or not exists",
        "Ranktable file is not exist",
        "rank table config error",
        "Model instance type is invalid",
    ),
    *_signs(
        ("of param", r"The (?:type|value) of param \w+ (?:should be|for \w+ is invalid)"),
        (
            "] is ",
            r"\b(?:scheduleParam|serverConfig|backendConfig|modelParam)[.\w]* \[-?\d+\] is (?:out|less)",
        ),
        ("be 0", r"\bcan ?not be 0\b"),
        ("input ", r"Input \w+ (?:is empty|\[.*\] (?:format )?is invalid)"),
    ),
)
_PERMISSION: Final = (
    *_parts("owner id diff", "Permission denied"),
    *_signs(
        ("check", r"Check[ _]path: .* failed"),
        ("permission failed", r"Check (?:Owner|Other)[\w ]* permission failed"),
        ("is a link", r"\bThe file:? .* is a link\b"),
    ),
)
_PORT: Final = _parts(
    "Address already in use", "Socket bind failed", "listen port is occupied", "Failed to listen"
)
_MEMORY: Final = (
    *_parts(
        "out of memory",
        "OutOfMemory",
        "Memory_Allocation_Failure",
        "EL0004",
        "num_npu_blocks must be",
        "No available memory for the cache",
        "Cannot allocate memory",
    ),
    *_signs(("malloc", r"\b(?:aclrtMalloc|rtMalloc)\w* fail")),
)
_GRAPH: Final = _signs(
    ("graph", r"\b(?:acl ?graph|graph capture|graph compil\w+|capture graph)\b.*\b(?:fail|error)"),
    ("graph", r"\b(?:fail\w*|error)\b.*\b(?:acl ?graph|capture graph|compile graph|graph capture)\b"),
    ("torchair", r"\btorchair\b.*\b(?:fail|error)"),
    flags=re.IGNORECASE,
)
_MODEL: Final = (
    *_parts(
        "LLMPythonModel initializes fail", "modelWrapper return status is error", "Failed to init engine"
    ),
    *_signs(
        ("model", r"[Ff]ailed to init(?:ialize)? (?:the )?model"),
        ("error", r"\b(?:ModuleNotFoundError|ImportError|FileNotFoundError|OSError|KeyError)\b"),
        ("safetensors", r"\bsafetensors\b.*\b(?:fail|error|not found)"),
        ("load weight", r"\bload weights?\b.*\bfail"),
    ),
)
_CRASHED: Final = (
    *_parts(
        "received exit signal",
        "was terminated by signal",
        "Segmentation fault",
        "core dumped",
        "daemon killed",
        "Failed to init endpoint",
        "Failed to start http wrapper",
        "[Start mindie server] [fail]",
    ),
    *_signs(("killed", r"^\s*Killed\s*$")),
)
_Tier = tuple[tuple[LaunchCause, tuple[_Sign, ...]], ...]
_TIERS: Final[tuple[_Tier, ...]] = (
    (
        (LaunchCause.PERMISSION, _PERMISSION),
        (LaunchCause.PORT, _PORT),
        (LaunchCause.MEMORY, _MEMORY),
        (LaunchCause.CONFIG, _CONFIG),
        (LaunchCause.GRAPH, _GRAPH),
    ),
    ((LaunchCause.MODEL, _MODEL),),
    ((LaunchCause.CRASHED, _CRASHED),),
)
"""What says more comes first: a model that does not load is often a consequence, a signal nearly always."""
_ERROR_LINE = re.compile(r"\b(?:ERROR|error|CRITICAL|FATAL)\b|^\w*(?:Error|Exception)\b")


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


def _possible(lowered: str) -> tuple[_Tier, ...]:
    """The tiers with those signs only whose part stands somewhere in a text; most texts have hardly any."""
    return tuple(
        tuple(
            (cause, here)
            for cause, signs in tier
            if (here := tuple(sign for sign in signs if sign.part in lowered))
        )
        for tier in _TIERS
    )


def _cause_of(line: str, tiers: Sequence[_Tier]) -> tuple[int, LaunchCause] | None:
    """The number of the first tier that knows the line, and the line's class."""
    lowered = line.lower()
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
