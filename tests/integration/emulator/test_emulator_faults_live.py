"""Faults as a client and a controller meet them."""

import json
import signal
import time
from contextlib import suppress

import psutil
import pytest
import requests

from autotune.emulator.faults import Faults
from autotune.emulator.marker import Emulation, write_marker

BODY = {"inputs": "x", "parameters": {"max_new_tokens": 12, "details": True}, "ignore_eos": True}
TO_STDOUT = {"MINDIE_LOG_TO_STDOUT": "1"}


def test_out_of_memory_at_a_batch_ends_the_start_with_the_allocators_words(start):
    daemon = start(faults=Faults(out_of_memory_at=200))
    assert daemon.wait_ended() == -signal.SIGKILL
    assert "RuntimeError: NPU out of memory. Tried to allocate" in daemon.complained()


def test_below_that_batch_it_starts(start):
    start(max_batch_size=199, faults=Faults(out_of_memory_at=200)).wait_started()


def test_a_warm_up_out_of_memory_advises_fewer_prefill_tokens(start):
    daemon = start(faults=Faults(warm_up_out_of_memory_at=8192), environment=TO_STDOUT)
    assert daemon.wait_ended() == -signal.SIGKILL
    assert "Please try to decrease `maxPrefillTokens`" in daemon.said()


@pytest.mark.parametrize("how", ["model", "hccl", "permission"])
def test_a_start_can_fail_for_other_causes(start, how):
    daemon = start(faults=Faults(start_failure=how))
    assert daemon.wait_ended() == -signal.SIGKILL
    assert daemon.complained().count("\n") >= 2


def test_a_start_can_simply_exit(start):
    assert start(faults=Faults(start_failure="exit")).wait_ended() == 1


def test_a_start_that_hangs_never_listens_until_the_fault_is_taken_back(start):
    daemon = start(faults=Faults(start_hang=True))
    time.sleep(1.5)
    assert daemon.process.poll() is None
    assert "Daemon start success!" not in daemon.said()
    marker = json.loads((daemon.install / "EMULATED").read_text(encoding="utf-8"))
    write_marker(daemon.install, Emulation(time_scale=marker["time_scale"]))
    daemon.wait_started()


def test_a_slow_start_takes_as_much_longer(start):
    begin = time.monotonic()
    start(faults=Faults(slow_start=40.0)).wait_started()
    assert time.monotonic() - begin >= 40 / 20


def test_a_crash_after_some_requests_takes_the_service_down(start):
    daemon = start(faults=Faults(crash_after_requests=2)).wait_ready()
    assert daemon.post("/generate", BODY).status_code == 200
    while daemon.process.poll() is None:
        with suppress(requests.RequestException):
            daemon.post("/generate", BODY)
    assert daemon.wait_ended() == -signal.SIGABRT


def test_a_share_of_the_requests_gets_the_error_status(start):
    daemon = start(faults=Faults(error_rate=1.0, error_status=500)).wait_ready()
    reply = daemon.post("/generate_stream", BODY)
    assert (reply.status_code, reply.json()["error_type"]) == (500, "Incomplete Generation")


def test_a_truncated_stream_ends_without_its_last_chunk(start):
    daemon = start(faults=Faults(truncate_rate=1.0)).wait_ready()
    reply = requests.post(f"{daemon.business}/generate_stream", json=BODY, stream=True, timeout=20)
    with pytest.raises(requests.exceptions.ChunkedEncodingError):
        reply.content  # noqa: B018 - reading it fails
    resource = daemon.get(f"{daemon.management}/v1/status").json()["resource"]
    assert resource["runningRequestNum"] == 0


def test_a_short_reply_claims_an_end_of_sequence(start):
    daemon = start(faults=Faults(short_rate=1.0)).wait_ready()
    details = daemon.post("/generate", BODY).json()["details"]
    assert (details["generated_tokens"], details["finish_reason"]) == (6, "eos_token")


def test_a_stall_ends_when_its_time_is_over(start):
    daemon = start(faults=Faults(stall_after_requests=2, stall_seconds=30.0)).wait_ready()
    daemon.post("/generate", BODY)
    begin = time.monotonic()
    assert daemon.post("/generate", BODY).status_code == 200
    assert time.monotonic() - begin >= 30 / 20
    begin = time.monotonic()
    daemon.post("/generate", BODY)
    assert time.monotonic() - begin < 1.0


def test_faults_can_be_changed_while_the_service_runs(start):
    daemon = start().wait_ready()
    assert daemon.post("/generate", BODY).status_code == 200
    path = daemon.install / "EMULATED"
    marker = json.loads(path.read_text(encoding="utf-8"))
    marker["faults"]["error_rate"] = 1.0
    path.write_text(json.dumps(marker), encoding="utf-8")
    time.sleep(1.2)
    assert daemon.post("/generate", BODY).status_code == 500


def test_a_larger_warm_up_leaves_fewer_blocks(start):
    daemon = start(max_prefill_tokens=16000).wait_started()
    resource = daemon.get(f"{daemon.management}/v1/status").json()["resource"]
    assert resource["totalNpuBlockNums"] < 2175 - 50


def test_foreign_requests_show_in_the_counters(start):
    daemon = start(faults=Faults(foreign_requests_per_second=5.0)).wait_ready()
    time.sleep(0.7)
    resource = daemon.get(f"{daemon.management}/v1/status").json()["resource"]
    assert resource["runningRequestNum"] + resource["waitingRequestNum"] > 3


def test_info_can_claim_another_batch_size(start):
    daemon = start(faults=Faults(served_max_batch_size=64)).wait_started()
    assert daemon.get(f"{daemon.management}/info").json()["max_concurrent_requests"] == 64


def test_a_deaf_service_must_be_killed(start):
    daemon = start(faults=Faults(deaf=True)).wait_started()
    daemon.process.send_signal(signal.SIGTERM)
    time.sleep(1.0)
    assert daemon.process.poll() is None


@pytest.mark.parametrize("orphans", [False, True])
def test_children_die_with_a_killed_daemon_unless_orphans_are_wanted(start, orphans):
    daemon = start(faults=Faults(orphans=orphans)).wait_started()
    children = psutil.Process(daemon.process.pid).children()
    daemon.process.kill()
    daemon.wait_ended()
    time.sleep(0.3)
    alive = [child for child in children if child.is_running() and child.status() != psutil.STATUS_ZOMBIE]
    assert bool(alive) == orphans
    for child in alive:
        child.kill()
