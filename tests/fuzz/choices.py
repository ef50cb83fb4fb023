"""Choices: the first bytes of an input decide what is done with the rest, so that both fuzzers can steer."""

from collections.abc import Sequence
from typing import TypeVar

_Item = TypeVar("_Item")


class Choices:
    """Draws from the front of the input; an input that is used up draws zeros."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def whole(self, low: int, high: int) -> int:
        """A number from low to high."""
        size = (max(1, high - low).bit_length() + 7) // 8
        taken = self._data[self._at : self._at + size]
        self._at += size
        return low + int.from_bytes(taken, "big") % (high - low + 1)

    def one(self, items: Sequence[_Item]) -> _Item:
        """One of the items."""
        return items[self.whole(0, len(items) - 1)]

    def rest(self) -> bytes:
        """What is left."""
        return self._data[self._at :]


def steered(*head: int, body: bytes = b"") -> bytes:
    """A seed whose first bytes are these."""
    return bytes(head) + body
