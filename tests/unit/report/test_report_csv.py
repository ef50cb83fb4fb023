import io
from dataclasses import replace

import pandas as pd

from autotune.report.table import launches_csv

from . import example_campaigns as examples


def read(campaign):
    return pd.read_csv(io.StringIO(launches_csv(campaign)))


def test_one_row_a_level_and_one_for_a_launch_without_any():
    frame = read(examples.with_failures())
    assert list(frame["launch"]) == [1, 2, 2, 2, 2, 2, 2, 3, 4, 5, 6, 7, 8]
    assert list(frame["cause"].dropna()) == ["memory", "port"]
    assert list(frame["invalid"].dropna()) == ["stalled"]


def test_numbers_come_back_as_they_were():
    frame = read(examples.guide())
    assert list(frame["tokens_per_second"]) == [2845.3, 2980.3, 2520.6, 2991.4, 2851.9]
    assert list(frame["max_batch_size"]) == [435, 500, 600, 500, 435]
    assert list(frame["reason"])[1] == "next multiple of 100"


def test_no_cell_is_a_formula():
    text = launches_csv(examples.hostile())
    assert "'=cmd|' /C calc'!A0" in text
    assert "\x1b" not in text
    assert len(text) < 10_000


def test_a_campaign_without_launches_has_its_header():
    text = launches_csv(replace(examples.guide(), launches=()))
    assert text.startswith("launch,purpose,max_batch_size,")
    assert text.count("\n") == 1
