"""Public logs of vLLM and of its plugin for Ascend give the values that are known of them."""

import json
from pathlib import Path

import pytest

from autotune.engines.vllm.log_failures import first_failure
from autotune.engines.vllm.log_lines import read_lines
from autotune.errors import LaunchCause

FOLDER = Path(__file__).parents[2] / "golden" / "vllm_logs"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())


def lines_of(name: str) -> list[str]:
    return next(FOLDER.glob(f"{name}_*.txt")).read_text().splitlines()


def test_no_known_log_is_left_out():
    assert {path.name[:3] for path in FOLDER.glob("*.txt")} == set(EXPECTED)


def test_v0_printed_blocks_of_two_starts_and_the_second_did_not_start():
    found = read_lines(lines_of("g12"))
    assert list(found.blocks) == EXPECTED["g12"]["gpu_blocks"]
    failure = first_failure(lines_of("g12"))
    assert failure.cause is LaunchCause.MEMORY
    first = read_lines(lines_of("g12")[:4])
    assert first.capacity_blocks(EXPECTED["g12"]["block_size"]) == pytest.approx(1952, rel=0.005)


def test_v1_printed_blocks_first_and_tokens_later():
    found = read_lines(lines_of("g13"))
    assert list(found.blocks) == EXPECTED["g13"]["blocks"]
    assert found.tokens == EXPECTED["g13"]["tokens"]
    assert found.capacity_blocks(16) == 127626


@pytest.mark.parametrize("name", ["g15", "g16"])
def test_tokens_and_concurrency_are_read_with_and_without_commas(name):
    found = read_lines(lines_of(name))
    assert found.tokens == EXPECTED[name]["tokens"]
    assert found.concurrency == EXPECTED[name]["concurrency"]


def test_capacity_lines_are_no_start():
    failure = first_failure(lines_of("g16"))
    assert failure.cause is LaunchCause.MEMORY
    assert "Tried to allocate 2.00 GiB" in failure.lines[0]


def test_the_smaller_of_two_ranks_is_known():
    found = read_lines(lines_of("g20"))
    assert list(found.kv_gib) == EXPECTED["g20"]["kv_gib_per_rank"]
    assert min(found.kv_gib) == EXPECTED["g20"]["min"]
    assert first_failure(lines_of("g20")) is None


def test_memory_that_ran_out_on_several_ranks_is_one_failure():
    assert first_failure(lines_of("g23")).cause is LaunchCause.MEMORY


def test_concurrency_alone_tells_the_capacity_and_the_captured_sizes_are_known():
    found = read_lines(lines_of("g26"))
    assert (found.concurrency, found.max_model_len) == (10.56, 26240)
    assert found.capacity_blocks(128) == pytest.approx(277094 / 128, abs=1)
    assert (found.capture_sizes[0], found.capture_sizes[-1], len(found.capture_sizes)) == (1, 512, 48)


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("vllm: error: unrecognized arguments: --no-such-flag 3", LaunchCause.CONFIG),
        ("OSError: [Errno 98] Address already in use", LaunchCause.PORT),
        ("huggingface_hub.errors.LocalEntryNotFoundError: Cannot find an appropriate", LaunchCause.MODEL),
        ("Value error, max_num_batched_tokens (16) must be greater than or equal to max_num_seqs (32).",
         LaunchCause.CONFIG),
        ("ValueError: To serve at least one request with the model's max seq len (1024)", LaunchCause.MEMORY),
        ("ValueError: No available memory for the cache blocks.", LaunchCause.MEMORY),
        ("INFO Available KV cache memory: -0.87 GiB", LaunchCause.MEMORY),
        ("RuntimeError: EL0009: Insufficient_Stream_Resources", LaunchCause.GRAPH),
        ("error code is 207008", LaunchCause.GRAPH),
        ("EngineDeadError: EngineCore encountered an issue.", LaunchCause.CRASHED),
    ],
)  # fmt: skip
def test_each_failure_has_its_class(line, cause):
    assert first_failure(["INFO starting", line]).cause is cause


def test_a_dead_engine_is_only_the_consequence_of_what_stands_elsewhere():
    lines = ["RuntimeError: Engine core initialization failed.", "RuntimeError: NPU out of memory. Tried"]
    assert first_failure(lines).cause is LaunchCause.MEMORY


def test_ordinary_lines_are_no_failure():
    lines = ["INFO Available KV cache memory: 5.77 GiB", "INFO Engine 000: Running: 8 reqs, Waiting: 48 reqs"]
    assert first_failure(lines) is None


@pytest.mark.parametrize(
    "line",
    [
        "INFO [utils.py:233] non-default args: {'model_tag': 'm', 'max_num_seqs': 48}",
        "INFO api_server.py:585] args: Namespace(host=None, max_num_seqs=48, model='m')",
    ],
)
def test_the_value_that_the_server_was_given_is_read_back(line):
    assert read_lines([line]).max_num_seqs == 48


def test_other_lists_of_a_dumped_configuration_are_no_captured_sizes():
    dump = "config: {'decoder_replay_cudagraph_capture_sizes': [3], 'compile_ranges_endpoints': [2048], "
    assert read_lines([dump + "'cudagraph_capture_sizes': []}"]).capture_sizes == ()
    assert read_lines([dump + "'cudagraph_capture_sizes': [8, 16]}"]).capture_sizes == (8, 16)


def test_the_lines_of_vllm_0_32_on_cpu_are_read():
    lines = [
        "(EngineCore pid=670) INFO [kv_cache_utils.py:2619] Overriding num_gpu_blocks=8192 with 257",
        "CPU KV cache size: 8,224 tokens, Maximum concurrency for 1,024 tokens per request: 8.03x",
        "INFO:     Application startup complete.",
    ]
    found = read_lines(lines)
    assert found.capacity_blocks(32) == 257
    assert (found.max_model_len, found.concurrency, found.announced) == (1024, 8.03, True)
