"""A service that ran at the start runs and answers at the end, whatever became of the campaign."""

import http.client
import json
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

START = """
import os, subprocess, sys
daemon, pid_file, log = sys.argv[1:]
os.chmod(os.path.dirname(daemon) + "/../conf/config.json", 0o640)
with open(log, "ab") as output:
    started = subprocess.Popen([daemon], stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd="/")
with open(pid_file, "w") as file:
    file.write(str(started.pid))
"""
STOP = """
import os, signal, sys, time
pid = int(open(sys.argv[1]).read())
os.kill(pid, signal.SIGTERM)
for _ in range(200):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            if stat.read().rpartition(")")[2].split()[0] == "Z":
                break
    except FileNotFoundError:
        break
    time.sleep(0.05)
"""


class Production:
    """An emulated daemon that serves, with the commands that stop and start it."""

    def __init__(self, job) -> None:
        self.job = job
        self.pid_file = job.directory / "production.pid"
        start, stop = job.directory / "start.py", job.directory / "stop.py"
        start.write_text(START)
        stop.write_text(STOP)
        daemon = str(job.install / "bin" / "mindieservice_daemon")
        self.start = [
            sys.executable,
            str(start),
            daemon,
            str(self.pid_file),
            str(job.directory / "daemon.log"),
        ]
        self.stop = [sys.executable, str(stop), str(self.pid_file)]

    def begin(self) -> None:
        subprocess.run(self.start, check=True)
        self.job.wait_for(self.answers)

    def answers(self) -> bool:
        document = json.loads(self.job.config.read_text())["ServerConfig"]
        body = json.dumps({"inputs": "hello", "parameters": {"max_new_tokens": 1}}).encode()
        connection = http.client.HTTPConnection("127.0.0.1", document["port"], timeout=5)
        try:
            connection.connect()
            connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.request("POST", "/generate", body, {"Content-Type": "application/json"})
            return bool(json.loads(connection.getresponse().read())["generated_text"])
        except OSError:
            return False
        finally:
            connection.close()

    def named_in_profile(self, **hooks: list[str]) -> None:
        text = self.job.profile.read_text()
        service = json.dumps({"stop": self.stop, "start": self.start} | hooks)
        wanted = f"start_timeout: 60s, service: {service}}}"
        self.job.profile.write_text(text.replace("start_timeout: 60s}", wanted))


@pytest.fixture
def production(make_job):
    job = make_job()
    live = Production(job)
    live.begin()
    yield live
    if Path(f"/proc/{live.pid_file.read_text()}").exists():
        subprocess.run(live.stop, check=False)


def test_a_live_service_is_refused_without_commands_and_with_them_stopped_tuned_and_answers_again(production):
    done = production.job.tune()
    assert done.returncode == 1
    assert "service:" in done.stderr
    assert production.answers()
    production.named_in_profile()
    before = production.job.fingerprint()
    first = production.pid_file.read_text()
    done = production.job.tune("--max-launches", "2")
    assert done.returncode == 0, done.stderr
    assert production.answers()
    assert production.pid_file.read_text() != first
    assert production.job.fingerprint() == before


def test_it_answers_again_after_an_interrupt_and_after_the_deadline(production):
    production.named_in_profile()
    process = production.job.begin()
    production.job.wait_for(lambda: (production.job.state / "runs").exists() and _measuring(production.job))
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert production.answers()
    late = production.job.tune("--deadline", "62s")
    assert late.returncode == 124, late.stderr
    assert production.answers()


def test_it_answers_again_after_a_campaign_that_fails_once_it_was_stopped(production):
    """Somebody lets others read the configuration meanwhile: the service would not start with it."""
    production.named_in_profile(before=["chmod", "644", str(production.job.config)])
    first = production.pid_file.read_text()
    done = production.job.tune()
    assert done.returncode == 1, done.stderr
    assert "chmod 640" in done.stderr
    assert production.pid_file.read_text() != first
    assert production.answers()


def test_recover_brings_it_back_after_a_kill(production):
    production.named_in_profile()
    before = production.job.fingerprint()
    process = production.job.begin()
    production.job.wait_for(lambda: production.job.fingerprint() != before)
    time.sleep(0.5)
    process.kill()
    process.communicate()
    done = production.job.run("recover", "--state", str(production.job.state))
    assert done.returncode == 0, done.stderr
    assert production.answers()
    assert production.job.fingerprint() == before


def _measuring(job) -> bool:
    outputs = list((job.state / "runs").glob("*/launch-*/output.log"))
    return any("Daemon start success!" in path.read_text(errors="replace") for path in outputs)
