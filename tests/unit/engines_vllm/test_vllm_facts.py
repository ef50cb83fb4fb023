"""What a command line says of its server, and which values suit its graphs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.engines.vllm.facts import facts_of, gears_for, grid_of
from autotune.engines.vllm.serving import read_command, read_script
from autotune.engines.vllm.start_checks import check_settings
from autotune.errors import LaunchCause, LaunchFailed, Refused
from autotune.model.settings import Settings


def facts(line: str, **environment):
    return facts_of(read_command(f"vllm serve m {line}".split()), environment)


def test_defaults_are_those_of_vllm():
    found = facts("")
    assert (found.url, found.names_port, found.model_name) == ("http://127.0.0.1:8000", False, "m")
    assert (found.max_num_seqs, found.block_size, found.tensor_parallel) == (None, 128, 1)


def test_a_server_of_all_addresses_is_reached_over_loopback():
    assert facts("--host 0.0.0.0 --port 8080").url == "http://127.0.0.1:8080"
    assert facts("--host :: --port 8080").url == "http://[::1]:8080"
    assert facts("--ssl-certfile c --ssl-keyfile k").url == "https://127.0.0.1:8000"


def test_the_name_in_requests_is_the_served_one():
    assert facts("--served-model-name tiny other").model_name == "tiny"


def test_the_key_comes_from_the_command_or_the_environment():
    assert facts("--api-key a", VLLM_API_KEY="b").api_key == "a"
    assert facts("", VLLM_API_KEY="b").api_key == "b"


@pytest.mark.parametrize("line", ["--uds /tmp/s", "--headless", "--nnodes 2", "--config serve.yaml"])
def test_servers_that_cannot_be_tuned_are_refused(line):
    with pytest.raises(Refused):
        facts(line)


def test_a_configuration_file_is_outranked_by_the_command_line():
    assert facts("--config serve.yaml --max-num-seqs 8").max_num_seqs == 8


def test_the_grid_is_1_2_4_and_multiples_of_8():
    assert grid_of(facts(""), most=40) == (1, 2, 4, 8, 16, 24, 32, 40)


def test_the_grid_keeps_to_multiples_of_the_tensor_parallel_size():
    assert grid_of(facts("-tp 4"), most=32) == (4, 8, 16, 24, 32)
    assert grid_of(facts("--tensor-parallel-size 16"), most=64) == (16, 32, 48, 64)


def test_gears_are_on_the_grid_and_1_is_not():
    gear = {"PTA_TORCHAIR_DECODE_GEAR_ENABLE": "1", "PTA_TORCHAIR_DECODE_GEAR_LIST": "2,4,6,8,16,32"}
    found = facts("", **gear)
    assert found.gears == (2, 4, 6, 8, 16, 32)
    assert grid_of(found, most=40) == (2, 4, 6, 8, 16, 24, 32, 40)
    assert facts("--enforce-eager", **gear).gears == ()


def test_gears_that_a_script_exports_count():
    text = (
        "export PTA_TORCHAIR_DECODE_GEAR_ENABLE=1\nexport PTA_TORCHAIR_DECODE_GEAR_LIST=2,8\nvllm serve m\n"
    )
    assert facts_of(read_script(text, {}), {}).gears == (2, 8)


@pytest.mark.parametrize(
    ("value", "gears"), [(16, "2,4,8,16"), (32, "2,4,8,32"), (48, "2,4,8,32,48"), (1, "1")]
)
def test_the_largest_gear_is_made_the_largest_batch(value, gears):
    assert gears_for((2, 4, 8, 32), value) == gears


@pytest.mark.parametrize(
    "line",
    [
        '--compilation-config {"cudagraph_capture_sizes":[4,8,96,64]}',
        '-O {"cudagraph_capture_sizes":[4,8,96,64]}',
        "--cudagraph-capture-sizes 4 8 96 64",
    ],
)
def test_capture_sizes_of_the_command_line_are_the_grid(line):
    assert grid_of(facts(line), most=112) == (4, 8, 64, 96, 104, 112)


@given(st.integers(1, 32), st.integers(1, 512))
def test_every_value_of_the_grid_suits_the_tensor_parallel_size(tensor, most):
    grid = grid_of(facts(f"--tensor-parallel-size {tensor}"), most=most)
    assert list(grid) == sorted(set(grid))
    assert all(value % tensor == 0 and value <= most for value in grid)


@pytest.mark.parametrize(
    ("line", "seqs", "refused"),
    [
        ("--max-num-batched-tokens 64", 64, ""),
        ("--max-num-batched-tokens 63", 64, "(63) must be greater than or equal to max_num_seqs (64)"),
        ("--max-num-batched-tokens 64 --max-model-len 100", 64, ""),
        (
            "--max-num-batched-tokens 64 --max-model-len 100 --no-enable-chunked-prefill",
            64,
            "is smaller than",
        ),
        (
            "--max-num-batched-tokens 64 --max-model-len 100 --enable-chunked-prefill=False",
            8,
            "chunked prefill",
        ),
        ("", 0, "must be greater than or equal to 1"),
    ],
)
def test_values_are_judged_as_vllm_judges_them(line, seqs, refused):
    settings = Settings(max_batch_size=seqs)
    if not refused:
        check_settings(settings, facts(line))
        return
    with pytest.raises(LaunchFailed) as failure:
        check_settings(settings, facts(line))
    assert failure.value.cause is LaunchCause.CONFIG
    assert refused in failure.value.message


def test_a_batch_of_tokens_that_is_tuned_along_is_the_one_that_counts():
    settings = Settings(max_batch_size=64, max_num_batched_tokens=64)
    check_settings(settings, facts("--max-num-batched-tokens 8"))


@pytest.mark.parametrize(
    ("more", "environment", "keeps"),
    [
        ("", {}, False),
        ("", {"PTA_TORCHAIR_DECODE_GEAR_ENABLE": "1", "PTA_TORCHAIR_DECODE_GEAR_LIST": "2,8"}, True),
        ("--enforce-eager", {"PTA_TORCHAIR_DECODE_GEAR_ENABLE": "1"}, False),
        ('{"torchair_graph_config": {"enabled": true, "use_cached_graph": true}}', {}, True),
        ('{"torchair_graph_config": {"enabled": true}}', {}, False),
        ('{"torchair_graph_config": 3}', {}, False),
    ],
)
def test_graphs_are_kept_where_the_command_or_the_gears_say_so(more, environment, keeps):
    words = ["--additional-config", more] if more.startswith("{") else more.split()
    assert facts_of(read_command(["vllm", "serve", "m", *words]), environment).keeps_graphs is keeps
