"""The lines of a start tell why it failed; the exit code only where they do not."""

from pathlib import Path

import pytest

from autotune.engines.mindie.log_watch import LogWatch, copy_tails, newest_logs
from autotune.errors import LaunchCause

LOGS = Path(__file__).parents[2] / "golden" / "logs"


def watch(tmp_path, output="", **files) -> LogWatch:
    (tmp_path / "output.log").write_text(output)
    (tmp_path / "log").mkdir(exist_ok=True)
    for name, text in files.items():
        (tmp_path / "log" / f"{name}.log").write_text(text)
    return LogWatch(tmp_path / "output.log", tmp_path / "log")


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("g05_mindie_22rc1_multimodal_warmup_oom", LaunchCause.MEMORY),
        ("g08_mindie_port_in_use_fail", LaunchCause.PORT),
        ("g02_mindie_rc2_init_failure_8_ranks", LaunchCause.MODEL),
    ],
)
def test_public_logs_of_failed_starts_have_their_class(tmp_path, name, cause):
    failure = watch(tmp_path, mindie=(LOGS / f"{name}.txt").read_text()).failure(-9, seconds=3, started=False)
    assert failure.cause in {cause, LaunchCause.CRASHED} if name.startswith("g02") else failure.cause is cause
    assert failure.lines


def test_a_kill_without_a_line_is_called_neither_its_own_nor_out_of_memory(tmp_path):
    failure = watch(tmp_path, "g_mainPid = 1\n").failure(-9, seconds=3, started=False)
    assert failure.cause is LaunchCause.UNKNOWN
    assert "killed (signal 9), by itself, by somebody, or by the kernel" in failure.message
    told = watch(tmp_path, "Json file is invalid. Please check json format! \n")
    assert "killed its own process group" in told.failure(-9, seconds=3, started=False).message
    assert failure.lines == ("g_mainPid = 1",)


@pytest.mark.parametrize(
    "asked",
    [
        "Enter PEM pass phrase:",
        "Please input the password of the private key:\n",
        "Password for /opt/security/keys/server.key.pem: ",
        "请输入私钥密码：",
        "\x1b[1mEnter passphrase >\x1b[0m",
    ],
)
def test_a_question_for_a_password_at_the_end_of_the_output_is_seen(tmp_path, asked):
    seen = watch(tmp_path, f"g_mainPid = 1\n{asked}")
    seen.look()
    assert seen.prompt() in asked
    assert seen.prompt()


@pytest.mark.parametrize(
    "said",
    [
        "g_mainPid = 1\n",
        "Enter PEM pass phrase:\nDaemon start success!\n",
        "[INFO] tlsPkPwd: the password file was read: ok\n",
        "[WARN] no password:\n",
        "loading 50 %",
    ],
)
def test_what_only_mentions_a_password_or_was_answered_is_no_question(tmp_path, said):
    seen = watch(tmp_path, said)
    seen.look()
    assert not seen.prompt()


def test_a_death_under_load_is_a_crash_unless_memory_ran_out(tmp_path):
    crashed = watch(tmp_path, "Process 7 was terminated by signal 9 (Killed)\n")
    assert crashed.failure(-9, seconds=60, started=True).cause is LaunchCause.CRASHED
    memory = watch(tmp_path, "RuntimeError: NPU out of memory. Tried to allocate 2.57 GiB\n")
    assert memory.failure(-9, seconds=60, started=True).cause is LaunchCause.MEMORY


def test_the_start_line_is_seen_in_the_output_and_in_a_log_that_came_later(tmp_path):
    seen = watch(tmp_path, "Daemon start ")
    seen.look()
    assert not seen.announced
    with (tmp_path / "output.log").open("a") as output:
        output.write("success!\n")
    seen.look()
    assert seen.announced


def test_blocks_are_the_least_over_the_ranks_and_the_last_of_each(tmp_path):
    lines = "".join(
        f"[2025-02-10 10:55:2{n},153] [{pid}] [1] [llm] [INFO][logging.py-227] : "
        f"<<<<<<< ori k_caches[0].shape=torch.Size([{blocks}, 128, 4, 128])\n"
        for n, (pid, blocks) in enumerate([(1, 9), (2, 9), (1, 2178), (2, 2176)])
    )
    seen = watch(tmp_path, rank=lines)
    seen.look()
    assert seen.reading().blocks == 2176


def test_a_very_long_log_keeps_its_beginning_and_its_end(tmp_path):
    text = "npuBlockNum: 2176\n" + "noise\n" * 40_000 + "Daemon start success!\n"
    seen = watch(tmp_path, text)
    seen.look()
    assert seen.announced
    assert seen.reading().blocks == 2176


def test_logs_that_were_written_since_are_found_and_their_ends_kept(tmp_path):
    old, new = tmp_path / "old.log", tmp_path / "debug" / "mindie-server_7.log"
    new.parent.mkdir()
    old.write_text("old\n")
    new.write_text("\x1b[31mERROR\x1b[0m\n")
    import os

    os.utime(old, (1000, 1000))
    found = newest_logs([tmp_path, tmp_path / "none"], since=2000)
    assert found == (new,)
    copy_tails(found, tmp_path / "kept")
    assert (tmp_path / "kept" / new.name).read_text() == "ERROR\n"


def test_a_version_that_logs_in_a_place_of_its_own_is_classed_by_what_it_wrote_there(tmp_path):
    old = tmp_path / "pythonlog.log"
    old.write_text("RuntimeError: NPU out of memory. Tried to allocate 2.57 GiB\n")
    seen = watch(tmp_path, "g_mainPid = 1\n")
    seen = LogWatch(tmp_path / "output.log", tmp_path / "log", elsewhere=lambda: (old, tmp_path / "gone"))
    failure = seen.failure(-9, seconds=3, started=False)
    assert failure.cause is LaunchCause.MEMORY
    assert "out of memory" in failure.lines[0]


def test_memory_that_runs_out_under_load_is_told_once_and_by_new_lines_only(tmp_path):
    seen = watch(tmp_path, "RuntimeError: NPU out of memory. Tried to allocate 2.57 GiB\n")
    seen.look()
    assert seen.memory_ran_out() is None
    with (tmp_path / "output.log").open("a") as output:
        output.write("noise\nEL0004: Failed to allocate memory.\n")
    failure = seen.memory_ran_out()
    assert failure.cause is LaunchCause.MEMORY
    assert failure.lines == ("EL0004: Failed to allocate memory.",)
    assert seen.memory_ran_out() is None


def test_a_kill_by_the_kernel_for_want_of_host_memory_is_told_from_the_daemons_own(tmp_path):
    watch(tmp_path, "g_mainPid = 1\n")
    counts = iter([3, 4])
    seen = LogWatch(tmp_path / "output.log", tmp_path / "log", kills=lambda: next(counts))
    failure = seen.failure(-9, seconds=3, started=False)
    assert failure.cause is LaunchCause.MEMORY
    assert "oom_kill" in failure.message


@pytest.mark.parametrize("counts", [[3, 3], [None, None], [None, 4]])
def test_without_such_a_kill_nothing_is_called_out_of_memory(tmp_path, counts):
    watch(tmp_path, "g_mainPid = 1\n")
    told = iter(counts)
    seen = LogWatch(tmp_path / "output.log", tmp_path / "log", kills=lambda: next(told))
    assert seen.failure(-9, seconds=3, started=False).cause is LaunchCause.UNKNOWN
