"""Log files, shared memory, ports, the daemon's command line and its own rewriting of config.json."""

import io
import json
import socket
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from autotune.emulator import arguments, log_config_rewrite
from autotune.emulator.logs import ServerLog, Switches
from autotune.emulator.port_probe import time_wait_seconds, why_busy
from autotune.emulator.shared_memory import SharedFiles
from autotune.errors import UsageError

NOW = datetime(2026, 11, 30, 10, 0, 0, tzinfo=timezone.utc)


# --- logs


@pytest.fixture
def log(tmp_path):
    made = []

    def make(**environment):
        screen = io.StringIO()
        made.append(ServerLog({"HOME": str(tmp_path)} | environment, screen=screen))
        return made[-1], screen

    yield make
    for one in made:
        one.close()


def test_without_switches_lines_go_to_files_and_not_to_the_screen(tmp_path, log):
    server, screen = log()
    server.at_info("here.cpp:1", "hello")
    assert screen.getvalue() == ""
    (path,) = (tmp_path / "mindie" / "log" / "debug").iterdir()
    assert path.name.startswith("mindie-server_")
    assert path.read_text(encoding="utf-8").endswith("[server] [INFO] [here.cpp:1] : hello\n")


@pytest.mark.parametrize("level", ["ERROR", "error", "llm:INFO;server:ERROR", "NULL"])
def test_a_level_silences_what_is_below_it(log, level):
    server, screen = log(MINDIE_LOG_LEVEL=level, MINDIE_LOG_TO_STDOUT="1")
    server.at_info("here.cpp:1", "hello")
    assert screen.getvalue() == ""
    assert not server.requests


def test_a_switch_can_name_its_component(tmp_path, log):
    server, screen = log(MINDIE_LOG_TO_STDOUT="llm:true;server:0", MINDIE_LOG_TO_FILE="0")
    server.at_info("here.cpp:1", "not shown")
    server.line("llm", "INFO", "shown")
    assert screen.getvalue() == "shown\n"
    assert not (tmp_path / "mindie").exists()


def test_the_old_switches_of_the_python_part_still_count():
    old = {"MINDIE_LLM_PYTHON_LOG_LEVEL": "DEBUG", "MINDIE_LLM_PYTHON_LOG_TO_STDOUT": "1"}
    assert Switches(old, "llm").to_stdout
    assert Switches(old, "llm").level == 10
    assert not Switches(old, "server").to_stdout


def test_an_own_folder_can_be_named(tmp_path, log):
    server, _ = log(MINDIE_LOG_PATH=str(tmp_path / "elsewhere"))
    server.audit("system", "stop endpoint", "success")
    (path,) = (tmp_path / "elsewhere" / "security").iterdir()
    assert "[system] [server] [stop endpoint] [success]" in path.read_text(encoding="utf-8")


def test_a_folder_that_cannot_be_made_loses_the_lines_and_nothing_else(tmp_path, log):
    (tmp_path / "file").write_text("x", encoding="utf-8")
    server, _ = log(MINDIE_LOG_PATH=str(tmp_path / "file"))
    server.at_error("here.cpp:1", "lost")


def test_buffered_lines_are_written_by_flush(tmp_path, log):
    server, _ = log()
    server.buffered = True
    server.at_info("here.cpp:1", "hello")
    (path,) = (tmp_path / "mindie" / "log" / "debug").iterdir()
    assert path.read_text(encoding="utf-8") == ""
    server.flush()
    assert "hello" in path.read_text(encoding="utf-8")


# --- shared memory


def test_only_files_with_the_mark_of_the_install_are_ours(tmp_path):
    memory = tmp_path / "shm"
    memory.mkdir()
    (memory / "other_llm_backend_0").write_text("x", encoding="utf-8")
    ours = SharedFiles(tmp_path / "install", folder=memory)
    neighbour = SharedFiles(tmp_path / "neighbour", folder=memory)
    ours.create(ranks=2, tokenizers=3)
    neighbour.create(ranks=1, tokenizers=1)
    assert len(list(memory.iterdir())) == 1 + 5 + 2
    ours.remove_own()
    left = {path.name for path in memory.iterdir()}
    assert len(left) == 3
    assert "other_llm_backend_0" in left
    neighbour.remove_own()


def test_files_of_an_earlier_process_are_leftovers(tmp_path):
    ours = SharedFiles(tmp_path, folder=tmp_path)
    ours.create(ranks=1, tokenizers=0)
    (made,) = tmp_path.iterdir()
    pid = made.name.split("_")[2]
    made.rename(tmp_path / made.name.replace(f"_{pid}_", "_1_"))
    assert [path.name for path in ours.leftovers()] == [made.name.replace(f"_{pid}_", "_1_")]
    ours.remove_own()
    assert ours.leftovers()


