"""The command line before any work is done: help is light, errors are clear and carry their exit code."""

import errno
import os
import signal
import subprocess
import sys
import time

import click
import pytest

from autotune.cli.main import COMMANDS, group, run
from autotune.errors import Busy, NotRestored

HEAVY = ("optuna", "pandas", "matplotlib", "psutil", "requests", "numpy", "scipy", "pydantic", "rich")


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


def test_help_imports_none_of_the_heavy_packages():
    code = f"""
import sys
from autotune.cli.main import run
run(["--help"])
print("LOADED", [name for name in {HEAVY!r} if name in sys.modules])
"""
    assert "LOADED []" in python(code)


@pytest.mark.real_time
def test_help_answers_in_a_fifth_of_a_second():
    def once() -> float:
        began = time.perf_counter()
        subprocess.run([sys.executable, "-m", "autotune", "--help"], capture_output=True, check=True)
        return time.perf_counter() - began

    once()
    assert min(once() for _ in range(5)) < 0.2


def test_an_interrupt_while_it_loads_ends_it_without_a_traceback():
    code = """
import os, signal, sys
class Impatient:
    def find_spec(self, name, *_):
        if name == "autotune.cli.main":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Impatient())
from autotune.cli.entry import main
main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_of_the_list_exists_and_explains_itself(name, capsys):
    assert run([name, "--help"]) == 0
    assert capsys.readouterr().out.startswith("Usage: autotune")


def test_the_list_of_commands_has_a_line_for_each(capsys):
    assert run(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in COMMANDS)


def test_an_unknown_command_is_wrong_usage_and_the_nearest_one_is_named(capsys):
    assert run(["tnue"]) == 2
    assert "No such command 'tnue': did you mean tune?" in capsys.readouterr().err
    assert run(["xyzzy"]) == 2
    assert "No such command 'xyzzy'." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("number", "mend"),
    [(errno.ENOSPC, "free some space"), (errno.EROFS, "not read-only"), (errno.ENOENT, "mend the path")],
)
def test_an_error_of_the_system_names_its_place_and_what_mends_it(monkeypatch, capsys, number, mend):
    def fail(**_options: object) -> None:
        raise OSError(number, os.strerror(number), "/some/place")

    monkeypatch.setattr(group.get_command(None, "recover"), "callback", fail)
    assert run(["recover"]) == 1
    told = capsys.readouterr().err
    assert "/some/place" in told
    assert mend in told


def test_an_expected_error_is_one_text_with_the_next_step(monkeypatch, capsys):
    def refuse(**_options: object) -> None:
        raise Busy("another run holds the lock", hint="wait until it ends")

    monkeypatch.setattr(group, "main", refuse)
    assert run([]) == 75
    assert capsys.readouterr().err == "error: another run holds the lock\nnext:  wait until it ends\n"


def test_what_was_not_restored_is_loud(monkeypatch, capsys):
    def refuse(**_options: object) -> None:
        raise NotRestored("config.json was edited by somebody else")

    monkeypatch.setattr(group, "main", refuse)
    assert run([]) == 4
    assert capsys.readouterr().err.startswith("NOT RESTORED: ")


def test_ctrl_c_before_anything_is_130(monkeypatch):
    def interrupt(**_options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(group, "main", interrupt)
    assert run([]) == 130


def options_of(command):
    for below in getattr(command, "commands", {}).values():
        yield from options_of(below)
    yield from (each for each in command.params if isinstance(each, click.Option))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_says_what_it_is_for(name):
    assert [each.name for each in options_of(group.get_command(None, name)) if not each.help] == []


def test_a_mistyped_state_directory_is_no_news_that_all_is_well(tmp_path, capsys):
    assert run(["recover", "--state", str(tmp_path / "stat")]) == 0
    assert "there is no state directory" in capsys.readouterr().out
    (tmp_path / "state").mkdir(mode=0o700)
    assert run(["recover", "--state", str(tmp_path / "state")]) == 0
    assert capsys.readouterr().out == "nothing to recover\n"
