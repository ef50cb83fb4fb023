"""The life of the stand-in daemon: start, readiness, bad starts, stop. Facts: MindIE's daemon source."""

import json
import os
import signal
import socket
import time
from pathlib import Path

import psutil
import pytest


def test_a_start_tells_its_pid_on_stderr_and_its_success_on_stdout(start):
    daemon = start().wait_started()
    assert daemon.complained().startswith(f"g_mainPid = {daemon.process.pid}\n")
    lines = daemon.said().splitlines()
    assert lines[0] == f"ConfigManager: Load Config from {daemon.install}/conf/config.json."
    assert lines[-1] == "Daemon start success!"


def test_the_daemon_leads_its_own_process_group(start):
    daemon = start().wait_started()
    assert os.getpgid(daemon.process.pid) == daemon.process.pid
    for child in psutil.Process(daemon.process.pid).children():
        assert os.getpgid(child.pid) == daemon.process.pid


def test_its_children_have_the_names_of_mindies(start):
    daemon = start().wait_started()
    children = psutil.Process(daemon.process.pid).children()
    names = sorted(child.name() for child in children)
    assert names.count("mindie_llm_backend_connector") == 2
    assert sum("mindieservice_daemon" in " ".join(child.cmdline()) for child in children) == 8


def test_a_session_leader_ends_with_255_because_it_cannot_have_a_group_of_its_own(start):
    daemon = start(new_session=True, environment={"MINDIE_LOG_TO_STDOUT": "1"})
    assert daemon.wait_ended() == 255
    assert "Failed to set process group. errno is 1" in daemon.said()


@pytest.mark.parametrize("arguments", [("--help",), ("--config-file",), ("start",), ("--expert-parallel",)])
def test_a_wrong_command_line_ends_with_255(start, arguments):
    daemon = start(arguments=arguments)
    assert daemon.wait_ended() == 255


def test_a_wrong_argument_is_answered_with_those_that_exist(start):
    daemon = start(arguments=("--port", "1"))
    daemon.wait_ended()
    assert (
        "Unrecognized command-line argument, expect [--config-file, --expert-parallel]" in daemon.complained()
    )


def test_ready_is_500_until_the_health_checker_of_3_has_run(start):
    daemon = start().wait_started()
    first = daemon.get(f"{daemon.management}/v2/health/ready")
    assert first.status_code == 500
    assert first.json() == {"message": "Service is abnormal"}
    assert daemon.get(f"{daemon.management}/health").status_code == 200
    daemon.wait_ready()
    ready = daemon.get(f"{daemon.management}/v2/health/ready")
    assert (ready.status_code, ready.content) == (200, b"")


def test_2_3_is_ready_at_once(start):
    daemon = start(version="2.3").wait_started()
    time.sleep(0.05)
    assert daemon.get(f"{daemon.management}/v2/health/ready").status_code == 200


def test_nobody_listens_while_the_model_is_loaded(start):
    daemon = start(start_seconds=30.0)
    time.sleep(0.7)
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", daemon.options.port)) != 0
    daemon.wait_started()


def test_sigterm_ends_with_sigabrt_after_the_quiet_seconds(start):
    daemon = start().wait_ready()
    begin = time.monotonic()
    daemon.process.send_signal(signal.SIGTERM)
    time.sleep(0.1)
    assert daemon.get(f"{daemon.management}/health").status_code == 503
    assert daemon.wait_ended() == -signal.SIGABRT
    assert time.monotonic() - begin >= 5.0 / 20
    errors = daemon.complained()
    assert "Daemon is killing, please wait about 15 seconds..." in errors
    assert "All subprocesses exited gracefully." in errors


def test_no_child_is_left_after_a_stop(start):
    daemon = start().wait_ready()
    children = psutil.Process(daemon.process.pid).children()
    daemon.process.send_signal(signal.SIGTERM)
    daemon.wait_ended()
    assert not any(child.is_running() for child in children)


