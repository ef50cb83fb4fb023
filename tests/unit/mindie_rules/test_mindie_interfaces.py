"""Replies of the query interfaces: what is built is read back, and what is missing is None."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.mindie_rules.interfaces import (
    EngineInfo,
    Info,
    JsonMetrics,
    ServedConfig,
    SlotCount,
    Status,
    build_engine_info,
    build_info,
    build_json_metrics,
    build_served_config,
    build_slot_count,
    build_status,
    error_body,
    read_engine_info,
    read_info,
    read_json_metrics,
    read_served_config,
    read_slot_count,
    read_status,
)
from autotune.mindie_rules.metrics import (
    BUCKETS,
    Histogram,
    Kind,
    Metric,
    Sample,
    build_metrics,
    kind_of,
    read_metrics,
)

COUNT = st.integers(0, 10**6)


def filled(kind, **given_values):
    values = {name: st.none() | COUNT for name in kind.__dataclass_fields__}
    return st.builds(kind, **{**values, **given_values})


TEXT = st.none() | st.text(max_size=8)


@settings(max_examples=30, deadline=None)
@given(filled(Info, model_name=TEXT, model_dtype=TEXT, version=TEXT))
def test_the_info_that_is_built_is_read_back(info):
    assert read_info(build_info(info)) == info


@settings(max_examples=30, deadline=None)
@given(filled(EngineInfo, name=st.just("MindIE Server"), version=TEXT))
def test_the_engine_info_that_is_built_is_read_back(info):
    assert read_engine_info(build_engine_info(info)) == info


@settings(max_examples=30, deadline=None)
@given(filled(Status, role_status=st.just("RoleReady"), current_role=st.just("none")))
def test_the_status_that_is_built_is_read_back(status):
    assert read_status(build_status(status)) == status


@settings(max_examples=30, deadline=None)
@given(filled(ServedConfig, model_name=TEXT))
def test_the_served_config_that_is_built_is_read_back(config):
    assert read_served_config(build_served_config(config)) == config


@settings(max_examples=30, deadline=None)
@given(filled(SlotCount))
def test_the_slot_count_that_is_built_is_read_back(count):
    assert read_slot_count(build_slot_count(count)) == count


def test_the_json_metrics_that_are_built_are_read_back():
    metrics = JsonMetrics(ttft_ms=64.5, tbt_ms=27.25, waiting=3, processing=10, remaining_blocks=2000)
    body = build_json_metrics(metrics, address="127.0.0.2", port=1026, unix_time=1.0)
    assert read_json_metrics(body) == metrics


@pytest.mark.parametrize("body", ["", "not json", "[]", "5"])
@pytest.mark.parametrize(
    "read",
    [read_info, read_engine_info, read_status, read_served_config, read_slot_count, read_json_metrics],
)
def test_a_body_that_is_no_object_gives_nothing(read, body):
    assert read(body) is None


def test_an_older_version_that_does_not_say_is_read_as_none():
    status = read_status('{"service": {"roleStatus": "RoleReady"}, "resource": {"availBlockNum": 12}}')
    assert status.available_blocks == 12
    assert status.total_npu_blocks is None


def test_an_error_names_its_type():
    assert (
        error_body("no", "Input Validation Error") == '{"error":"no","error_type":"Input Validation Error"}'
    )


def test_counters_and_gauges_are_read_from_the_text_that_is_built():
    samples = [
        Sample(metric=Metric.RUNNING, value=12),
        Sample(metric=Metric.WAITING, value=3),
        Sample(metric=Metric.PREEMPTIONS, value=7),
        Sample(metric=Metric.GENERATION_TOKENS_TOTAL, value=123456),
        Sample(metric=Metric.NPU_CACHE_USAGE, value=0.25),
    ]
    reading = read_metrics(build_metrics(samples, model_name='a"b'))
    assert (reading.running, reading.waiting, reading.preemptions) == (12, 3, 7)
    assert (reading.generation_tokens, reading.npu_cache_usage) == (123456, 0.25)
    assert reading.swapped is None


def test_a_histogram_is_printed_with_growing_buckets():
    counts = (1,) * (len(BUCKETS[Metric.E2E]) + 1)
    text = build_metrics(
        [Sample(metric=Metric.E2E, value=Histogram(counts=counts, total=12.5))], model_name="m"
    )
    assert '_bucket{model_name="m",le="+Inf"} 11' in text
    assert 'e2e_request_latency_seconds_count{model_name="m"} 11' in text
    assert 'e2e_request_latency_seconds_sum{model_name="m"} 12.5' in text
    assert kind_of(Metric.E2E) is Kind.HISTOGRAM


def test_several_models_are_summed_and_what_is_no_number_is_passed_over():
    body = (
        'num_requests_running{model_name="a"} 2\n'
        'num_requests_running{model_name="b"} 3\n'
        "num_requests_waiting NaN\n"
    )
    reading = read_metrics(body)
    assert reading.running == 5
    assert reading.waiting is None
