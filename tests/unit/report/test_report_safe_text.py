import csv
import io
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.report.safe_text import clean, code_block, csv_cell, markdown, one_line, patch, plot_label

ANY = st.text(st.characters(), max_size=200)


@given(ANY)
def test_nothing_unseen_is_left(text):
    kept = clean(text)
    assert all(
        unicodedata.category(sign) not in {"Cc", "Cf", "Cs"}
        for sign in kept.replace("\n", "").replace("\t", "")
    )


@given(ANY)
def test_cleaning_twice_is_cleaning_once(text):
    assert clean(clean(text)) == clean(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("bell\x07 nul\x00 back\x08", "bell nul back"),
        ("\u202egnp.exe", "gnp.exe"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("中文，没有问题", "中文，没有问题"),
    ],
)
def test_terminal_sequences_and_hidden_signs_go(text, shown):
    assert clean(text) == shown


def test_a_line_of_a_megabyte_is_cut_and_the_rest_is_counted():
    assert clean("A" * 1_000_000) == "A" * 600 + "… (+999400)"
    assert len(one_line("A\n" * 1_000_000)) < 1300


@given(ANY)
def test_a_csv_cell_is_never_a_formula_and_survives_a_reader(text):
    cell = csv_cell(text)
    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))
    stream = io.StringIO()
    csv.writer(stream).writerow([cell])
    assert next(csv.reader(io.StringIO(stream.getvalue()))) == [cell]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a|b", "a\\|b"),
        ("`code` *bold* _slant_", "\\`code\\` \\*bold\\* \\_slant\\_"),
        ("<script>", "\\<script>"),
        ("[x](javascript:1)", "\\[x\\](javascript:1)"),
        ("# no heading", "\\# no heading"),
        ("- no item", "\\- no item"),
        ("1. no item", "1\\. no item"),
        ("&lt;b&gt; AT&T", "\\&lt;b\\&gt; AT&T"),
        ("one\ntwo", "one two"),
        ("435 -> 500: +4.7 % (3.9 to 5.5 %)", "435 -> 500: +4.7 % (3.9 to 5.5 %)"),
    ],
)
def test_markdown_signs_are_shown_not_obeyed(text, shown):
    assert markdown(text) == shown


def test_a_fence_is_longer_than_any_in_the_text():
    assert code_block("a\n````\nb", "sh") == "`````sh\na\n````\nb\n`````"
    assert code_block("plain\n") == "```\nplain\n```"


def test_a_patch_keeps_its_line_ends():
    assert patch("-a\r\n+b\t\x1b[31m\x00\r\n") == "-a\r\n+b\t\r\n"


def test_a_label_is_no_mathematics():
    assert plot_label("$x^2$") == "\\$x^2\\$"
