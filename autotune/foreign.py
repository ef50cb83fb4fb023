"""Numbers and documents that other programs write: what they mean, or that they are none."""

import json
import re
from typing import Any, Final

MOST_DIGITS: Final = 18
"""More digits than any count has; longer ones are damage, and Python refuses those of thousands anyway."""
_WHOLE: Final = re.compile(rf"\d{{1,{MOST_DIGITS}}}")
_REAL: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


def whole(text: str) -> int | None:
    """The whole number that the text is, thousands' commas left off; None for any other text."""
    plain = text.strip().replace(",", "")
    return int(plain) if _WHOLE.fullmatch(plain) else None


def real(text: str) -> float | None:
    """The number that the text is; None for any other text, for nan and for what is beyond a double."""
    plain = text.strip()
    number = float(plain) if _REAL.fullmatch(plain) else float("inf")
    return number if abs(number) < float("inf") else None


def json_value(text: str) -> Any:
    """The JSON document of a text. Raises ValueError, also for one that is nested too deeply to be read."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
