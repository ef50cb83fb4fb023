import json
import os
import stat
import struct
from dataclasses import replace

import pytest

from autotune.errors import Refused, UsageError
from autotune.report.files import check_writable, write_report
from autotune.report.texts.languages import language
from tests.bench.report_speed import PAGE_BYTES, SECONDS, in_a_process

from . import example_campaigns as examples

NAMES = {
    "report.html",
    "report.md",
    "report.json",
    "launches.csv",
    "config.diff",
    "reproduce.md",
    "curve.png",
    "curve.svg",
}


def contents(directory):
    return {place.name: place.read_bytes() for place in directory.iterdir()}


@pytest.fixture(scope="module")
def guide(tmp_path_factory):
    """The files of the guide's campaign, written once for the tests that only look."""
    return write_report(examples.guide(), tmp_path_factory.mktemp("guide"))


@pytest.mark.slow
@pytest.mark.parametrize("code", ["en", "zh"])
def test_all_files_are_written_and_again_the_same(tmp_path, code):
    first = write_report(examples.with_failures(), tmp_path / "a", language=code)
    again = write_report(examples.with_failures(), tmp_path / "b", language=code)
    assert set(contents(tmp_path / "a")) == NAMES
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert first.html.parent == tmp_path / "a"
    assert json.loads(again.json.read_text())["emulated"] is True


def test_files_are_kept_from_others(tmp_path):
    old = os.umask(0)
    try:
        write_report(examples.guide(), tmp_path / "deep" / "report")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "deep" / "report").stat().st_mode) == 0o750
    modes = {stat.S_IMODE(place.stat().st_mode) for place in (tmp_path / "deep" / "report").iterdir()}
    assert modes == {0o640}


def test_a_link_in_the_place_of_a_file_is_replaced_not_followed(tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("keep")
    report = tmp_path / "report"
    report.mkdir()
    (report / "report.html").symlink_to(precious)
    write_report(examples.guide(), report)
    assert precious.read_text() == "keep"
    assert not (report / "report.html").is_symlink()


def test_the_picture_is_a_picture_of_a_useful_size(guide):
    assert guide.png is not None
    head = guide.png.read_bytes()[:24]
    assert head.startswith(b"\x89PNG")
    assert struct.unpack(">II", head[16:24]) == (1296, 662)


def test_the_drawing_keeps_its_texts_as_text(guide):
    assert guide.svg is not None
    assert ">Recommended 500</text>" in guide.svg.read_text()


def test_without_readings_no_old_picture_stays(tmp_path):
    (tmp_path / "curve.png").write_bytes(b"old")
    (tmp_path / "curve.svg").write_bytes(b"old")
    files = write_report(replace(examples.guide(), launches=(), verdict=None), tmp_path)
    assert (files.png, files.svg) == (None, None)
    assert set(contents(tmp_path)) == NAMES - {"curve.png", "curve.svg"}


def test_without_a_chinese_font_the_picture_is_english(tmp_path, monkeypatch):
    monkeypatch.setattr("autotune.report.files.chinese_fonts", tuple)
    monkeypatch.setattr("autotune.report.chart.chinese_fonts", tuple)
    files = write_report(examples.guide(), tmp_path, language="zh")
    assert files.svg is not None
    assert "output tokens/s" in files.svg.read_text()
    assert "输出吞吐" in files.html.read_text()


@pytest.mark.slow
def test_hostile_texts_break_no_file(tmp_path):
    files = write_report(examples.hostile(), tmp_path)
    for place in (files.html, files.markdown, files.json, files.csv, files.diff, files.reproduce):
        assert b"\x1b" not in place.read_bytes()
        assert place.stat().st_size < 200_000


def test_an_unknown_language_writes_nothing(tmp_path):
    with pytest.raises(UsageError):
        write_report(examples.guide(), tmp_path / "report", language="fr")
    assert not (tmp_path / "report").exists()


def test_a_directory_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(Refused, match="cannot write the report"):
        write_report(examples.guide(), tmp_path / "file" / "report")


@pytest.mark.parametrize(("place", "why"), [("file/report", "it is no directory"), ("sealed/a/b", "written")])
def test_a_place_where_no_report_can_be_made_is_told_beforehand(tmp_path, monkeypatch, place, why):
    (tmp_path / "file").write_text("")
    (tmp_path / "sealed").mkdir()
    monkeypatch.setattr(os, "access", lambda path, _mode: path.name != "sealed")  # root may write everywhere
    check_writable(tmp_path / "new" / "report")
    with pytest.raises(Refused, match=why):
        check_writable(tmp_path / place)
    assert not (tmp_path / "new").exists()


def test_a_curve_of_one_value_can_be_drawn(tmp_path):
    one = replace(examples.guide(), launches=examples.guide().launches[:1], verdict=None)
    assert write_report(one, tmp_path).png is not None


@pytest.mark.slow
@pytest.mark.real_time
def test_two_hundred_launches_take_less_than_three_seconds_with_the_imports():
    found = in_a_process(200)
    assert found["cpu"] < SECONDS
    assert found["bytes"] < PAGE_BYTES


@pytest.mark.parametrize(("campaign", "told"), [(examples.with_failures(), True), (examples.guide(), False)])
def test_the_charts_legend_names_every_sign_that_is_drawn_and_no_other(campaign, told, tmp_path):
    text = write_report(campaign, tmp_path).svg.read_text(encoding="utf-8")
    assert (f">{language('en').labels.failed_value}<" in text) == told
