"""`autotune load` from outside."""

import json
import os
import subprocess
import sys

import pytest

FAST = ("--first-ms", "5", "--step-ms", "4")
KEYS = {
    *("tokens_per_second", "half_width", "whole_run_tokens_per_second", "requests", "completed", "failed"),
    *("short_replies", "ttft_ms", "event_gap_ms", "tpot_ms", "e2e_ms", "events", "reads", "output_tokens"),
    *("input_tokens", "concurrency_reached", "client_cpu_seconds", "seconds"),
}


def autotune(server, *arguments, **environment):
    argv = [
        *(sys.executable, "-m", "autotune", "load", "--url", f"http://127.0.0.1:{server.port}"),
        *("--model", "m", "--output-tokens", "20", *arguments),
    ]
    return subprocess.run(
        argv, capture_output=True, text=True, timeout=60, env={**os.environ, **environment}, check=False
    )


def test_the_document_has_the_keys_of_the_contract_and_no_other(mock):
    with mock(*FAST) as server:
        done = autotune(server, "--api", "openai", "--concurrency", "8", "--requests", "200", "--json")
        truth = server.truth()
    document = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    assert set(document) == KEYS
    for name in ("ttft_ms", "event_gap_ms", "tpot_ms", "e2e_ms"):
        assert set(document[name]) == {"mean", "p50", "p75", "p90", "p99"}
    assert (document["completed"], document["failed"]) == (200, {})
    assert document["output_tokens"] == truth["tokens"]


def test_people_get_one_block(mock):
    with mock(*FAST) as server:
        done = autotune(server, "--api", "tgi", "--concurrency", "4", "--requests", "20")
    assert done.returncode == 0
    assert "20 of 20 completed" in done.stdout
    assert done.stderr == ""


def test_failures_are_printed_and_leave_with_their_own_code(mock):
    with mock(*FAST, "--http500", "5") as server:
        done = autotune(server, "--api", "tgi", "--concurrency", "4", "--requests", "20", "--json")
    assert json.loads(done.stdout)["failed"] == {"http_500": 4}
    assert done.returncode == 5
    assert "requests_failed" in done.stderr


def test_nothing_there_is_told_with_the_next_step(mock):
    with mock(*FAST) as server:
        server.kill()
        done = autotune(server, "--api", "tgi", "--concurrency", "4")
    assert done.returncode == 5
    assert "nothing listens" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--api", "tgi"), "--concurrency"),
        (("--api", "nonsense", "--concurrency", "4"), "nonsense"),
        (("--api", "tgi", "--concurrency", "0"), "0"),
        (
            ("--api", "tgi", "--concurrency", "4", "--dataset", "/nowhere", "--dataset-type", "gsm8k"),
            "not there",
        ),
    ],
)
def test_wrong_usage_is_code_two(arguments, words, mock):
    with mock(*FAST) as server:
        done = autotune(server, *arguments)
    assert done.returncode == 2
    assert words in done.stderr


def test_secrets_are_sent_and_never_printed(mock):
    with mock(*FAST, "--http500", "2") as server:
        done = autotune(
            server,
            *("--api", "tgi", "--concurrency", "1", "--requests", "4", "--header", "Authorization=env:TOKEN"),
            TOKEN="s3cret-value",
        )
    assert "s3cret-value" not in done.stdout + done.stderr


def test_no_heavy_package_is_loaded_before_the_clock_has_stopped(mock):
    code = (
        "import sys\n"
        "from autotune.cli.main import run\n"
        "run(sys.argv[1:])\n"
        "heavy = {'numpy', 'scipy', 'pandas', 'requests', 'optuna', 'pydantic', 'matplotlib', 'yaml'}\n"
        "sys.exit(', '.join(heavy & set(sys.modules)) or None)\n"
    )
    with mock(*FAST) as server:
        argv = [
            *(sys.executable, "-c", code, "load", "--url", f"http://127.0.0.1:{server.port}", "--model", "m"),
            *("--api", "tgi", "--concurrency", "2", "--requests", "4", "--output-tokens", "5"),
        ]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def test_a_data_set_is_sent(mock, tmp_path):
    file = tmp_path / "test.jsonl"
    file.write_text(
        "".join(json.dumps({"question": f"What is {i}?", "answer": "1"}) + "\n" for i in range(30))
    )
    with mock(*FAST) as server:
        done = autotune(
            server,
            *("--api", "openai-chat", "--concurrency", "4", "--requests", "30", "--json"),
            *("--dataset", str(file), "--dataset-type", "gsm8k"),
        )
    assert json.loads(done.stdout)["completed"] == 30
