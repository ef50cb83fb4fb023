"""Mutation: inputs for hypothesis, made from real files by small edits with the words of the grammar."""

from collections.abc import Sequence
from enum import Enum

from hypothesis import strategies as st

from tests.fuzz.target import Target

_LONGEST_PIECE = 64


class _Edit(Enum):
    PUT = "put in a word"
    OVER = "a word over what is there"
    CUT = "cut a piece out"
    TWICE = "a piece twice"
    END = "cut the end off"
    BYTE = "another byte"
    SWAP = "two lines change places"


_STEP = st.tuples(
    st.sampled_from(_Edit),
    st.integers(0, 2**20),
    st.integers(1, _LONGEST_PIECE),
    st.integers(0, 255),
)
_Step = tuple[_Edit, int, int, int]


def inputs(target: Target) -> st.SearchStrategy[bytes]:
    """A real file after up to eight edits, or bytes that follow nothing."""
    seeds = tuple(target.seeds()) or (b"",)
    edited = st.builds(
        lambda seed, steps: _edited(seed, steps, target.words),
        st.sampled_from(seeds),
        st.lists(_STEP, max_size=8),
    )
    return st.one_of(edited, edited, edited, st.binary(max_size=200), st.text(max_size=100).map(_encoded))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _edited(seed: bytes, steps: Sequence[_Step], words: Sequence[bytes]) -> bytes:
    data = seed
    for step in steps:
        data = _step(data, step, words or (b"\0",))
    return data


def _step(data: bytes, step: _Step, words: Sequence[bytes]) -> bytes:  # noqa: PLR0911 - one for each edit
    edit, place, size, number = step
    at = place % (len(data) + 1)
    word = words[number % len(words)]
    match edit:
        case _Edit.PUT:
            return data[:at] + word + data[at:]
        case _Edit.OVER:
            return data[:at] + word + data[at + len(word) :]
        case _Edit.CUT:
            return data[:at] + data[at + size :]
        case _Edit.TWICE:
            return data[: at + size] + data[at:]
        case _Edit.END:
            return data[:at]
        case _Edit.BYTE:
            return data[:at] + bytes([number]) + data[at + 1 :]
        case _Edit.SWAP:
            lines = data.split(b"\n")
            one, other = place % len(lines), number % len(lines)
            lines[one], lines[other] = lines[other], lines[one]
            return b"\n".join(lines)
