import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from autotune.model.move import VerdictCode
from autotune.report.html import page
from autotune.report.html_parts import tied
from autotune.report.sections import build
from autotune.report.texts.languages import LANGUAGES, language

from . import example_campaigns as examples
from .stored_campaigns import stored

CAMPAIGNS = {
    "guide": examples.guide(),
    "failures": examples.with_failures(),
    "interrupted": examples.interrupted(),
    "stays": examples.incumbent_stays(),
    "hostile": examples.hostile(),
    "vllm": examples.vllm(),
    "rehearsed": replace(examples.guide(), rehearsed=True, restored=True),
    "not restored": replace(examples.guide(), restored=False),
    **{code.value: examples.ended_as(code) for code in VerdictCode},
}


def test_a_path_may_break_its_line_after_a_slash():
    assert "/opt/<wbr>autotune/<wbr>.demo/<wbr>install/<wbr>conf/<wbr>config.json" in rendered(
        stored("emulated_mindie")
    )


def rendered(campaign, code="en", ceiling=None):
    words = language(code)
    return page(build(campaign, words, ceiling=ceiling), campaign, words)


class Checker(HTMLParser):
    """Counts what a strict page must not have and checks that elements are closed in order."""

    VOID = frozenset({"meta", "br", "hr", "img", "link", "wbr"})

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.attributes, self.ids = [], set(), [], []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize("name", CAMPAIGNS)
def test_every_campaign_gives_a_well_formed_page_that_loads_nothing(name, code):
    checker = Checker()
    checker.feed(rendered(CAMPAIGNS[name], code))
    assert checker.open == []
    assert len(checker.ids) == len(set(checker.ids))
    assert not checker.tags & {"img", "link", "iframe", "object", "embed", "form", "base", "use"}
    names = {name for name, _ in checker.attributes}
    assert not {name for name in names if name.startswith("on")} | names & {"src", "style", "srcset"}
    targets = [value for name, value in checker.attributes if name == "href"]
    assert all(target.removeprefix("#") in checker.ids for target in targets)


def test_the_policy_allows_exactly_the_style_and_script_of_the_page():
    text = rendered(examples.guide())
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    for tag, rule in (("style", "style-src"), ("script", "script-src")):
        (content,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{rule} &#x27;sha256-{digest}&#x27;" in policy.group(1)
    assert "default-src &#x27;none&#x27;" in policy.group(1)
    assert "unsafe" not in policy.group(1)


def test_the_answer_is_the_first_heading():
    text = rendered(examples.guide())
    (heading,) = re.findall(r"<h1>(.*?)</h1>", text)
    assert heading.replace("\N{NO-BREAK SPACE}", " ") == (
        "maxBatchSize 435 → 500: +4.7 % (3.9 to 5.5 %) output tokens/s, confirmed in 2+2 launches"
    )


def test_chinese_is_text_in_the_chart():
    text = rendered(examples.guide(), "zh")
    assert '<html lang="zh">' in text
    assert re.search(r"<text [^>]*>输出吞吐 token/s</text>", text)


def test_hostile_texts_are_shown_and_not_obeyed():
    text = rendered(examples.hostile())
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert text.count("<script>") == 1
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert len(text) < 200_000


def test_emulated_rehearsed_and_unrestored_runs_carry_a_banner():
    assert 'class="banner">These figures come from the bundled stand-in' in rendered(examples.with_failures())
    assert 'class="banner">This was a rehearsal' in rendered(CAMPAIGNS["rehearsed"])
    assert 'class="banner alarm">NOT RESTORED' in rendered(CAMPAIGNS["not restored"])


def test_every_part_that_a_manager_asks_for_is_there():
    text = rendered(examples.with_failures(), ceiling=3400.0)
    names = re.findall(r'<section id="([^"]+)"', text)
    assert names == [
        "changes",
        "curve",
        "latency",
        "predicted",
        "launches",
        "validity",
        "whole-run",
        "vendor",
        "decisions",
        "environment",
        "apply",
        "profile",
    ]
    assert tied("3,400.0 tokens/s; the best value serves 87.7 % of it") in text
    assert "2.4754" in text, "what the vendor's tool prints for one of 1000 clients"


def test_a_long_campaign_stays_small():
    assert len(rendered(examples.large(200)).encode()) < 2_000_000


def test_numbers_are_not_parted_from_their_units():
    assert tied("+4.7 % (3.9 to 5.5 %) more") == "+4.7\xa0% (3.9\xa0to\xa05.5\xa0%) more"
