"""The search bench itself: the same luck for all, curves from a file, and a smoke run of the scout."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.bench.search.__main__ import as_markdown, main, run_study, summed_up
from tests.bench.search.curves import FAMILIES, BadCurves, bench_curves, read_curves
from tests.bench.search.oracle import Conditions, Oracle
from tests.bench.search.rivals import RIVALS, guide_rule

SMOKE = Path(__file__).parents[3] / "reports" / "bench" / "search-smoke.json"
QUIET = Conditions(noise=1e-6, dirty="never")


def test_the_splits_share_no_curve():
    dev, test = ({curve.name for curve in bench_curves(split)} for split in ("dev", "test"))
    assert not dev & test
    assert len(dev) == len(test) == 12 * len(FAMILIES) + 3


def test_the_same_study_meets_the_same_luck():
    curve = bench_curves("dev")[0]
    first, second = (
        Oracle(curve=curve, conditions=Conditions(noise=0.02), repetition=3).standard(curve.start)
        for _ in range(2)
    )
    assert first == second


def test_every_incumbent_runs():
    assert all(curve.works(curve.incumbent) for curve in bench_curves("dev") + bench_curves("test"))


@pytest.mark.parametrize("name", sorted(set(RIVALS) - {"grid, step 25", "TPE 25"}))
def test_every_rival_ends_with_a_value_that_it_launched(name):
    curve = next(each for each in bench_curves("dev") if each.family == "peak_mild")
    oracle = Oracle(curve=curve, conditions=QUIET, repetition=0)
    found = RIVALS[name](oracle, np.random.default_rng(1))
    assert curve.bounds_low <= found <= curve.bounds_high
    assert oracle.launches >= 1


def test_the_vendors_points_are_climbed_as_the_vendor_did(tmp_path):
    """435, 500, 600: 2845.3, 2980.3, 2520.6 token/s in the vendor's tuning guide."""
    entry = {
        "name": "vendor", "low": 362, "start": 435, "high": 1088, "incumbent": 435, "blocks": 2176,
        "points": [[362, 2700.0], [435, 2845.3], [500, 2980.3], [600, 2520.6], [1088, 2300.0]],
        "sweep": [[362, 2700.0], [500, 2950.0], [1088, 2310.0]],
        "fails_from": None,
    }  # fmt: skip
    path = tmp_path / "curves.json"
    path.write_text(json.dumps({"curves": [entry]}), encoding="utf-8")
    (curve,) = read_curves(path)
    oracle = Oracle(curve=curve, conditions=QUIET, repetition=0)
    assert guide_rule(oracle, np.random.default_rng(1)) == 500
    assert oracle.launches == 3


ENTRY = {
    "name": "one", "low": 10, "start": 20, "high": 40, "incumbent": 20, "blocks": 100,
    "points": [[10, 900.0], [40, 1000.0]],
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"points": None}, "curves[0]"),
        ({"points": [[10, 900.0]]}, "points: at least two points"),
        ({"points": [[10, 900.0], [40, -1.0]]}, "speeds above 0"),
        ({"low": 30}, "1 <= low <= start <= high"),
        ({"start": "20"}, "start: '20' is no whole number"),
        ({"incumbent": 60}, "incumbent 60 lies outside the points, 10 to 40"),
        ({"fails_from": 15}, "fails_from 15 leaves the incumbent 20 without a speed"),
        ({"sweep": [[10, 1.0], [10, 2.0]]}, "sweep: at least two points at different sizes"),
    ],
)
def test_a_file_of_curves_that_cannot_be_is_refused_with_the_place(tmp_path, change, told):
    path = tmp_path / "curves.json"
    path.write_text(json.dumps({"curves": [ENTRY | change]}), encoding="utf-8")
    with pytest.raises(BadCurves, match="curves") as raised:
        read_curves(path)
    assert told in str(raised.value)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"curves": []}', '{"curves": [{}]}', '{"curves": [3]}'])
def test_a_file_that_holds_no_curves_ends_the_command(tmp_path, text):
    path = tmp_path / "curves.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit, match=r"curves\.json"):
        main(["--curves", str(path)])


def test_a_curve_without_an_incumbent_starts_where_the_bracket_does(tmp_path):
    path = tmp_path / "curves.json"
    entry = {name: value for name, value in ENTRY.items() if name != "incumbent"}
    path.write_text(json.dumps({"curves": [entry]}), encoding="utf-8")
    assert read_curves(path)[0].incumbent == 20


def test_the_command_writes_its_figures(tmp_path, capsys):
    out = tmp_path / "out.json"
    main(["--strategy", "guide", "--every", "48", "--repetitions", "1", "--json", str(out)])
    figures = json.loads(out.read_text(encoding="utf-8"))["guide"]
    assert {"within_1pct", "within_2pct", "mean_regret", "worse_than_incumbent", "mean_hours"} <= set(figures)
    assert "| guide | 2.0% |" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_scout_is_as_good_as_the_stored_run_on_a_small_bench():
    """The stored run: python -m tests.bench.search --strategy scout --every 7 --repetitions 1 --json FILE."""
    stored = json.loads(SMOKE.read_text(encoding="utf-8"))["scout"]
    studies = [run_study("scout", curve, Conditions(noise=0.02), 0, 12) for curve in bench_curves("dev")[::7]]
    row = summed_up("scout", 0.02, studies)
    assert row.within_2pct >= stored["within_2pct"] - 0.06, as_markdown([row])
    assert row.within_1pct >= stored["within_1pct"] - 0.1, as_markdown([row])
    assert row.mean_launches_with_confirmation <= stored["mean_launches_with_confirmation"] + 1.0
    assert row.worse_than_incumbent <= 0.01
