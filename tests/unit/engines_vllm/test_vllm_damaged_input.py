"""Damaged command lines, scripts and logs are refused or read in part; each case was found by fuzzing."""

import pytest

from autotune.engines.vllm.flags import Flag
from autotune.engines.vllm.log_lines import read_lines
from autotune.engines.vllm.metrics import read_metrics
from autotune.engines.vllm.serving import read_command, read_script
from autotune.engines.vllm.shell_words import shell_commands
from autotune.errors import Refused


def test_a_flag_at_the_end_without_its_value_is_refused():
    with pytest.raises(Refused, match="no value"):
        read_command(["vllm", "serve", "m", "--max-num-seqs"]).with_flags({Flag.MAX_NUM_SEQS: "8"})


@pytest.mark.parametrize("end", ["'", '"', "$(date", "${N", "\\"])
def test_a_script_that_ends_inside_a_quote_is_refused_since_no_shell_runs_it(end):
    with pytest.raises(Refused, match="ends inside"):
        read_script(f"vllm serve m --max-num-seqs 8 {end}", {})


def test_no_word_reaches_beyond_the_text():
    (command,) = shell_commands("echo 'open")
    assert command.words[-1].end == len("echo 'open")
    assert command.words[-1].left_open


@pytest.mark.parametrize(
    "line",
    [
        f"Maximum concurrency for 26,240 tokens per request: {'9' * 400}x",
        f"Maximum concurrency for {'9' * 5000} tokens per request: 10x",
        "Maximum concurrency for 26,240 tokens per request: 1.2.3x",
        f"GPU KV cache size: {'9' * 5000} tokens",
        f"Starting to capture ACL graphs for cases: [{'9' * 5000}, 8]",
        "Available KV cache memory: 1.2.3 GiB",
    ],
)
def test_a_log_line_with_an_absurd_number_tells_nothing(line):
    reading = read_lines([line])
    assert reading.capacity_blocks(128) is None
    assert reading.kv_gib == ()


def test_metrics_whose_sum_is_beyond_a_double_are_unknown():
    body = 'vllm:num_requests_running{engine="0"} 1e308\nvllm:num_requests_running{engine="1"} 1e308\n'
    assert read_metrics(body).running is None
