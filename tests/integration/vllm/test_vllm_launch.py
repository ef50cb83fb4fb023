"""A launch of the stand-in vLLM: it serves what was given, nothing changes on disk, and nothing is left."""

import json
import os
import signal
import socket
import time
import urllib.request
from contextlib import suppress

import psutil
import pytest

from autotune.engines.vllm import running
from autotune.errors import LaunchCause, LaunchFailed, Refused
from autotune.events import Warned
from autotune.model.service import BlockSource
from autotune.model.settings import Settings
from autotune.process.ports import choose_free

WANTED = Settings(max_batch_size=48)
SCRIPT = """\
    #!/bin/bash
    # started by the service; the name is fixed
    export PTA_TORCHAIR_DECODE_GEAR_ENABLE=1
    export PTA_TORCHAIR_DECODE_GEAR_LIST=2,4,8,32  # gears
    {python} -m vllm.entrypoints.openai.api_server \\
        --model {model} --served-model-name tiny \\
        --host 0.0.0.0 --port 8080 \\
        --max-num-seqs=32 --trust-remote-code > "serve log.txt" 2>&1 &
    wait $!
    """


def ask(url: str, path: str, document: dict | None = None) -> str:
    data = None if document is None else json.dumps(document).encode()
    request = urllib.request.Request(f"{url}{path}", data, {"Content-Type": "application/json"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=5) as reply:
        return reply.read().decode()


def pid_of(bench, name: str) -> int:
    return next(p.pid for p in bench.processes() if name.startswith(p.name()))


def kill(pid: int) -> None:
    """And wait until it is dead: on a busy machine it may answer for a moment longer."""
    process = psutil.Process(pid)
    os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + 5
    with suppress(psutil.NoSuchProcess):
        while process.status() != psutil.STATUS_ZOMBIE:
            assert time.monotonic() < deadline, f"{pid} outlives SIGKILL"
            time.sleep(0.005)


def test_a_command_is_described_without_starting_anything(vllm):
    description = vllm.engine("--max-num-seqs", "128", "--block-size", "32").describe()
    assert description.kind == "vllm"
    assert description.incumbent == Settings(max_batch_size=128)
    assert description.model_name == "tiny"
    assert description.block_size == 32
    assert description.grid[:5] == (1, 2, 4, 8, 16)
    assert vllm.processes() == []
    assert not vllm.work_dir.exists()


def test_a_default_that_the_command_does_not_name_is_asked_of_vllm_itself(vllm):
    assert vllm.engine().describe().incumbent.max_batch_size == 128


def test_a_default_that_vllm_does_not_tell_is_refused_and_never_guessed(vllm):
    (vllm.root / "site/vllm/engine/arg_utils.py").write_text("raise RuntimeError('no device')")
    with pytest.raises(Refused) as refused:
        vllm.engine().describe()
    assert "no device" in refused.value.message
    assert "--max-num-seqs=N" in refused.value.hint


@pytest.mark.parametrize("more", [("--max-num-seqs=128",), ("--max_num_seqs", "128"), ()])
def test_what_was_wanted_is_served_on_a_port_of_its_own_and_ended(vllm, more):
    with vllm.engine(*more).launch(WANTED) as service:
        assert service.endpoint.url.startswith("http://127.0.0.1:")
        assert service.blocks.count == 257 * 32 // 128
        assert service.blocks.source is BlockSource.METRICS
        counters = service.counters()
        assert (counters.running, counters.waiting, counters.preemptions) == (0, 0, 0)
        assert counters.free_blocks == counters.total_blocks == service.blocks.count
        reply = ask(service.endpoint.url, "/v1/completions", {"prompt": "a", "max_tokens": 3})
        assert json.loads(reply)["usage"]["completion_tokens"] == 3
        output = (vllm.work_dir / "launch-001" / "output.log").read_text()
        assert "'max_num_seqs': 48" in output
        service.check()
    assert vllm.processes() == []
    assert vllm.events == []


def test_the_older_module_is_asked_in_its_own_way(vllm):
    import sys

    command = (sys.executable, "-m", "vllm.entrypoints.api_server", "--model", str(vllm.model))
    with vllm.engine(command=(*command, "--max-num-seqs=8")).launch(WANTED) as service:
        assert json.loads(ask(service.endpoint.url, "/generate", {"prompt": "a"}))["text"]


def test_a_script_runs_from_a_copy_by_its_interpreter_line_and_stays_as_it_is(vllm):
    import sys

    path = vllm.script(SCRIPT.format(python=sys.executable, model=vllm.model))
    before, mode = path.read_bytes(), path.stat().st_mode
    engine = vllm.engine(script=path)
    assert engine.describe().incumbent == Settings(max_batch_size=32)
    with engine.launch(WANTED) as service:
        copy = (vllm.work_dir / "launch-002" / "run_vllm.sh").read_text()
        port = service.endpoint.url.rpartition(":")[2]
        assert copy == (
            before.decode()
            .replace("--max-num-seqs=32", "--max-num-seqs=48")
            .replace("2,4,8,32", "2,4,8,32,48")
            .replace("0.0.0.0", "127.0.0.1")
            .replace("8080", port)
        )
        assert (vllm.work_dir / "launch-002" / "cwd" / "serve log.txt").exists()
    assert (path.read_bytes(), path.stat().st_mode) == (before, mode)
    assert vllm.processes() == []
    assert vllm.events == []


def test_the_server_below_a_script_gets_the_chance_to_stop_its_workers(vllm):
    import sys

    path = vllm.script(SCRIPT.format(python=sys.executable, model=vllm.model))
    began = time.monotonic()
    with vllm.engine(script=path).launch(WANTED):
        began = time.monotonic()
    assert time.monotonic() - began < 2.5
    assert vllm.events == []


def test_an_address_that_is_kept_is_that_of_the_command(vllm):
    (port,) = choose_free(1)
    engine = vllm.engine("--max-num-seqs=8", f"--port={port}", keep_address=True)
    with engine.launch(WANTED) as service:
        assert service.endpoint.url == f"http://127.0.0.1:{port}"


def test_a_live_server_on_the_commands_port_is_refused(vllm):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(Refused, match=f"port {port} is in use"):
            vllm.engine("--max-num-seqs=8", f"--port={port}").describe()


def test_a_key_of_the_server_is_sent(vllm):
    with vllm.engine("--api-key=k1", "--max-num-seqs=8").launch(WANTED) as service:
        assert service.answers(5)


def test_a_server_without_statistics_has_no_counters_and_tells_its_blocks_in_the_log(vllm):
    with vllm.engine("--disable-log-stats", "--max-num-seqs=8").launch(WANTED) as service:
        assert service.counters() is None
        assert service.blocks.source is BlockSource.LOG
        assert service.blocks.count == 64


FAILURES = {
    "unknown flag": (("--no-such-flag", "3"), LaunchCause.CONFIG, "unrecognized arguments"),
    "length": (("--max-model-len=9000",), LaunchCause.MEMORY, "To serve at least one request"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_start_that_fails_has_its_class_and_the_line_that_says_why(vllm, name):
    more, cause, text = FAILURES[name]
    with pytest.raises(LaunchFailed) as failure, vllm.engine("--max-num-seqs=8", *more).launch(WANTED):
        pytest.fail("it started")
    assert failure.value.cause is cause
    assert text in failure.value.lines[0]


def test_a_model_that_is_not_there_is_a_fault_of_the_model(vllm):
    command = (str(vllm.vllm), "serve", "/nowhere", "--max-num-seqs=8")
    with pytest.raises(LaunchFailed) as failure, vllm.engine(command=command).launch(WANTED):
        pytest.fail("it started")
    assert failure.value.cause is LaunchCause.MODEL


@pytest.mark.parametrize(
    ("seqs", "text"),
    [(17, "max_num_batched_tokens (16) must be greater than or equal to max_num_seqs (17)."), (0, "must be")],
)
def test_values_that_vllm_would_refuse_are_refused_before_anything_starts(vllm, seqs, text):
    engine = vllm.engine("--max-num-seqs=8", "--max-num-batched-tokens=16")
    with pytest.raises(LaunchFailed) as failure, engine.launch(Settings(max_batch_size=seqs)):
        pytest.fail("it started")
    assert failure.value.cause is LaunchCause.CONFIG
    assert text in failure.value.message
    assert not vllm.work_dir.exists()


def test_the_incumbent_is_started_as_found_even_when_this_tool_would_refuse_it(vllm):
    engine = vllm.engine("--max-num-seqs=32", "--max-num-batched-tokens=16")
    with pytest.raises(LaunchFailed) as failure, engine.launch(engine.describe().incumbent):
        pytest.fail("it started")
    assert failure.value.cause is LaunchCause.CONFIG
    assert any("must be greater than or equal to max_num_seqs (32)" in line for line in failure.value.lines)


def test_memory_that_runs_out_after_the_capacity_lines_is_no_start(vllm):
    engine = vllm.engine("--max-num-seqs=8", faults={"out_of_memory_at": 40})
    with pytest.raises(LaunchFailed) as failure, engine.launch(WANTED):
        pytest.fail("it started")
    assert failure.value.cause is LaunchCause.MEMORY
    assert "NPU out of memory. Tried to allocate 2.57 GiB" in failure.value.lines[0]
    assert vllm.processes() == []


def test_an_old_server_on_the_port_is_never_taken_for_the_new_one(vllm):
    (port,) = choose_free(1)
    first = vllm.engine("--max-num-seqs=8", f"--port={port}", keep_address=True)
    second = vllm.engine("--max-num-seqs=8", f"--port={port}", keep_address=True)
    with first.launch(WANTED) as old:
        with pytest.raises(LaunchFailed) as failure, second.launch(WANTED):
            pytest.fail("it started")
        assert failure.value.cause is LaunchCause.PORT
        old.check()
        assert old.answers(5)


def test_a_port_taken_while_the_server_starts_is_a_fault_of_the_port(vllm, monkeypatch):
    (port,) = choose_free(1)
    monkeypatch.setattr("autotune.engines.vllm.launching.wait_until_free", lambda *_, **__: 0.0)
    first = vllm.engine("--max-num-seqs=8", f"--port={port}", keep_address=True)
    second = vllm.engine(
        "--max-num-seqs=8", f"--port={port}", keep_address=True, faults={"start_seconds": 1.0}
    )
    with first.launch(WANTED) as old:
        with pytest.raises(LaunchFailed) as failure, second.launch(WANTED):
            pytest.fail("it started")
        assert failure.value.cause is LaunchCause.PORT
        old.check()


def test_a_server_that_never_gets_ready_is_given_up_with_what_is_missing(vllm):
    engine = vllm.engine("--max-num-seqs=8", start_timeout=1.0, faults={"never_ready": True})
    with pytest.raises(LaunchFailed, match="/health answers 503") as failure, engine.launch(WANTED):
        pytest.fail("it started")
    assert failure.value.cause is LaunchCause.TIMEOUT


def test_an_exit_with_code_0_while_starting_is_a_failure(vllm):
    engine = vllm.engine(
        "--max-num-seqs=8", faults={"exit": 0, "print": "EL0009 Insufficient_Stream_Resources"}
    )
    with pytest.raises(LaunchFailed, match="exit code 0") as failure, engine.launch(WANTED):
        pytest.fail("it started")
    assert failure.value.cause is LaunchCause.GRAPH


def wait_for_death(service, seconds: float = 8.0) -> LaunchFailed:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            service.check()
        except LaunchFailed as failure:
            return failure
        time.sleep(0.05)
    pytest.fail("nobody noticed")


@pytest.mark.parametrize("title", ["VLLM::EngineCore", "VLLM::Worker"])
def test_an_engine_that_was_killed_is_noticed_though_the_server_ends_with_0(vllm, title):
    with vllm.engine("--max-num-seqs=8").launch(WANTED) as service:
        os.kill(pid_of(vllm, title), signal.SIGKILL)
        failure = wait_for_death(service)
        assert failure.cause is LaunchCause.CRASHED
    assert vllm.processes() == []


def test_an_engine_that_was_killed_is_noticed_though_health_stays_200(vllm):
    engine = vllm.engine("--max-num-seqs=8", faults={"never_notices": True})
    with engine.launch(WANTED) as service:
        os.kill(pid_of(vllm, "VLLM::EngineCore"), signal.SIGKILL)
        failure = wait_for_death(service)
        assert "its engine is gone: VLLM::EngineCor" in failure.message
        assert ask(service.endpoint.url, "/health") == ""


def test_a_server_that_generates_nothing_is_found_out_by_a_real_request(vllm, monkeypatch):
    monkeypatch.setattr(running, "STALL_SECONDS", 0.2)
    monkeypatch.setattr(running, "DEADLINE_SECONDS", 0.5)
    monkeypatch.setattr("autotune.engines.vllm.engine_processes._TITLES", ("none",))
    with vllm.engine("--max-num-seqs=8", faults={"never_notices": True}).launch(WANTED) as service:
        kill(pid_of(vllm, "VLLM::EngineCore"))
        assert not service.answers(0.5)
        failure = wait_for_death(service)
        assert "no answer to a request" in failure.message


def test_what_a_killed_server_leaves_behind_is_ended_too(vllm):
    with vllm.engine("--max-num-seqs=8").launch(WANTED) as service:
        os.kill(service.pid, signal.SIGKILL)
        failure = wait_for_death(service)
        assert "signal 9" in failure.message
        assert len(vllm.processes()) == 2
    assert vllm.processes() == []
    assert any("outlived the server" in event.message for event in vllm.events if isinstance(event, Warned))


def test_a_server_that_ignores_sigterm_is_killed_after_its_grace(vllm):
    with vllm.engine("--max-num-seqs=8", faults={"ignores_term": True}, grace=0.5).launch(WANTED):
        began = time.monotonic()
    assert time.monotonic() - began < 6
    assert vllm.processes() == []
    assert any("ignored SIGTERM" in event.message for event in vllm.events)


def test_compiled_graphs_are_kept_for_each_setting(vllm):
    engine = vllm.engine("--max-num-seqs=8")
    with engine.launch(WANTED):
        (vllm.work_dir / "launch-001/cwd/.torchair_cache/graph").write_text("48")
    with engine.launch(Settings(max_batch_size=16)):
        assert not list((vllm.work_dir / "launch-002/cwd/.torchair_cache").iterdir())
    with engine.launch(WANTED):
        assert (vllm.work_dir / "launch-003/cwd/.torchair_cache/graph").read_text() == "48"


GRAPHS = {"PTA_TORCHAIR_DECODE_GEAR_ENABLE": "1", "PTA_TORCHAIR_DECODE_GEAR_LIST": "2,4,8"}


def launches(vllm) -> int:
    return len(list(vllm.work_dir.glob("launch-*")))


def test_graphs_are_compiled_in_a_start_of_their_own_and_only_read_in_the_next(vllm):
    engine = vllm.engine("--max-num-seqs=8", environment=vllm.environment | GRAPHS)
    with engine.launch(WANTED) as service:
        assert launches(vllm) == 2
        assert service.counters().running == 0
        assert (vllm.work_dir / "launch-002/cwd/.torchair_cache/graph").read_text() == "48"
        assert generated(service) == 1, "the batches of the first start are not those of the second"
    with engine.launch(WANTED):
        assert launches(vllm) == 3
    assert vllm.events == []


def generated(service) -> int:
    line = next(
        line for line in ask(service.endpoint.url, "/metrics").splitlines() if "generation_tok" in line
    )
    return int(float(line.split()[-1]))


def test_a_version_that_keeps_no_graphs_is_not_started_twice_for_each_value(vllm):
    environment = vllm.environment | GRAPHS | {"FAKE_VLLM": '{"keeps_no_graphs": true}'}
    engine = vllm.engine("--max-num-seqs=8", environment=environment)
    for count in (2, 3):
        with engine.launch(WANTED):
            assert launches(vllm) == count
    assert ["no compiled graphs" in event.message for event in vllm.events] == [True]


def test_another_value_than_was_given_is_not_measured(vllm):
    engine = vllm.engine("--max-num-seqs=8", faults={"print": "args: Namespace(max_num_seqs=256)"})
    with pytest.raises(LaunchFailed, match="48 was given, 256 is served") as failure, engine.launch(WANTED):
        pytest.fail("it started")
    assert failure.value.cause is LaunchCause.READ_BACK


def test_a_size_without_a_graph_of_its_own_is_said(vllm):
    line = "(EngineCore) INFO Starting to capture ACL graphs for cases: [64, 32, 16, 8], mode: PIECEWISE"
    with vllm.engine("--max-num-seqs=8", faults={"print": line}).launch(WANTED):
        pass
    assert "a full batch is padded to 64" in vllm.events[0].message
