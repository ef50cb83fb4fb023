"""Every protocol, streaming and whole, kept alive and closed, chunked and ended by the connection."""

import pytest

from autotune.load.load_test import run_load_test

STREAMS = ("openai", "openai-chat", "tgi", "triton", "vllm", "mindie-infer")
FAST = ("--first-ms", "5", "--step-ms", "4")
COUNTED = ("openai", "openai-chat", "tgi", "triton", "triton-tokens")


@pytest.mark.parametrize("api", STREAMS)
@pytest.mark.parametrize("options", [(), ("--close",), ("--split",), ("--crlf",)], ids=" ".join)
def test_every_stream_is_counted_to_the_last_token(api, options, mock, make_test):
    with mock(*FAST, *options) as server:
        reading = run_load_test(make_test(server, api))
        truth = server.truth()
    assert reading.fault is None
    assert (reading.completed, reading.requests, reading.short_replies) == (40, 40, 0)
    assert reading.events == truth["events"] == 800
    assert reading.output_tokens == truth["tokens"] == 800


@pytest.mark.parametrize("api", [*STREAMS, "triton-tokens"])
def test_a_reply_in_one_piece_is_counted_by_the_servers_own_count(api, mock, make_test):
    with mock(*FAST) as server:
        reading = run_load_test(make_test(server, api, streaming=False))
    assert reading.completed == 40
    if api in COUNTED:
        assert reading.output_tokens == 800


@pytest.mark.parametrize("api", [api for api in STREAMS if api != "vllm"])
def test_a_stream_that_only_the_connection_ends_is_complete_by_its_own_sign(api, mock, make_test):
    with mock(*FAST, "--ending", "close") as server:
        reading = run_load_test(make_test(server, api))
    assert (reading.completed, reading.failed, reading.output_tokens) == (40, (), 800)


def test_a_vllm_stream_without_any_sign_of_its_end_is_complete_when_all_tokens_came(mock, make_test):
    with mock(*FAST, "--ending", "close") as server:
        reading = run_load_test(make_test(server, "vllm"))
    assert (reading.completed, reading.output_tokens) == (40, 800)


@pytest.mark.parametrize("tokens", [4, 8])
@pytest.mark.parametrize("api", ["openai", "openai-chat", "tgi", "triton"])
def test_several_tokens_an_event_are_right_to_the_last_one(api, tokens, mock, make_test, make_workload):
    with mock(*FAST, "--tokens-per-event", str(tokens)) as server:
        reading = run_load_test(make_test(server, api, workload=make_workload(output=42)))
        truth = server.truth()
    assert reading.output_tokens == truth["tokens"] == 40 * 42
    assert reading.events == truth["events"] == 40 * -(-42 // tokens)
    assert reading.event_gap_ms.mean > 1.5 * reading.tpot_ms.mean


def test_usage_done_and_the_role_are_no_token_events(mock, make_test):
    with mock(*FAST) as server:
        reading = run_load_test(make_test(server, "openai-chat"))
        truth = server.truth()
    assert reading.events == truth["events"]
    assert reading.ttft_ms.mean == pytest.approx(truth["ttft_mean_ms"], abs=50)


def test_events_that_share_a_read_are_counted_and_their_reads_told(mock, make_test):
    with mock(*FAST, "--lump", "4") as server:
        reading = run_load_test(make_test(server, "tgi"))
    assert reading.events == 800
    assert reading.reads <= 240
    assert reading.event_gap_ms.p50 == 0.0


def test_a_natural_end_of_sequence_is_a_success(mock, make_test):
    with mock(*FAST, "--natural", "0.5") as server:
        reading = run_load_test(make_test(server, "openai"))
        truth = server.truth()
    assert truth["natural"] > 5
    assert (reading.completed, reading.short_replies, reading.fault) == (40, 0, None)
    assert reading.output_tokens == truth["tokens"]


def test_a_natural_end_is_short_when_the_end_of_sequence_was_to_be_ignored(mock, make_test, make_workload):
    with mock(*FAST, "--natural", "0.5") as server:
        reading = run_load_test(make_test(server, "openai", workload=make_workload(ignore_eos=True)))
        truth = server.truth()
    assert reading.short_replies == truth["natural"]


def test_a_path_in_the_url_stands_before_the_apis_own(mock, make_test):
    from autotune.load.client.address import read_address
    from autotune.load.client.families import api_of
    from autotune.load.client.plan import Target

    with mock(*FAST, "--prefix", "/team/a") as server:
        address = read_address(f"http://127.0.0.1:{server.port}/team/a/")
        target = Target(address=address, api=api_of("openai"), model="m")
        assert run_load_test(make_test(server, target=target)).completed == 40
        assert run_load_test(make_test(server)).failed[0].cause == "http_404"


def test_ipv6_is_spoken(mock, make_test):
    from autotune.load.client.address import read_address
    from autotune.load.client.families import api_of
    from autotune.load.client.plan import Target

    with mock(*FAST, host="::1") as server:
        address = read_address(f"http://[::1]:{server.port}")
        target = Target(address=address, api=api_of("tgi"), model="m")
        assert run_load_test(make_test(server, target=target)).completed == 40
