"""Text of about N tokens: plain English words that count 1.3 tokens a word and 4 characters a token."""

import random

TOKENS_A_WORD = 1.3
CHARACTERS_A_TOKEN = 4.0
_SHORT_BELOW, _LONG_FROM = 4.0, 6.2
"""Characters a word, its blank included, between which the middle words serve best."""
_STARTS = 20_000
"""Different places where a prompt may begin."""
_STRIDE = 7919
"""From one prompt's place to the next; has no factor in common with _STARTS, so that all come once."""
_SHORT = ("a", "of", "to", "in", "is", "on", "we", "by", "it", "or", "at", "an", "us", "be", "as", "so")
_MIDDLE = (
    "time", "year", "work", "hand", "part", "case", "week", "fact", "area", "home", "water", "place",
    "story", "point", "house", "group", "world", "paper", "night", "field", "table", "stone", "green",
)  # fmt: skip
_LONG = (
    "number", "people", "system", "result", "market", "memory", "machine", "project", "picture", "mountain",
    "question", "business", "history", "channel", "teacher", "village", "journey", "feature", "balance",
)  # fmt: skip


class WordPool:
    """A long text of which every stretch has the right length; prompts are stretches of it."""

    def __init__(self, source: random.Random) -> None:
        self._source = source
        self._words: list[str] = []
        self._characters = 0
        self._start = source.randrange(_STARTS)

    def text_of(self, tokens: int) -> str:
        """Words whose count is tokens / 1.3 and whose characters, blanks included, are 4 a token."""
        count = max(1, round(tokens / TOKENS_A_WORD))
        start = self._start = (self._start + _STRIDE) % _STARTS
        self._grow(start + count)
        return " ".join(self._words[start : start + count])

    def _grow(self, words: int) -> None:
        """Each word is chosen so that the text so far has 4 characters a token."""
        characters = CHARACTERS_A_TOKEN * TOKENS_A_WORD
        draw, text, used = self._source.random, self._words, self._characters
        for count in range(len(text) + 1, words + 1):
            fitting = _fitting(characters * count - used)
            word = fitting[int(draw() * len(fitting))]
            text.append(word)
            used += len(word) + 1
        self._characters = used


def _fitting(length_with_blank: float) -> tuple[str, ...]:
    """Words near the length that the rest of the text still needs."""
    if length_with_blank < _SHORT_BELOW:
        return _SHORT
    if length_with_blank < _LONG_FROM:
        return _MIDDLE
    return _LONG
