"""How a test runs and ends: loops, ends, ramp, workers, progress."""

import sys

import pytest

from autotune.load.ends import ForRequests, ForSeconds, UntilSure
from autotune.load.load_test import run_load_test

FAST = ("--first-ms", "10", "--step-ms", "5")


@pytest.mark.parametrize("options", [(), ("--close",)], ids=["keep-alive", "closed"])
def test_a_fixed_number_of_requests_is_sent_and_all_are_waited_for(options, mock, make_test):
    with mock(*FAST, *options) as server:
        reading = run_load_test(make_test(server, end=ForRequests(count=101), concurrency=16))
        assert server.truth()["requests"] == 101
    assert reading.completed == reading.requests == 101


def test_fewer_requests_than_clients_are_enough(mock, make_test):
    with mock(*FAST) as server:
        assert run_load_test(make_test(server, end=ForRequests(count=3), concurrency=16)).completed == 3


@pytest.mark.slow
def test_a_time_ends_the_test_without_waiting_for_replies(mock, make_test):
    with mock(*FAST) as server:
        reading = run_load_test(make_test(server, end=ForSeconds(seconds=2.0)))
    assert reading.test_seconds == pytest.approx(2.0, abs=0.5)
    assert reading.fault is None


@pytest.mark.slow
@pytest.mark.real_time
def test_a_steady_service_is_read_until_the_interval_is_narrow_enough(mock, make_test, make_workload):
    told = []
    with mock("--first-ms", "10", "--step-ms", "10") as server:
        test = make_test(
            server,
            time_scale=20.0,
            concurrency=32,
            end=UntilSure(half_width=0.05, cap_seconds=300.0, alone=True),
            workload=make_workload(output=60, low=20),
        )
        reading = run_load_test(test, progress=lambda seconds, status: told.append((seconds, status)))
        truth = server.truth()
    assert reading.half_width <= 0.05
    assert not reading.capped
    assert reading.tokens_per_second * 20 == pytest.approx(truth["steady_tokens_per_second"], rel=0.05)
    assert told[-1][1].tokens_per_second is not None


@pytest.mark.real_time
def test_a_scaled_clock_gives_times_and_rates_of_the_service(mock, make_test):
    with mock("--first-ms", "50", "--step-ms", "10") as server:
        reading = run_load_test(make_test(server, time_scale=10.0))
        truth = server.truth()
    assert reading.ttft_ms.mean == pytest.approx(10 * truth["ttft_mean_ms"], rel=0.25)
    assert reading.event_gap_ms.mean == pytest.approx(10 * truth["gap_mean_ms"], rel=0.1)


def test_open_loop_counts_latency_from_when_a_request_was_due(mock, make_test, make_workload):
    with mock("--first-ms", "5", "--step-ms", "5", "--capacity", "1") as server:
        test = make_test(
            server,
            concurrency=None,
            rate=20.0,
            poisson=False,
            end=ForRequests(count=20),
            workload=make_workload(output=20),
        )
        reading = run_load_test(test)
    assert reading.completed == 20
    assert reading.e2e_ms.p90 > 2 * reading.e2e_ms.p50 * 0.5
    assert reading.ttft_ms.p90 > 300


@pytest.mark.slow
def test_open_loop_keeps_its_rate(mock, make_test):
    with mock(*FAST) as server:
        test = make_test(server, concurrency=None, rate=100.0, end=ForSeconds(seconds=2.0))
        reading = run_load_test(test)
        assert server.truth()["requests"] == pytest.approx(200, rel=0.3)
    assert reading.fault is None


@pytest.mark.real_time
def test_a_ramp_spreads_the_start_of_the_clients(mock, make_test):
    with mock(*FAST) as server:
        test = make_test(server, ramp_seconds=2.0, concurrency=10, end=ForSeconds(seconds=1.0))
        reading = run_load_test(test)
    assert 4 <= reading.concurrency_reached <= 7 or reading.running_mean < 7


@pytest.mark.slow
@pytest.mark.parametrize("end", [ForRequests(count=101), ForSeconds(seconds=2.0)], ids=["requests", "time"])
def test_several_processes_share_one_test(end, mock, make_test):
    with mock(*FAST) as server:
        reading = run_load_test(make_test(server, end=end, concurrency=15, workers=2))
        truth = server.truth()
    assert reading.fault is None
    assert reading.health.processes == 2
    assert reading.concurrency_reached >= 14
    if isinstance(end, ForRequests):
        assert reading.completed == truth["requests"] == 101
        assert reading.output_tokens == truth["tokens"]


@pytest.mark.slow
def test_workers_tell_that_nothing_listens(mock, make_test):
    with mock(*FAST) as server:
        server.kill()
        reading = run_load_test(make_test(server, workers=2))
    assert "nothing listens" in reading.fault.detail


def test_plain_asyncio_serves_where_uvloop_has_no_wheel(mock, make_test, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvloop", None)
    with mock(*FAST) as server:
        reading = run_load_test(make_test(server))
    assert (reading.fault, reading.completed, reading.events) == (None, 40, 800)
