"""A whole campaign from the command line: on the stand-in, and on real vLLM where it is installed."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
GRID = (1, 2, 4, *range(8, 129, 8))
PROFILE = """
name: stand-in
engine:
  kind: vllm
  home: {root}
  command: ["{{home}}/bin/vllm", serve, "{{model}}", --served-model-name, tiny, --max-num-seqs, 8,
            --block-size, 32]
  environment: {{FAKE_VLLM: '{{"token_seconds": 0.002}}', PYTHONPATH: ""}}
  start_timeout: 30s
model: {{path: {root}/model}}
workload:
  api: openai
  dataset: {{type: synthetic, input_tokens: 4, output_tokens: 8}}
  max_output_tokens: 8
  concurrency: 24
search: {{max_launches: 2, strategy: grid, step: 8}}
measuring: {{scout_half_width: 20%, final_half_width: 20%, level_cap: 3s}}
host: {{governor: null, transparent_hugepages: null, cpus: null}}
report: {{directory: {root}/reports}}
store: {{state: {root}/state}}
"""


def tune(profile: Path, *options: str, timeout: float) -> dict:
    done = subprocess.run(
        [sys.executable, "-m", "autotune", "tune", str(profile), "--yes", "--json", *options],
        capture_output=True,
        text=True,
        timeout=timeout,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


@pytest.mark.slow
def test_a_campaign_on_the_stand_in_ends_with_readings_and_leaves_nothing(vllm):
    profile = vllm.root / "stand-in.yaml"
    profile.write_text(PROFILE.format(root=vllm.root))
    result = tune(profile, timeout=110)
    assert result["restored"]
    assert result["incumbent"]["settings"] == {"max_batch_size": 8}
    sizes = [launch["settings"]["max_batch_size"] for launch in result["launches"]]
    assert len(sizes) == 2
    assert all(size == 8 or size % 8 == 0 for size in sizes)
    assert all(launch["blocks"] == 257 for launch in result["launches"])
    assert result["best"]["tokens_per_second"] > 0
    assert vllm.processes() == []


@pytest.mark.slow
@pytest.mark.parametrize("start_seconds", [0.1, 30.0], ids=["under load", "while it starts"])
def test_what_a_killed_tuner_leaves_is_ended_by_recover(vllm, start_seconds):
    text = PROFILE.replace('"token_seconds": 0.002', f'"start_seconds": {start_seconds}')
    profile = vllm.root / "stand-in.yaml"
    profile.write_text(text.format(root=vllm.root))
    command = [sys.executable, "-m", "autotune", "tune", str(profile), "--yes"]
    with (vllm.root / "tuner.log").open("wb") as log:
        tuner = subprocess.Popen(command, stdout=log, stderr=log, cwd=ROOT)
    try:
        wait_for(lambda: len([p for p in vllm.processes() if p.pid != tuner.pid]) >= 3)
    finally:
        tuner.kill()
        tuner.wait()
    assert len(vllm.processes()) >= 3
    done = subprocess.run(
        [sys.executable, "-m", "autotune", "recover", "--state", str(vllm.root / "state")],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "ended" in done.stdout
    assert vllm.processes() == []


def wait_for(condition, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.1)


@pytest.mark.slow
@pytest.mark.real_vllm
@pytest.mark.timeout(900)
def test_real_vllm_is_tuned_from_its_own_default(tmp_path):
    """Readings are cut short here: what the profile is for is shown by tests/bench/vllm_cpu.py.

    Measured on two quiet cores with AVX512: 128 runs at 1707, 48 at 2134 token/s (a restart each).
    """
    home = Path(os.environ["AUTOTUNE_VLLM"])
    values = {
        "engine.home": home,
        "model.path": home / "tiny-qwen2",
        "store.state": tmp_path / "state",
        "measuring.level_cap": "20s",
        "search.max_launches": 4,
    }
    options = [word for name, value in values.items() for word in ("--set", f"{name}={value}")]
    output = ("--output", str(tmp_path / "report"))
    result = tune(ROOT / "profiles" / "vllm-cpu-tiny.yaml", *options, *output, timeout=850)
    assert result["restored"]
    assert not result["emulated"]
    assert result["incumbent"]["settings"] == {"max_batch_size": 128}
    launches = result["launches"]
    assert [launch["purpose"] for launch in launches[:2]] == ["incumbent", "scout"]
    assert len(launches) <= 4
    assert all(launch["outcome"] == "ended" and launch["blocks"] == 257 for launch in launches)
    assert launches[0]["levels"][0]["preemptions"] > 0
    assert len({level["concurrency"] for level in launches[1]["levels"]}) >= 4
    restarted = [launch["settings"]["max_batch_size"] for launch in launches[2:]]
    assert all(size in GRID and size <= 128 for size in restarted), restarted
    assert (tmp_path / "report").exists()
