"""Whole campaigns in virtual time: the answer near the simulator's own optimum, and multi through `tune`."""

import json
from dataclasses import replace

import pytest

from autotune.cli.main import run
from tests.bench.search.rehearsals import PROFILE, rehearse, truth

SMALL = (
    "engine.blocks=240",
    "workload.dataset.input_tokens=60",
    "engine.max_batch_size=30",
    "search.strategy=scout",
)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_rehearsed_campaign_ends_near_the_simulators_optimum_and_replays(tmp_path):
    """Against sizes around it; against all, and 20 seeds: python -m tests.bench.search.rehearsals."""
    done = rehearse(1, SMALL, tmp_path)
    best = done.campaign.verdict.best.settings
    space = replace(done.space, shared=best)
    around = [space.settings_for(round(best.max_batch_size * ratio)) for ratio in (0.8, 1.0, 1.25)]
    below, mine, above = (truth(done, each, SMALL).tokens_per_second for each in around)
    assert mine >= 0.98 * max(below, above)
    assert len(done.campaign.launches) <= 9
    assert done.differences == 0


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_multi_tunes_further_knobs_through_the_command_line(tmp_path, capsys):
    profile = tmp_path / "rehearsed.yaml"
    profile.write_text(PROFILE, encoding="utf-8")
    profile.chmod(0o600)
    settings = [*SMALL[:3], "search.knobs=[max_batch_size, decode_time_ms_per_req]"]
    chosen = [part for each in (*settings, f"store.state={tmp_path / 'state'}") for part in ("--set", each)]
    asked = ["tune", str(profile), "--rehearse", "--yes", "--json", "--strategy", "multi", *chosen]
    assert run([*asked, "--output", str(tmp_path / "reports")]) == 0
    report = json.loads(capsys.readouterr().out)
    restarts = [each for each in report["launches"] if each["purpose"] == "candidate"]
    times = {each["settings"].get("decode_time_ms_per_req") for each in restarts}
    assert report["verdict"]["code"] in {"improved", "incumbent_best"}
    assert len(times) > 1, "no further knob was tried"
    assert len(report["launches"]) <= 12
