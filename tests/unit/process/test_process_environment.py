"""A service's environment is captured once, free of proxies, with its risky parts shown."""

import os
import subprocess

import pytest

from autotune.errors import UsageError
from autotune.process.environment import notable, read_captured, without_proxies, write_captured


def test_what_env_0_wrote_is_read_back(tmp_path):
    wanted = {"A": "1", "LINES": "two\nlines", "EQUALS": "a=b", "EMPTY": ""}
    captured = subprocess.run(["env", "-0"], env=wanted, stdout=subprocess.PIPE, check=True).stdout
    (tmp_path / "env").write_bytes(captured)
    assert read_captured(tmp_path / "env") == wanted


def test_what_is_written_is_read_back_and_is_for_its_owner_alone(tmp_path):
    wanted = {"A": "1", "LINES": "two\nlines", "EQUALS": "a=b", "EMPTY": "", "BYTES": "\udcff"}
    for _ in range(2):
        write_captured(tmp_path / "env", wanted)
    assert read_captured(tmp_path / "env") == wanted
    assert (tmp_path / "env").stat().st_mode & 0o777 == 0o600


def test_bytes_that_are_no_utf8_survive(tmp_path):
    (tmp_path / "env").write_bytes(b"A=\xff\xfe\0")
    assert os.fsencode(read_captured(tmp_path / "env")["A"]) == b"\xff\xfe"


def test_exported_shell_functions_are_left_out(tmp_path):
    (tmp_path / "env").write_bytes(b"BASH_FUNC_module%%=() { :; }\0A=1\0")
    assert read_captured(tmp_path / "env") == {"A": "1"}


@pytest.mark.parametrize("content", [b"A=1\nB=2\n", b"export A=1\n"])
def test_a_file_of_lines_is_refused_with_the_command_that_writes_it(tmp_path, content):
    (tmp_path / "env").write_bytes(content)
    with pytest.raises(UsageError) as error:
        read_captured(tmp_path / "env")
    assert "env -0 >" in error.value.hint


def test_a_missing_file_says_so(tmp_path):
    with pytest.raises(UsageError, match="No such file"):
        read_captured(tmp_path / "none")


def test_proxies_are_left_out_in_either_case():
    env = {"http_proxy": "x", "HTTPS_PROXY": "y", "No_Proxy": "z", "ALL_PROXY": "a", "PATH": "/bin"}
    assert without_proxies(env) == {"PATH": "/bin"}


def test_what_decides_on_the_code_that_runs_is_shown():
    env = {"PATH": "/bin", "LD_PRELOAD": "/lib/jemalloc.so", "HOME": "/root", "LD_LIBRARY_PATH": "/x"}
    assert [fact.name for fact in notable(env)] == ["LD_LIBRARY_PATH", "LD_PRELOAD", "PATH"]
