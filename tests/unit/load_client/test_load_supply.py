"""Requests as bytes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.load.client.address import read_address
from autotune.load.client.api import equally_long
from autotune.load.client.families import API_NAMES, api_of
from autotune.load.client.supply import Supply
from autotune.load.workload.prompt import Prompt
from autotune.load.workload.workload import Sampling, Workload

HELLO = (Prompt(text="hello"),)


def supply(api="openai", prompts=HELLO, **changes):
    workload = Workload(
        prompts=tuple(prompts), max_output_tokens=9, sampling=changes.pop("sampling", Sampling())
    )
    address = read_address("http://127.0.0.1:1025/base")
    return Supply(workload=workload, api=api_of(api), address=address, model="llama", **changes)


def parts(message):
    head, body = message.data.split(b"\r\n\r\n", 1)
    return head.decode(), json.loads(body)


@given(st.lists(st.text(min_size=1, max_size=30), min_size=1, max_size=4), st.integers(1, 12))
def test_a_body_made_from_a_template_is_the_one_that_the_workload_says(texts, count):
    prompts = tuple(Prompt(text=text) for text in texts)
    row = supply(prompts=prompts)
    workload = Workload(prompts=prompts, max_output_tokens=9)
    for index in range(count):
        head, body = parts(row.take())
        assert body["prompt"] == workload.prompt(index).text.encode("utf-8", "replace").decode()
        length = int(head.split("Content-Length: ")[1])
        assert length == len(json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode())


def test_salted_token_ids_are_sent_as_ids():
    row = supply("triton-tokens", [Prompt(token_ids=(5, 6, 7))], streaming=False)
    bodies = [parts(row.take())[1] for _ in range(3)]
    firsts = {body["inputs"][0]["data"][0] for body in bodies}
    assert len(firsts) == 3
    assert all(body["inputs"][0]["shape"] == [1, 3] for body in bodies)


def test_the_head_names_path_host_and_headers_and_takes_no_compression():
    row = supply("tgi", headers=(("Authorization", "Bearer x"),))
    head, body = parts(row.take())
    assert head.startswith("POST /base/generate_stream HTTP/1.1\r\nHost: 127.0.0.1:1025\r\n")
    assert "Authorization: Bearer x" in head
    assert "Accept-Encoding" not in head
    assert body["parameters"] == {"max_new_tokens": 9, "details": True}


def test_several_processes_share_one_row():
    prompts = [Prompt(text=str(number)) for number in range(6)]
    rows = [supply(prompts=prompts, first=number, step=2, count=3) for number in range(2)]
    sent = [parts(row.take())[1]["prompt"] for _ in range(3) for row in rows]
    assert sent == [str(number) for number in range(6)]
    assert rows[0].take() is None


@pytest.mark.parametrize("api", API_NAMES)
@pytest.mark.parametrize("streaming", [True, False])
def test_sampling_is_sent_as_it_was_given_and_nothing_else(api, streaming):
    sampling = Sampling(temperature=0.5, top_p=0.9, top_k=10, seed=4, repetition_penalty=1.1)
    prompt = Prompt(text="a", token_ids=(1, 2) if api == "triton-tokens" else ())
    _, body = parts(supply(api, [prompt], sampling=sampling, streaming=streaming).take())
    values = body.get("parameters", body)
    given_values = {
        name: values[name] for name in ("temperature", "top_p", "top_k", "seed", "repetition_penalty")
    }
    assert given_values == {
        "temperature": 0.5,
        "top_p": 0.9,
        "top_k": 10,
        "seed": 4,
        "repetition_penalty": 1.1,
    }
    assert "do_sample" not in values
    assert "ignore_eos" not in values


def test_secrets_in_headers_do_not_show():
    from autotune.load.client.plan import Target

    target = Target(
        address=read_address("http://h:1"),
        api=api_of("tgi"),
        model="m",
        headers=(("Authorization", "s3cret"),),
    )
    assert "s3cret" not in repr(target)
    assert "s3cret" not in str(target)


@pytest.mark.parametrize("prompt", [Prompt(text="hello"), Prompt(token_ids=(5, 6, 7))], ids=["text", "ids"])
def test_staggered_requests_ask_for_evenly_spread_parts_and_are_the_prompts_of_the_row(prompt):
    api = "triton-tokens" if prompt.token_ids else "openai"
    plain, row = supply(api, [prompt], streaming=False), supply(api, [prompt], streaming=False, staggered=90)
    row.prepare(10)
    whole, cut = [plain.take() for _ in range(100)], [row.take() for _ in range(100)]
    counts = [message.asked_tokens for message in cut]
    assert counts[90:] == [9] * 10
    for tokens in range(1, 10):
        assert 8 <= counts[:90].count(tokens) <= 12, counts
    for message, other in zip(cut, whole, strict=True):
        head, body = parts(message)
        length = int(head.split("Content-Length: ")[1])
        assert length == len(json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode())
        assert without_length(body) == without_length(parts(other)[1])


def without_length(body):
    """The document of a request, all but how many tokens it asks for."""
    parameters = {key: value for key, value in body.get("parameters", {}).items() if "max" not in key}
    return {key: value for key, value in body.items() if "max" not in key} | {"parameters": parameters}


def test_processes_stagger_their_share():
    prompts = [Prompt(text=str(number)) for number in range(6)]
    rows = [supply(prompts=prompts, first=number, step=2, staggered=3 - number) for number in range(2)]
    for row in rows:
        row.prepare(3)
    asked = [row.take().asked_tokens for _ in range(3) for row in rows]
    (alone,) = [supply(prompts=prompts, staggered=5)]
    alone.prepare(6)
    assert asked == [alone.take().asked_tokens for _ in range(6)]


@pytest.mark.parametrize(
    ("api", "ignore_eos", "lengths", "expected"),
    [
        ("openai", True, (None, None), True),
        ("vllm", True, (5, 5), True),
        ("openai", True, (5, 12), False),
        ("openai", True, (12, None), True),  # both are cut at 9
        ("openai", False, (None, None), False),
        ("tgi", True, (None, None), False),  # does not know ignore_eos: a reply may end by itself
        ("triton", True, (5, 5), False),
    ],
)
def test_replies_are_equally_long_only_where_nothing_can_end_one_earlier(api, ignore_eos, lengths, expected):
    prompts = tuple(Prompt(text="a", output_tokens=tokens) for tokens in lengths)
    workload = Workload(prompts=prompts, max_output_tokens=9, sampling=Sampling(ignore_eos=ignore_eos))
    assert equally_long(workload, api_of(api)) is expected
