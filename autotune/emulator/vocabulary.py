"""What the emulated model says: 256 tokens of one width, so that every event has a known length."""

from typing import Final

_HEADS: Final = (
    "ba",
    "ce",
    "di",
    "fo",
    "gu",
    "ha",
    "je",
    "ki",
    "lo",
    "mu",
    "na",
    "pe",
    "ri",
    "so",
    "tu",
    "va",
)
_TAILS: Final = ("l", "m", "n", "r", "s", "t", "d", "g", "k", "p", "b", "f", "v", "z", "w", "x")
SIZE: Final = 256
FIRST_ID: Final = 1000

TEXTS: Final[tuple[str, ...]] = tuple(f" {head}{tail}" for head in _HEADS for tail in _TAILS)
"""The text of each token: a blank and three letters."""
_CYCLE: Final = "".join(TEXTS)
_WIDTH: Final = len(TEXTS[0])


def token_id(start: int, position: int) -> int:
    """The id of the token at a position of the reply that begins at `start`; always four digits."""
    return FIRST_ID + ((start + position) & (SIZE - 1))


def token_text(start: int, position: int) -> str:
    """The text of that token."""
    return TEXTS[(start + position) & (SIZE - 1)]


def reply_text(start: int, tokens: int) -> str:
    """The whole text of a reply of so many tokens."""
    offset = (start & (SIZE - 1)) * _WIDTH
    length = tokens * _WIDTH
    repeats = (offset + length) // len(_CYCLE) + 1
    return (_CYCLE * repeats)[offset : offset + length]


def token_ids(start: int, tokens: int) -> list[int]:
    """The ids of a reply of so many tokens."""
    return [token_id(start, position) for position in range(tokens)]
