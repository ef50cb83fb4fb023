"""Did-you-mean: the known word that a misspelt one is closest to."""

from collections.abc import Iterable
from difflib import get_close_matches


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known word nearest to `word` regardless of case, `-` and `_`; None when none is near."""
    plain = {_plain(each): each for each in known}
    found = get_close_matches(_plain(word), plain, n=1, cutoff=0.6)
    return plain[found[0]] if found else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """` (did you mean X?)` or nothing, to be put behind a message."""
    near = closest(word, known)
    return f" (did you mean {near}?)" if near else ""


def _plain(word: str) -> str:
    return word.lower().replace("-", "_")