def catches(pid: int, number: int) -> bool:
    """Whether the process has a handler for the signal."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace").splitlines()
    caught = next(line for line in lines if line.startswith("SigCgt:")).partition(":")[2]
    return bool(int(caught, 16) >> (number - 1) & 1)


def test_sigterm_during_the_load_ends_with_sigabrt(start):
    daemon = start(start_seconds=600.0)
    end = time.monotonic() + 20
    while not catches(daemon.process.pid, signal.SIGTERM):
        assert time.monotonic() < end
        time.sleep(0.02)
    daemon.process.send_signal(signal.SIGTERM)
    assert daemon.wait_ended() == -signal.SIGABRT


def test_sigint_ends_it_as_sigterm_does(start):
    daemon = start().wait_started()
    daemon.process.send_signal(signal.SIGINT)
    assert daemon.wait_ended() == -signal.SIGABRT


def test_a_rank_that_dies_takes_the_service_down(start):
    daemon = start(environment={"MINDIE_LOG_TO_STDOUT": "1"}).wait_started()
    rank = next(
        child
        for child in psutil.Process(daemon.process.pid).children()
        if child.name() == "mindie_llm_backend_connector"
    )
    rank.kill()
    assert daemon.wait_ended() == -signal.SIGABRT
    assert f"Process {rank.pid} was terminated by signal 9 (Killed)" in daemon.said()


def _set(install: Path, value: object) -> None:
    path = install / "conf" / "config.json"
    text = path.read_text(encoding="utf-8").replace('"maxBatchSize" : 200', f'"maxBatchSize" : {value}')
    path.write_text(text, encoding="utf-8")


def test_a_wrong_value_is_told_on_stdout_and_the_daemon_kills_itself(start):
    daemon = start(edit=lambda install: _set(install, 0))
    assert daemon.wait_ended() == -signal.SIGKILL
    assert "scheduleParam.maxPrefillBatchSize [50] is out of bound [0]" in daemon.said() or (
        "scheduleParam.maxBatchSize [0] is less than [1]" in daemon.said()
    )
    assert "Daemon start success!" not in daemon.said()


def test_a_comment_in_the_file_is_no_json(start):
    daemon = start(edit=lambda install: _set(install, "200 // tokens"))
    assert daemon.wait_ended() == -signal.SIGKILL
    assert "Json file is invalid. Please check json format! " in daemon.said().splitlines()


def test_a_file_that_others_may_read_is_refused(start):
    daemon = start(edit=lambda install: (install / "conf" / "config.json").chmod(0o644))
    assert daemon.wait_ended() == -signal.SIGKILL
    assert "Required permisssion is 640, but got permission is 644" in daemon.said()


def test_the_environment_names_the_file_when_the_command_line_does_not(start, tmp_path):
    other = tmp_path / "other.json"

    def edit(install: Path) -> None:
        source = install / "conf" / "config.json"
        other.write_text(
            source.read_text(encoding="utf-8").replace('"maxBatchSize" : 200', '"maxBatchSize" : 435')
        )
        other.chmod(0o640)

    daemon = start(edit=edit, environment={"MIES_CONFIG_JSON_PATH": str(other)}).wait_started()
    assert daemon.get(f"{daemon.management}/info").json()["max_concurrent_requests"] == 435


def test_the_command_line_wins_over_the_environment(start, tmp_path):
    other = tmp_path / "other.json"

    def edit(install: Path) -> None:
        source = install / "conf" / "config.json"
        other.write_text(
            source.read_text(encoding="utf-8").replace('"maxBatchSize" : 200', '"maxBatchSize" : 300')
        )
        other.chmod(0o640)

    daemon = start(
        edit=edit,
        arguments=("--config-file", str(other)),
        environment={"MIES_CONFIG_JSON_PATH": "/nowhere/config.json"},
    ).wait_started()
    assert daemon.get(f"{daemon.management}/info").json()["max_concurrent_requests"] == 300


def test_a_busy_port_is_noticed_after_the_load_and_kills_the_start(start, options):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", options.metrics_port))
        taken.listen()
        daemon = start(environment={"MINDIE_LOG_TO_STDOUT": "1"})
        assert daemon.wait_ended() == -signal.SIGKILL
    said = daemon.said()
    assert "Socket bind failed, bind_result is -1. Address already in use" in said
    assert "Management or Business or Metrics Http server listen port is occupied" in said
    assert "k_caches[0].shape" in said


def test_the_shipped_log_settings_hide_the_block_lines(start):
    shipped = {"MINDIE_LOG_LEVEL": "ERROR", "MINDIE_LOG_TO_STDOUT": "0"}
    daemon = start(environment=shipped).wait_started()
    assert "k_caches" not in daemon.said()


def test_at_info_the_blocks_are_printed_and_the_last_line_counts(start):
    daemon = start(
        environment={"MINDIE_LOG_LEVEL": "INFO", "MINDIE_LOG_TO_STDOUT": "llm:true"}
    ).wait_started()
    shapes = [line for line in daemon.said().splitlines() if "k_caches[0].shape" in line]
    assert "torch.Size([2176, 128, 4, 128])" in shapes[-1]
    assert "NPU blocks = 2175" in daemon.said()
    assert "[server] [INFO]" not in daemon.said()


def test_log_files_lie_below_the_home_folder(start, tmp_path):
    daemon = start(environment={"MINDIE_LOG_TO_FILE": "1", "MINDIE_LOG_LEVEL": "INFO"}).wait_started()
    folder = tmp_path / "home" / "mindie" / "log"
    names = [path.name for path in (folder / "debug").iterdir()]
    assert any(name.startswith(f"mindie-llm_{daemon.process.pid}_") for name in names)
    assert any(name.startswith(f"mindie-server_{daemon.process.pid}_") for name in names)
    assert list((folder / "security").iterdir())


def test_the_daemon_itself_puts_a_missing_log_section_back(start):
    def edit(install: Path) -> None:
        path = install / "conf" / "config.json"
        document = json.loads(path.read_text(encoding="utf-8"))
        del document["LogConfig"]
        path.write_text(json.dumps(document), encoding="utf-8")

    daemon = start(edit=edit).wait_started()
    path = daemon.install / "conf" / "config.json"
    end = time.monotonic() + 5
    while "LogConfig" not in path.read_text(encoding="utf-8"):
        assert time.monotonic() < end
        time.sleep(0.05)
    assert path.read_text(encoding="utf-8").startswith('{\n    "Version": "1.0.0"')


def test_shared_memory_is_left_behind_by_a_kill_and_not_by_a_stop(start):
    def files(daemon) -> list[str]:
        names = (path.name for path in Path("/dev/shm").glob("*emulated_*"))
        return sorted(name for name in names if f"_{daemon.process.pid}_" in name)

    daemon = start().wait_started()
    made = files(daemon)
    assert sum("llm_backend_" in name for name in made) == 2
    assert sum(name.startswith("llm_tokenizer_shared_memory_") for name in made) == 8
    daemon.process.send_signal(signal.SIGTERM)
    daemon.wait_ended()
    assert files(daemon) == []
    killed = start().wait_started()
    os.killpg(killed.process.pid, signal.SIGKILL)
    killed.wait_ended()
    assert len(files(killed)) == 10


@pytest.mark.parametrize(
    ("version", "blocks"), [("3.0", 2175), ("2.3", 2175), ("2.0", None), ("1.0.RC2", None)]
)
def test_each_generation_starts_with_its_own_layout(start, version, blocks):
    daemon = start(version=version, max_link_num=300).wait_started()
    resource = daemon.get(f"{daemon.management}/v1/status").json()["resource"]
    assert resource["totalNpuBlockNums"] == blocks
    layout = json.loads((daemon.install / "conf" / "config.json").read_text(encoding="utf-8"))
    assert ("ScheduleParam" in layout) == (version == "1.0.RC2")
    names = [child.name() for child in psutil.Process(daemon.process.pid).children()]
    connector = "mindieservice_backend_connector" if version[0] == "1" else "mindie_llm_backend_connector"
    assert names.count(connector) == 2
    assert daemon.get(f"{daemon.management}/info").json()["max_concurrent_requests"] == 200
