import re
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from autotune.report.markdown import markdown_text
from autotune.report.reproduce import reproduce_text
from autotune.report.sections import build
from autotune.report.texts.languages import LANGUAGES, language

from . import example_campaigns as examples
from .stored_campaigns import stored

EVERY = [
    examples.guide(),
    examples.with_failures(),
    examples.interrupted(),
    examples.hostile(),
    examples.vllm(),
]
READER = MarkdownIt("commonmark").enable("table")


def text_of(campaign, code="en"):
    words = language(code)
    return markdown_text(build(campaign, words), campaign, words)


def test_the_answer_is_the_title():
    first = text_of(examples.guide()).splitlines()[0]
    assert (
        first == "# maxBatchSize 435 -> 500: +4.7 % (3.9 to 5.5 %) output tokens/s, confirmed in 2+2 launches"
    )


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize("campaign", EVERY, ids=lambda campaign: campaign.run)
def test_a_reader_finds_no_markup_but_ours(campaign, code):
    for text in (text_of(campaign, code), reproduce_text(campaign, language(code))):
        shown = READER.render(text)
        tags = set(re.findall(r"<(\w+)", shown))
        assert tags <= {"h1", "h2", "h3", "p", "ul", "li", "pre", "code", "strong", "em", "img"} | {
            "table",
            "thead",
            "tbody",
            "tr",
            "th",
            "td",
        }
        assert re.findall(r'src="([^"]*)"', shown) in ([], ["curve.png"])


@pytest.mark.parametrize("campaign", EVERY, ids=lambda campaign: campaign.run)
def test_every_table_row_has_the_columns_of_its_head(campaign):
    shown = READER.render(text_of(campaign))
    for table in re.findall(r"<table>.*?</table>", shown, re.DOTALL):
        counts = {
            len(re.findall(r"<t[hd][ >]", row)) for row in re.findall(r"<tr>.*?</tr>", table, re.DOTALL)
        }
        assert len(counts) == 1


def test_numbers_in_tables_read_as_they_are_in_a_terminal_too():
    rows = [line for line in text_of(stored("emulated_mindie")).splitlines() if line.startswith("|")]
    assert "| 30 | 753.7 | 20,888 | 43.6 |" in rows
    assert not any(re.search(r"\\[-.+#]", row) for row in rows)


def test_a_run_without_readings_shows_no_picture():
    assert "curve.png" not in text_of(replace(examples.interrupted(), launches=()))


def test_the_way_to_reproduce_is_complete():
    text = reproduce_text(examples.guide(), language("en"))
    assert "autotune apply 2026-11-30-example-llama3-8b-1" in text
    assert "autotune tune profile.yaml --strategy guide" in text
    assert examples.PROFILE.rstrip() in text
    assert '+            "maxBatchSize" : 500,' in text
    assert "| NPU | 2 x 910B4, 32 GB |" in text
