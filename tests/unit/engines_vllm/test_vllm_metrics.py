"""Capacity and counters under the names of old and new versions."""

import pytest

from autotune.engines.vllm.metrics import read_metrics

NEW = """\
# HELP vllm:num_requests_running Number of requests in model execution batches.
vllm:num_requests_running{engine="0",model_name="tiny"} 8.0
vllm:num_requests_waiting{engine="0",model_name="tiny"} 48.0
vllm:num_requests_waiting_by_reason{engine="0",model_name="tiny",reason="capacity"} 48.0
vllm:kv_cache_usage_perc{engine="0",model_name="tiny"} 0.25
vllm:num_preemptions_total{engine="0",model_name="tiny"} 302.0
vllm:generation_tokens_total{engine="0",model_name="tiny"} 1.5e+03
vllm:cache_config_info{block_size="32",num_gpu_blocks="257",kv_cache_size_tokens="8224",engine="0"} 1.0
"""
OLD = """\
vllm:num_requests_running{model_name="m"} 2.0
vllm:num_requests_swapped{model_name="m"} 0.0
vllm:num_requests_waiting{model_name="m"} 1.0
vllm:gpu_cache_usage_perc{model_name="m"} 0.5
vllm:num_preemptions_total{model_name="m"} 3.0
vllm:cache_config_info{block_size="16",num_gpu_blocks="1952",cpu_offload_gb="0"} 1.0
"""


def test_the_new_names_are_read():
    found = read_metrics(NEW)
    assert (found.capacity.blocks, found.capacity.block_size, found.capacity.tokens) == (257, 32, 8224)
    counters = found.counters(257)
    assert (counters.running, counters.waiting, counters.preemptions) == (8, 48, 302)
    assert (counters.free_blocks, counters.total_blocks) == (193, 257)
    assert found.generated == 1500


def test_the_old_names_are_read():
    found = read_metrics(OLD)
    assert (found.capacity.blocks, found.capacity.tokens) == (1952, None)
    assert found.counters(1952).free_blocks == 976


def test_engines_are_added_up_and_the_smaller_capacity_counts():
    second = NEW.replace('engine="0"', 'engine="1"').replace("257", "250").replace("8224", "8000")
    found = read_metrics(NEW + second)
    assert (found.running, found.waiting, found.usage) == (16, 96, 0.25)
    assert found.capacity.blocks == 250


@pytest.mark.parametrize("body", ["", "nonsense\n", "vllm:num_requests_running NaN?\n", "other_metric 3\n"])
def test_what_is_not_there_is_not_invented(body):
    found = read_metrics(body)
    assert found.running is None
    assert found.capacity.blocks is None
    assert found.counters(None).total_blocks is None


def test_names_that_ray_writes_are_the_same():
    assert read_metrics('ray_vllm_num_requests_running{a="b"} 4\n').running == 4
