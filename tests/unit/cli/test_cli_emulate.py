"""`autotune emulate`: an install with the faults and the trace that the command line names."""

import json

import pytest

from autotune.cli.main import run


def emulate(directory, *options):
    return run(["emulate", "--install", str(directory / "install"), *options])


def test_faults_and_trace_are_written_into_the_install(tmp_path, capsys):
    options = ["--fault=out_of_memory_at=600", "--fault=error_rate=0.01", "--fault=start_failure=hccl"]
    assert emulate(tmp_path, *options, "--trace", str(tmp_path / "trace.jsonl"), "--port=0") == 0
    marker = json.loads((tmp_path / "install" / "EMULATED").read_text(encoding="utf-8"))
    assert marker["faults"]["out_of_memory_at"] == 600
    assert marker["faults"]["error_rate"] == 0.01
    assert marker["faults"]["start_failure"] == "hccl"
    assert marker["trace"] == str(tmp_path / "trace.jsonl")
    assert "emulated MindIE" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("meteor=1", "unknown fault: meteor"),
        ("start_failure=moon", "start_failure"),
        ("error_rate=much", "error_rate"),
        ("start_hang", "start_hang"),
    ],
)
def test_a_fault_that_there_is_not_is_refused_before_anything_is_made(tmp_path, capsys, fault, message):
    assert emulate(tmp_path, f"--fault={fault}") == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "install").exists()
