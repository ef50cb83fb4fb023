"""A vLLM server that ran at the start is stopped as the profile says, and answers again at the end."""

import json
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import psutil
import pytest

from autotune.process.ports import choose_free

ROOT = Path(__file__).parents[3]
PROFILE = """
name: live
engine:
  kind: vllm
  home: {root}
  command: ["{{home}}/bin/vllm", serve, "{{model}}", --served-model-name, tiny, --max-num-seqs, 8,
            --block-size, 32, --port, {port}]
  environment: {{FAKE_VLLM: '{{"token_seconds": 0.002}}', PYTHONPATH: ""}}
  start_timeout: 30s
  service: {{stop: {stop}, start: {start}}}
model: {{path: {root}/model}}
workload:
  api: openai
  dataset: {{type: synthetic, input_tokens: 4, output_tokens: 8}}
  max_output_tokens: 8
  concurrency: 24
search: {{max_launches: 1, strategy: grid, step: 8}}
measuring: {{scout_half_width: 20%, final_half_width: 20%, level_cap: 4s}}
host: {{governor: null, transparent_hugepages: null, cpus: null}}
report: {{directory: {root}/reports}}
store: {{state: {root}/state}}
"""
START = """
import subprocess, sys
pid_file, *command = sys.argv[1:]
open(pid_file, "w").write(str(subprocess.Popen(command, start_new_session=True).pid))
"""
STOP = """
import os, signal, sys
os.kill(int(open(sys.argv[1]).read()), signal.SIGTERM)
"""


class Live:
    """The server in production: a stand-in, with the commands that stop and start it."""

    def __init__(self, bench) -> None:
        self.bench = bench
        (self.port,) = choose_free(1)
        self.pid_file, start, stop = (bench.root / name for name in ("live.pid", "start.py", "stop.py"))
        start.write_text(START)
        stop.write_text(STOP)
        server = [*bench.command("--max-num-seqs", "8", "--port", str(self.port))]
        self.start = [sys.executable, str(start), str(self.pid_file), *server]
        self.stop = [sys.executable, str(stop), str(self.pid_file)]
        self.profile = bench.root / "live.yaml"
        self.profile.write_text(
            PROFILE.format(
                root=bench.root, port=self.port, stop=json.dumps(self.stop), start=json.dumps(self.start)
            )
        )
        subprocess.run(self.start, check=True, env=bench.environment)
        wait_for(self.answers)

    @property
    def pid(self) -> int:
        return int(self.pid_file.read_text())

    def answers(self) -> bool:
        body = json.dumps({"model": "tiny", "prompt": "1", "max_tokens": 1}).encode()
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(f"http://127.0.0.1:{self.port}/v1/completions", body, timeout=5) as reply:
                return '"text"' in reply.read().decode()
        except OSError:
            return False

    def autotune(self, *words: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "autotune", *words]
        return subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT
        )


@pytest.fixture
def live(vllm):
    one = Live(vllm)
    yield one
    for process in vllm.processes():
        if process.name() not in {"python", "pytest"}:
            process.kill()
    if psutil.pid_exists(one.pid):
        psutil.Process(one.pid).kill()


def wait_for(condition, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.1)


@pytest.mark.slow
def test_a_live_server_is_stopped_for_the_trials_and_answers_again(live):
    before = live.pid
    tuner = live.autotune("tune", str(live.profile), "--yes")
    said, _ = tuner.communicate(timeout=110)
    assert tuner.returncode == 0, said
    assert "the live service is stopped" in said
    assert "the live service answers again" in said
    assert live.pid != before
    assert live.answers()


@pytest.mark.slow
def test_recover_brings_a_live_server_back_after_the_tuner_was_killed(live):
    before = live.pid
    tuner = live.autotune("tune", str(live.profile), "--yes")
    wait_for(lambda: not live.answers())
    wait_for(lambda: any((live.bench.root / "state").glob("runs/*/launch-001/output.log")))
    tuner.kill()
    tuner.communicate()
    recover = live.autotune("recover", "--state", str(live.bench.root / "state"))
    said, _ = recover.communicate(timeout=110)
    assert recover.returncode == 0, said
    assert "the service answers again" in said
    assert live.pid != before
    assert live.answers()