def test_files_are_held_open_as_long_as_they_are_in_use(tmp_path):
    ours = SharedFiles(tmp_path, folder=tmp_path)
    ours.create(ranks=1, tokenizers=0)
    (made,) = tmp_path.iterdir()

    def held():
        return [entry for entry in Path("/proc/self/fd").iterdir() if entry.exists() and entry.samefile(made)]

    assert held()
    ours.remove_own()
    assert not made.exists()


def test_a_folder_that_is_missing_is_no_fault(tmp_path):
    gone = SharedFiles(tmp_path, folder=tmp_path / "gone")
    gone.create(ranks=1, tokenizers=1)
    gone.remove_own()
    assert gone.leftovers() == ()


# --- ports


def test_a_listener_is_in_the_way_and_a_free_port_is_not():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        assert why_busy(port, 1.0) == "Address already in use"
        assert why_busy(port, 1000.0) == "Address already in use"
    assert why_busy(port, 1.0) == ""


def test_a_connection_in_time_wait_blocks_as_much_shorter_as_the_service_is_faster(tmp_path):
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as client:
            accepted, _ = server.accept()
            accepted.close()
            assert client.recv(1) == b""
    table = tmp_path / "tcp"
    line = "0: 0100007F:{port:04X} 0100007F:B000 06 00000000:00000000 03:{ticks:08X} 00000000 0 0 0 3 0"
    table.write_text("head\n" + line.format(port=port, ticks=5000) + "\n", encoding="ascii")
    assert time_wait_seconds(port, (table, tmp_path / "missing")) == [50.0]
    assert why_busy(port, 1.0, (table,)) == "Address already in use"
    assert why_busy(port, 5.0, (table,)) == "Address already in use"
    assert why_busy(port, 10.0, (table,)) == ""


# --- command line


@pytest.mark.parametrize("argv", [["--help"], ["config.json"], ["--config-file=a"], ["--config-file"]])
def test_anything_but_the_two_options_is_refused(argv):
    with pytest.raises(UsageError):
        arguments.parse(argv)


def test_the_two_options_take_a_value_each():
    argv = ["--config-file", "/c.json", "--expert-parallel", "true"]
    assert arguments.parse(argv) == {"--config-file": "/c.json", "--expert-parallel": "true"}
    assert arguments.parse([]) == {}


# --- the daemon's own rewriting


def test_a_missing_log_section_is_put_at_the_end_and_the_file_dumped_with_four_blanks():
    text = '{"b":1,"a":{"c":[1,2]}}'
    changed = log_config_rewrite.rewritten(text, NOW)
    assert changed is not None
    assert list(json.loads(changed)) == ["b", "a", "LogConfig"]
    assert changed.startswith('{\n    "b": 1,\n    "a": {\n        "c": [\n            1,\n')


def section(level, since="", hours=2):
    return (
        f'{{ "LogConfig" : {{\n  "dynamicLogLevel" : "{level}",\n  "dynamicLogLevelValidHours": {hours},\n'
        f'  "dynamicLogLevelValidTime" : "{since}" }} }}'
    )


def test_a_dynamic_level_is_dated_in_its_line_and_nothing_else_changes():
    changed = log_config_rewrite.rewritten(section("DEBUG"), NOW)
    assert changed == section("DEBUG", "2026-11-30 10:00:00")


def test_a_level_that_has_run_out_is_taken_back():
    since = (NOW - timedelta(hours=3)).strftime("%Y-%m-%d %H:%M:%S")
    assert log_config_rewrite.rewritten(section("DEBUG", since), NOW) == section("")
    assert log_config_rewrite.rewritten(section("DEBUG", since, hours=5), NOW) is None


@pytest.mark.parametrize("text", [section(""), "no json", "[]", section("DEBUG", "yesterday")])
def test_otherwise_the_file_is_left_alone(text):
    assert log_config_rewrite.rewritten(text, NOW) is None


def test_a_file_is_written_only_when_something_changes(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(section(""), encoding="utf-8")
    before = path.stat().st_mtime_ns
    assert not log_config_rewrite.rewrite(path, NOW)
    assert path.stat().st_mtime_ns == before
    path.write_text("{}", encoding="utf-8")
    assert log_config_rewrite.rewrite(path, NOW)
    assert not log_config_rewrite.rewrite(Path("/nowhere/config.json"), NOW)
