"""Events out of bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.load.client.framing import chunk_heads, document_of, payload, split_events


@given(st.lists(st.text(min_size=1).filter(lambda text: "\n" not in text and text.strip()), max_size=8))
def test_events_and_tail_together_are_what_came(words):
    data = b"".join(f"data: {word}\n\n".encode() for word in words) + b"data: beg"
    events, tail = split_events(data, b"\n\n")
    assert len(events) == len([word for word in words if f"data: {word}".strip()])
    assert tail == b"data: beg"


@pytest.mark.parametrize(
    ("event", "data"),
    [
        (b"data: {}", b"{}"),
        (b"data:{}", b"{}"),
        (b": ping", b""),
        (b"event: error\ndata: {}", b"{}"),
        (b"data: a\ndata: b", b"a\nb"),
        (b"event: ping", b""),
        (b"plain text", b"plain text"),
    ],
)
def test_the_data_of_an_event_stands_behind_its_colon(event, data):
    assert payload(event) == data


def test_newer_vllm_ends_its_pieces_with_a_line_end():
    events, tail = split_events(b'{"text": ["a"]}\n{"text": ["b"]}\n', b"\0")
    assert (len(events), tail) == (2, b"")


@given(st.integers(1, 4000))
def test_a_chunk_begins_as_its_length_says(size):
    whole = b"%x\r\n%b\r\n" % (size, b"x" * size)
    if len(whole) < 4096:
        assert whole.startswith(chunk_heads(4096)[len(whole)])


@pytest.mark.parametrize("text", [b"", b"[1]", b"nonsense", b"12", b"[{}, {}]"])
def test_what_is_no_object_is_no_document(text):
    assert document_of(text) is None
