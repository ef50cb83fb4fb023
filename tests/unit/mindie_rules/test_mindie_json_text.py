"""The service's JSON, read with places and explained faults."""

import json

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from autotune.mindie_rules.json_text import MalformedJson, parse

NUMBERS = st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=50, deadline=None)
@given(VALUES, st.booleans(), st.sampled_from([None, 2, "\t"]))
def test_what_the_standard_library_writes_is_read_as_it_was(value, ascii_only, indent):
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent, allow_nan=False)
    document = parse(text)
    assert document.value == value
    assert document.end == len(text)


def small_or_float(digits):
    number = int(digits)
    return number if -(2**63) <= number < 2**64 else float(number)


@settings(max_examples=50, deadline=None)
@given(VALUES)
def test_every_span_holds_the_text_of_its_value(value):
    text = json.dumps(value, indent=1, allow_nan=False)
    document = parse(text)
    for path, span in document.spans.items():
        node = document.value
        for step in path:
            node = node[step]
        assert json.loads(text[span.start : span.end]) == node


@settings(max_examples=50, deadline=None)
@given(st.text(alphabet='{}[]",:0123456789.eE+- \n\\/*#trufalsn\x07', max_size=30))
def test_nothing_is_read_that_the_standard_library_refuses(text):
    try:
        document = parse(text)
    except MalformedJson:
        return
    read = json.loads(text[: document.end], parse_int=small_or_float)
    assert read == document.value


@settings(max_examples=50, deadline=None)
@given(st.text(alphabet='{}[]",:01.eE+- \n\\/*#trufalsn', max_size=30).map(lambda text: f"[{text}"))
def test_every_fault_has_a_place_in_the_text_and_a_mend(text):
    assume("]" not in text)
    with pytest.raises(MalformedJson) as caught:
        parse(text)
    assert 0 <= caught.value.offset <= len(text)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("text", "place", "message", "mend"),
    [
        ('{\n "a": 1 // one\n}', "line 2, column 9", "a comment is not JSON", "remove the comment"),
        ('{"a": 1,\n\n}', "line 1, column 8", "a comma before } is not JSON", "remove the comma"),
        ('{"a": [1, ]}', "line 1, column 9", "a comma before ] is not JSON", "remove the comma"),
        ('{"a": NaN}', "line 1, column 7", "NaN is no number of JSON", "write a number"),
        ("{'a': 1}", "line 1, column 2", "' is no quote of JSON", 'write " in its place'),
        ('{"a": 1\n "b": 2}', "line 1, column 8", "a comma is missing", "add a comma here"),
        ('{"a"： 1}', "line 1, column 5", "： is not JSON", "write : in its place"),
        ('{"a": True}', "line 1, column 7", "True is not JSON", "write true"),
        ('{"a": 007}', "line 1, column 7", "007 is no number of JSON", "without leading zeros"),
        ("{a: 1}", "line 1, column 2", "the key a has no double quotes", 'write "a"'),
        ('{"a": ...}', "line 1, column 7", "`...` stands for lines that are left out", "the whole file"),
        ('{"a": "x\ny"}', "line 1, column 9", "a string is not closed on its line", "add the missing"),
        ('{"a": 1', "line 1, column 8", "the file ends too early", "its end is missing"),
        ("", "line 1, column 1", "the file holds no JSON", "put a backup of the file back"),
        ('{"a": [[$ids]]}', "line 1, column 9", "`$ids` is a placeholder", "write the value in its place"),
        ('{"a": ${BATCH}}', "line 1, column 7", "`${BATCH}` is a placeholder", "write the value"),
        ('{"a": {{ batch }}}', "line 1, column 8", "`{ batch }}}` is a placeholder", "write the value"),
        ('{"a": "x', "line 1, column 7", "the file ends inside the string", "put the whole file back"),
        ('{"a" 1}', "line 1, column 6", "a colon is missing after the key", "add a colon here"),
        ('{"a" = 1}', "line 1, column 6", "= is no colon", "write : in its place"),
        ('{"a": , "b": 1}', "line 1, column 7", "a key without a value", "write the value"),
        ('{"a":\n}', "line 2, column 1", "a key without a value", "write the value"),
        ('{"a": 1,000}', "line 1, column 9", "a number stands where a key should", "without commas"),
        ('{"a": 200 ms}', "line 1, column 11", "a comma or } is expected, not `ms}`", "the value alone"),
        ('{"a": １２}', "line 1, column 7", "a number is expected", "the digits 0 to 9"),
        ('{"a": 1e400}', "line 1, column 7", "1e400 is larger than the service can read", "smaller"),
        ('{"a": "C:\\models"}', "line 1, column 10", "one of the escapes", "for a backslash"),
        ('{"a": [1}', "line 1, column 9", "a comma or ] is expected, not `}`", "close the brackets"),
        ('{"a": 1 <!-- x -->}', "line 1, column 9", "a comment is not JSON", "remove the comment"),
        ('{\n<<<<<<< HEAD\n"a": 1}', "line 2, column 1", "the mark of an unfinished merge", "one of the two"),
        ("```json\n{}", "line 1, column 1", "the file begins with ````json`", "the config.json itself"),
        ("a:\n  b: 1\n", "line 1, column 1", "the file begins with `a:`", "the config.json itself"),
        ('\0{\0"', "line 1, column 1", "the file is UTF-16", "save the file as UTF-8"),
    ],
)  # fmt: skip
def test_a_fault_is_told_with_its_place_and_its_mend(text, place, message, mend):
    with pytest.raises(MalformedJson) as caught:
        parse(text)
    assert caught.value.message.startswith(f"{place}: {message}")
    assert mend in caught.value.hint


