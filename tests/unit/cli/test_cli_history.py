"""`autotune history` and `autotune report` from stored studies alone, and the collection of many hosts."""

import csv
import json
import shutil
import struct
from dataclasses import replace

import pytest
from rich.cells import cell_len

from autotune.cli.history_view import drifted, history_document, history_lines, trend_of
from autotune.cli.main import run
from autotune.cli.text_table import text_table
from autotune.model.service import Description
from autotune.report.document import document_text, report_document
from autotune.report.files import write_report
from autotune.report.texts.languages import language
from autotune.store.history import lineages
from autotune.store.study import CampaignStore, StoredRun, save

from ..report import example_campaigns as examples  # noqa: TID252 - no second copy
from ..report.stored_campaigns import stored  # noqa: TID252 - no second copy

NIGHT = 86_400.0


@pytest.fixture(scope="module")
def state(tmp_path_factory):
    """A state directory with two runs."""
    folder = tmp_path_factory.mktemp("history") / "state"
    folder.mkdir(mode=0o700)
    with CampaignStore(f"sqlite:///{folder / 'campaigns.db'}") as store:
        save(store, stored("emulated_mindie"))
        save(store, replace(stored("vllm_cpu"), launches=(), decisions=()))
    return folder


def nights(*speeds):
    """Runs of one fingerprint, one a night, that recommend the same setting at these speeds."""
    base = examples.incumbent_stays()
    return tuple(
        StoredRun(
            run=f"night-{at:02}",
            profile_name="night",
            profile_text=base.profile_text,
            description=base.description,
            started_wall=base.started_wall + at * NIGHT,
            ended_wall=base.started_wall + at * NIGHT + 1800,
            verdict=replace(
                base.verdict,
                incumbent=replace(base.verdict.incumbent, tokens_per_second=speed),
                best=replace(base.verdict.incumbent, tokens_per_second=speed),
                gain=None,
            ),
            restored=True,
            applied=False,
            rehearsed=False,
            environment=(),
            launches=4,
        )
        for at, speed in enumerate(speeds)
    )


def test_runs_that_may_be_compared_stand_together_with_their_trend():
    lines = history_lines(lineages(nights(2845.0, 2850.0, 2840.0, 2848.0)), width=None)
    assert lines[0].split()[1:] == ["night", "mindie", "1.0.0", "llama3-8b"]
    assert lines[1].endswith("4 runs, band 2,818.0 to 2,875.0 token/s, holds")
    assert lines[2].split()[:3] == ["run", "verdict", "batch"]
    assert [line.split()[0] for line in lines[3:]] == ["night-00", "night-01", "night-02", "night-03"]


def test_a_night_outside_the_band_of_the_nights_before_is_called_drifted():
    (steady,) = lineages(nights(2845.0, 2850.0, 2840.0, 2848.0))
    (slower,) = lineages(nights(2845.0, 2850.0, 2840.0, 2848.0, 2500.0))
    assert not drifted(steady)
    assert drifted(slower)
    assert "DRIFTED" in history_lines((slower,), width=None)[1]
    assert trend_of(lineages(nights(2845.0))[0]) is None


def test_an_unfinished_run_is_listed_as_such():
    (open_run,) = nights(2845.0)
    lines = history_lines(lineages([replace(open_run, verdict=None)]), width=None)
    assert lines[-1].split()[:2] == ["night-00", "unfinished"]


@pytest.mark.parametrize("width", [60, 80, 160])
def test_the_table_keeps_to_the_terminal(width):
    lines = history_lines(lineages(nights(2845.0, 2850.0, 2840.0)), width=width)
    assert max(map(cell_len, lines)) <= width
    assert "night-02" in lines[-1]


def test_json_has_every_run_with_its_fingerprint_and_every_lineage_with_its_trend():
    document = history_document(lineages(nights(2845.0, 2850.0, 2840.0)))
    assert document["schema_version"] == 1
    assert [entry["run"] for entry in document["runs"]] == ["night-00", "night-01", "night-02"]
    (lineage,) = document["lineages"]
    assert {entry["fingerprint"] for entry in document["runs"]} == {lineage["fingerprint"]}
    assert lineage["tokens_per_second"] == [2845.0, 2850.0, 2840.0]
    assert lineage["trend"]["median"] == 2845.0
    assert lineage["drifted"] is False


