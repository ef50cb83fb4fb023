"""Logs: what MindIE and vLLM print while they start."""

from autotune.engines.vllm import log_lines as vllm_lines
from autotune.engines.vllm.log_failures import error_lines
from autotune.engines.vllm.log_failures import first_failure as first_of_vllm
from autotune.mindie_rules.log_failures import first_failure
from autotune.mindie_rules.log_lines import read_lines
from tests.fuzz.target import Target, golden, printed, words_of

WORDS = words_of("logs")


def read_mindie(data: bytes) -> None:
    """Counts are whole and not negative; the lines that say why stand in the log."""
    lines = printed(data).splitlines()
    reading = read_lines(lines)
    assert reading.blocks is None or reading.blocks >= 0
    if reading.shape is not None:
        assert reading.shape.blocks >= 0
        assert reading.shape.layout
        assert reading.shape.block_size >= 0
        assert reading.shape.kv_heads_by_head_size >= 0
    assert (reading.cause is None) == (not reading.error_lines)
    failure = first_failure(lines)
    assert failure is None or failure.lines


def read_vllm(data: bytes) -> None:
    """The same for vLLM."""
    lines = printed(data).splitlines()
    reading = vllm_lines.read_lines(lines)
    for size in (1, 16, 128):
        blocks = reading.capacity_blocks(size)
        assert blocks is None or blocks >= 0
    failure = first_of_vllm(lines)
    assert failure is None or failure.lines
    error_lines(lines)


MINDIE_LOGS = Target(
    name="logs of MindIE",
    law="counts are whole and >= 0; a cause comes with its lines",
    check=read_mindie,
    seeds=lambda: golden("logs", "*.txt"),
    words=WORDS,
)
VLLM_LOGS = Target(
    name="logs of vLLM",
    law="counts are whole and >= 0; a cause comes with its lines",
    check=read_vllm,
    seeds=lambda: golden("vllm_logs", "*.txt"),
    words=WORDS,
)