def test_a_repeated_key_is_told_and_the_last_value_counts():
    document = parse('{"a": {"x": 1}, "b": 2, "a": 3}')
    assert document.value == {"a": 3, "b": 2}
    assert [again.path for again in document.repeated] == [("a",)]
    assert ("a", "x") not in document.spans


def test_a_number_of_json_keeps_its_kind():
    assert parse("[5, 5.0, 5e0, -0, 18446744073709551615, 18446744073709551616]").value == [
        5, 5.0, 5.0, 0, 2**64 - 1, float(2**64),
    ]  # fmt: skip
    kinds = [type(number) for number in parse("[5, 5.0, 5e0, 18446744073709551616]").value]
    assert kinds == [int, float, float, float]


def test_brackets_without_end_are_refused_and_do_not_exhaust_the_stack():
    with pytest.raises(MalformedJson, match="nested too deeply"):
        parse("[" * 100_000)


@pytest.mark.parametrize(
    ("text", "place", "fault", "mend"),
    [
        ('{"a": 0xC8}', "line 1, column 7", "0xC8 is no number of JSON", "decimal digits"),
        ('{"a": 1; "b": 2}', "line 1, column 8", "; is not JSON", "write , in its place"),
        ('{"a":\u00a01}', "line 1, column 6", "an invisible character (U+00A0)", "remove it"),
        ('{\u200b"a": 1}', "line 1, column 2", "an invisible character (U+200B)", "remove it"),
        ('{"a": 1,\v"b": 2}', "line 1, column 9", "an invisible character (U+000B)", "remove it"),
        ("\udcff\udcfe{\0", "line 1, column 1", "the file is UTF-16", "save the file as UTF-8"),
        ("[" * 2000, "line 1, column", "the text is nested too deeply", "write fewer brackets"),
        ('{"a": \udc80}', "line 1, column 7", r"not `\udc80}`", "correct this place"),
    ],
)
def test_what_editors_and_other_languages_leave_is_told_with_its_place_and_mend(text, place, fault, mend):
    with pytest.raises(MalformedJson) as caught:
        parse(text)
    assert place in caught.value.message
    assert fault in caught.value.message
    assert mend in caught.value.hint
    caught.value.message.encode()
