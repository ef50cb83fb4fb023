from dataclasses import replace

import pytest

from autotune.model.service import Fact
from autotune.report.fact_tables import environment_tables
from autotune.report.texts.languages import language
from autotune.report.touched import touched_table

from . import example_campaigns as examples

EN, ZH = language("en"), language("zh")
PAGES = Fact(name="transparent_hugepages", value="madvise -> always, applied")
GOVERNOR = Fact(
    name="governor",
    value="unavailable (no CPU frequency driver: a virtual machine, or switched off in the firmware)",
)


def touched(words=EN, mode="in-place", **changes):
    base = examples.guide()
    about = replace(
        base.description, config_path="/opt/conf/config.json", facts=(Fact(name="config_mode", value=mode),)
    )
    campaign = replace(base, description=about, environment=(PAGES, GOVERNOR), **changes)
    return [[cell.full_text for cell in row] for row in touched_table(campaign, words).rows]


def test_what_was_changed_and_put_back_is_told_item_by_item():
    assert touched() == [
        ["Configuration", "edited in place: /opt/conf/config.json", "as it was"],
        ["Service", "started 5 times for trials", "every trial stopped"],
        ["transparent_hugepages", PAGES.value, "put back"],
        ["governor", GOVERNOR.value, "as it was"],
    ]


def test_it_is_told_in_chinese_too():
    rows = touched(ZH)
    assert rows[2] == ["透明大页", "madvise → always，已设置", "已恢复"]
    assert rows[3][1] == "不可用（无 CPU 调频驱动：虚拟机，或在固件中关闭）"


@pytest.mark.parametrize(
    ("changes", "last"),
    [
        ({"applied": True}, ["recommended values in place", "every trial stopped", "put back", "as it was"]),
        ({"restored": False}, ["NOT RESTORED", "NOT RESTORED", "NOT RESTORED", "as it was"]),
    ],
)
def test_what_stays_or_is_not_back_is_named(changes, last):
    assert [row[2] for row in touched(**changes)] == last


def test_a_setting_that_stays_with_the_winner_says_so():
    kept = Fact(name="governor", value="schedutil -> performance, kept on CPUs 0-3")
    rows = touched_table(replace(examples.guide(), environment=(kept,), applied=True), EN).rows
    assert rows[-1][2].text == "stays so with the winner"


def test_a_copy_and_a_rehearsal_touch_no_file():
    assert touched(mode="private")[0][1].startswith("not touched: trials ran on a copy")
    assert touched(rehearsed=True) == []


def test_settings_of_the_host_are_told_once():
    campaign = replace(examples.guide(), environment=(PAGES, Fact(name="kernel", value="5.10")))
    names = [row[0].text for row in environment_tables(campaign, EN)[-1].rows]
    assert names == ["kernel"]


def test_of_two_facts_with_one_name_the_later_stands():
    facts = (Fact(name="kernel", value="Linux 5.10"), Fact(name="kernel", value="5.10 aarch64"))
    rows = environment_tables(replace(examples.guide(), environment=facts), EN)[-1].rows
    assert [[cell.text for cell in row] for row in rows] == [["kernel", "5.10 aarch64"]]