def test_the_command_lists_and_prints_json(state, capsys):
    assert run(["history", "--state", str(state)]) == 0
    listed = capsys.readouterr().out
    assert "mindie-demo-20261130-124017" in listed
    assert "22 -> 30" in listed
    assert run(["history", "--state", str(state), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [entry["emulated"] for entry in document["runs"]] == [False, True]
    assert len(document["lineages"]) == 2


@pytest.mark.slow
def test_a_report_is_made_again_from_the_study_alone_byte_for_byte(state, tmp_path, capsys):
    campaign = stored("emulated_mindie")
    write_report(campaign, tmp_path / "first")
    arguments = ["report", campaign.run, "--state", str(state), "--output", str(tmp_path / "again")]
    assert run(arguments) == 0
    assert "maxBatchSize 22 -> 30" in capsys.readouterr().out
    first = {place.name: place.read_bytes() for place in (tmp_path / "first").iterdir()}
    assert first == {place.name: place.read_bytes() for place in (tmp_path / "again").iterdir()}


def test_the_language_of_the_profile_is_kept_unless_another_is_asked_for(tmp_path, capsys):
    campaign = stored("emulated_mindie")
    text = campaign.profile_text.replace("directory: ../reports", "directory: ../reports, language: zh")
    with CampaignStore(f"sqlite:///{tmp_path / 'campaigns.db'}") as store:
        save(store, replace(campaign, profile_text=text, launches=(), decisions=()))
    tmp_path.chmod(0o700)
    for more, words in (([], "仿真服务"), (["--language", "en"], "Emulated service")):
        assert run(["report", "--state", str(tmp_path), "--json", *more]) == 0
        assert words in json.loads(capsys.readouterr().out)["verdict"]["text"]


@pytest.mark.slow
def test_redact_hides_paths_in_every_file_and_in_the_document(state, tmp_path, capsys):
    name = stored("emulated_mindie").run
    run(["report", name, "--state", str(state), "--output", str(tmp_path), "--redact"])
    for place in tmp_path.iterdir():
        assert b"/opt/autotune" not in place.read_bytes(), place.name
    capsys.readouterr()
    run(["report", name, "--state", str(state), "--redact", "--json"])
    text = capsys.readouterr().out
    assert "/opt/autotune" not in text
    assert json.loads(text)["verdict"]["code"] == "improved"


@pytest.mark.slow
def test_a_ceiling_can_be_given(state, tmp_path):
    run(["report", "--state", str(state), "--output", str(tmp_path), "--ceiling", "1000"])
    assert "Static test of the bare model: 1,000.0 tokens/s" in (tmp_path / "report.md").read_text().replace(
        "\\", ""
    )


def report_of(campaign, directory):
    """Only the report.json of a campaign."""
    directory.mkdir(parents=True)
    place = directory / "report.json"
    place.write_text(document_text(report_document(campaign, language("en"))), encoding="utf-8")
    return place


@pytest.fixture
def fleet(tmp_path):
    """Reports of three hosts, one of them slow, and two files that are none."""
    for host, factor in (("npu-a", 1.0), ("npu-b", 1.01), ("npu-c", 0.8)):
        base = examples.guide()
        best = replace(base.verdict.best, tokens_per_second=2982.5 * factor)
        report_of(replace(base, verdict=replace(base.verdict, best=best)), tmp_path / host)
    for name, text in (("broken", "{"), ("other", '{"schema_version": 9}')):
        (tmp_path / name).mkdir()
        (tmp_path / name / "report.json").write_text(text)
    return tmp_path


def test_reports_of_many_hosts_become_one_table_and_one_picture(fleet, tmp_path, capsys):
    assert run(["history", "--collect", str(fleet), "--output", str(tmp_path / "out")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:4]] == ["npu-a", "npu-b", "npu-c"]
    assert "-20.0 %" in lines[3], "how far a host lies from the median of its like"
    assert any(line.startswith("not read: broken/report.json: no JSON") for line in lines)
    with (tmp_path / "out" / "hosts.csv").open() as table:
        rows = list(csv.DictReader(table))
    assert [row["best_max_batch_size"] for row in rows] == ["500", "500", "500"]
    head = (tmp_path / "out" / "hosts.png").read_bytes()[:24]
    assert head.startswith(b"\x89PNG")
    assert struct.unpack(">II", head[16:24])[0] == 1296


def test_the_collection_as_json_writes_nothing(fleet, capsys):
    before = sorted(fleet.rglob("*"))
    assert run(["history", "--collect", str(fleet), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [host["host"] for host in document["hosts"]] == ["npu-a", "npu-b", "npu-c"]
    assert document["hosts"][0]["incumbent"]["max_batch_size"] == 435
    assert [each["path"] for each in document["unread"]] == ["broken/report.json", "other/report.json"]
    assert sorted(fleet.rglob("*")) == before


def test_hostile_reports_of_others_are_shown_harmless(tmp_path, capsys):
    place = report_of(examples.guide(), tmp_path / "host")
    document = json.loads(place.read_text())
    document["profile"] = document["engine"]["model_name"] = examples.HOSTILE
    place.write_text(json.dumps(document))
    (tmp_path / "=cmd|calc").mkdir()
    shutil.copy(place, tmp_path / "=cmd|calc" / "report.json")
    assert run(["history", "--collect", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert not {"\x1b", "\u202e", "\x00"} & set(out)
    assert "\n=cmd" not in (tmp_path / "hosts.csv").read_text(), "no cell is a formula"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"engine": 3}, "it has no engine"),
        ({"run": None}, "its run is no text"),
        ({"best": {"settings": {}}}, "a reading in it is not complete"),
    ],
)
def test_what_a_report_lacks_is_named(tmp_path, capsys, change, reason):
    place = report_of(examples.guide(), tmp_path / "host")
    place.write_text(json.dumps(json.loads(place.read_text()) | change))
    run(["history", "--collect", str(tmp_path), "--json"])
    assert json.loads(capsys.readouterr().out)["unread"] == [{"path": "host/report.json", "reason": reason}]


def test_a_directory_without_reports_is_wrong_usage(tmp_path, capsys):
    assert run(["history", "--collect", str(tmp_path)]) == 2
    assert "there is no report.json below" in capsys.readouterr().err


def test_columns_go_from_the_right_and_then_the_first_is_cut():
    rows = [("a-very-long-name-of-a-run", "1", "x" * 20)]
    assert (
        text_table(("name", "n", "more"), rows, right=frozenset({1}), width=30)[1]
        == "a-very-long-name-of-a-run  1"
    )
    assert cell_len(text_table(("name", "n", "more"), rows, right=frozenset({1}), width=12)[1]) == 12
    assert text_table(("名", "n"), [("通义", "7")], right=frozenset({1})) == ("名    n", "通义  7")


def test_engine_names_are_not_said_twice():
    about = Description(
        kind="rehearsal",
        version="rehearsal",
        place="",
        model_name="m",
        incumbent=examples.settings(435),
        block_size=128,
    )
    (lineage,) = lineages([replace(nights(1.0)[0], description=about)])
    assert "rehearsal rehearsal" not in history_lines((lineage,), width=None)[0]
