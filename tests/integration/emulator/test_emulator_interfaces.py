"""Every inference interface as MindIE's documents and source describe it, asked with requests and curl."""

import json
import re
import shutil
import socket
import subprocess
import time

import pytest
import requests

from autotune.emulator.faults import Faults

CHUNK_HEADERS = {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked", "Connection": "close"}
MESSAGES = [{"role": "user", "content": "How many eggs does Janet sell?"}]


def stream(daemon, path, body):
    reply = requests.post(f"{daemon.business}{path}", json=body, stream=True, timeout=20)
    return reply, reply.raw.read(decode_content=True)


def events(raw: bytes, lead: bytes = b"data: ") -> list:
    parts = raw.split(b"\n\n")
    assert parts[-1] == b"", "the last event ends with an empty line"
    assert all(part.startswith(lead) for part in parts[:-1])
    return [part[len(lead) :] for part in parts[:-1]]


def test_a_tgi_stream_ends_with_the_text_and_the_details(served):
    body = {"inputs": "Janet has ducks", "parameters": {"max_new_tokens": 5, "details": True}}
    reply, raw = stream(served, "/generate_stream", body | {"ignore_eos": True})
    assert {name: reply.headers[name] for name in CHUNK_HEADERS} == CHUNK_HEADERS
    found = [json.loads(event) for event in events(raw)]
    assert len(found) == 5
    for event in found[:-1]:
        assert list(event) == ["token", "generated_text", "details"]
        assert event["generated_text"] is None
        assert event["details"] is None
        assert event["token"]["logprob"] is None
        assert event["token"]["special"] is None
    last = found[-1]
    assert last["generated_text"] == "".join(event["token"]["text"] for event in found)
    assert list(last["details"]) == ["prompt_tokens", "finish_reason", "generated_tokens", "seed"]
    assert (last["details"]["finish_reason"], last["details"]["generated_tokens"]) == ("length", 5)


def test_without_details_the_last_tgi_event_has_none(served):
    _, raw = stream(served, "/generate_stream", {"inputs": "x", "parameters": {"max_new_tokens": 2}})
    assert json.loads(events(raw)[-1])["details"] is None


def test_a_tgi_answer_lists_its_tokens_when_details_are_wanted(served):
    body = {"inputs": "x", "parameters": {"max_new_tokens": 3, "details": True, "seed": 7}}
    answer = served.post("/generate", body | {"ignore_eos": True}).json()
    assert list(answer) == ["details", "generated_text"]
    assert answer["details"]["prefill"] == []
    assert len(answer["details"]["tokens"]) == answer["details"]["generated_tokens"] == 3
    assert answer["details"]["seed"] == 7


def test_at_the_root_a_tgi_answer_comes_in_a_list_and_a_stream_as_ever(served):
    answer = served.post("/", {"inputs": "x", "parameters": {"max_new_tokens": 2}}).json()
    assert isinstance(answer, list)
    assert list(answer[0]) == ["generated_text"]
    body = {"inputs": "x", "stream": True, "parameters": {"max_new_tokens": 2}, "ignore_eos": True}
    _, raw = stream(served, "/", body)
    assert len(events(raw)) == 2


def test_without_max_new_tokens_tgi_gives_twenty(served):
    body = {"inputs": "x", "parameters": {"details": True}, "ignore_eos": True}
    assert served.post("/generate", body).json()["details"]["generated_tokens"] == 20


def test_a_chat_stream_names_its_role_first_and_its_usage_last(served):
    body = {"model": "llama3-8b", "messages": MESSAGES, "max_tokens": 4, "stream": True, "ignore_eos": True}
    reply, raw = stream(served, "/v1/chat/completions", body)
    assert reply.headers["Content-Type"] == "text/event-stream"
    found = events(raw)
    assert found[-1] == b"[DONE]"
    chunks = [json.loads(event) for event in found[:-1]]
    assert {chunk["object"] for chunk in chunks} == {"chat.completion.chunk"}
    assert chunks[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert len(chunks) == 1 + 4
    assert all("usage" not in chunk for chunk in chunks[:-1])
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks] == [None] * 4 + ["length"]
    usage = chunks[-1]["usage"]
    assert usage["completion_tokens"] == 4
    assert usage["total_tokens"] == usage["prompt_tokens"] + 4


def test_a_chat_answer_has_message_and_usage(served):
    body = {"model": "llama3-8b", "messages": MESSAGES, "max_tokens": 4, "ignore_eos": True}
    answer = served.post("/v1/chat/completions", body).json()
    assert answer["object"] == "chat.completion"
    assert answer["choices"][0]["message"]["role"] == "assistant"
    assert answer["choices"][0]["finish_reason"] == "length"
    assert answer["usage"]["completion_tokens"] == 4


def test_without_max_tokens_chat_may_go_to_max_iter_times(start):
    daemon = start(max_iter_times=30).wait_ready()
    body = {"model": "llama3-8b", "messages": MESSAGES, "ignore_eos": True}
    assert daemon.post("/v1/chat/completions", body).json()["usage"]["completion_tokens"] == 30


def test_completions_stream_text_and_end_with_done(served):
    body = {"model": "llama3-8b", "prompt": "x", "max_tokens": 3, "stream": True, "ignore_eos": True}
    _, raw = stream(served, "/v1/completions", body)
    found = events(raw)
    assert found[-1] == b"[DONE]"
    chunks = [json.loads(event) for event in found[:-1]]
    assert len(chunks) == 3
    assert {chunk["object"] for chunk in chunks} == {"text_completion"}
    assert chunks[-1]["choices"][0]["finish_reason"] == "length"
    assert chunks[-1]["usage"]["completion_tokens"] == 3


def test_completions_take_token_ids_and_count_them(served):
    body = {"model": "llama3-8b", "prompt": [1, 2, 3, 4, 5], "max_tokens": 2}
    assert served.post("/v1/completions", body).json()["usage"]["prompt_tokens"] == 5


def test_a_triton_stream_has_no_blank_after_data_and_tells_its_own_times(served):
    body = {"id": "a123", "text_input": "x", "parameters": {"max_new_tokens": 3, "details": True}}
    _, raw = stream(served, "/v2/models/llama3-8b/generate_stream", body | {"ignore_eos": True})
    assert b"data: " not in raw
    found = [json.loads(event) for event in events(raw, b"data:")]
    assert [event["id"] for event in found] == ["a123"] * 3
    assert found[0]["model_version"] is None
    assert isinstance(found[0]["prefill_time"], int)
    assert found[0]["decode_time"] is None
    assert found[1]["prefill_time"] is None
    assert found[1]["decode_time"] > 5
    assert [event["details"]["generated_tokens"] for event in found] == [1, 2, 3]
    assert "finish_reason" not in found[1]["details"]
    assert found[2]["details"]["finish_reason"] == "length"
    assert {"batch_size", "queue_wait_time", "first_token_cost", "decode_cost"} <= set(found[0]["details"])


def test_a_triton_stream_without_details_tells_no_times(served):
    body = {"text_input": "x", "parameters": {"max_new_tokens": 2}}
    _, raw = stream(served, "/v2/models/llama3-8b/generate_stream", body)
    assert set(json.loads(events(raw, b"data:")[0])) == {"id", "model_name", "model_version", "text_output"}


def test_a_triton_answer_lists_the_batches_of_its_tokens(served):
    body = {"text_input": "x", "parameters": {"max_new_tokens": 3, "details": True}, "ignore_eos": True}
    answer = served.post("/v2/models/llama3-8b/generate", body).json()
    assert answer["details"]["batch_size"] == [1, 1, 1]
    assert answer["details"]["generated_tokens"] == 3


def test_triton_infer_takes_and_gives_token_ids(served):
    tensor = {"name": "input0", "shape": [1, 4], "datatype": "UINT32", "data": [1, 2, 3, 4]}
    tensor["parameters"] = {"max_new_tokens": 6}
    body = {"id": "t1", "inputs": [tensor], "outputs": [{"name": "out"}], "ignore_eos": True}
    answer = served.post("/v2/models/llama3-8b/infer", body).json()
    assert answer["id"] == "t1"
    output = answer["outputs"][0]
    assert (output["name"], output["shape"], output["datatype"]) == ("out", [1, 6], "UINT32")
    assert len(output["data"]) == 6


def test_pieces_of_a_vllm_stream_end_with_a_nul(served):
    body = {"prompt": "x", "max_tokens": 3, "stream": True, "ignore_eos": True}
    _, raw = stream(served, "/generate", body)
    pieces = raw.split(b"\0")
    assert pieces[-1] == b""
    assert [list(json.loads(piece)) for piece in pieces[:-1]] == [["text"]] * 3


def test_a_vllm_answer_begins_with_the_prompt(served):
    answer = served.post("/generate", {"prompt": "My name is", "max_tokens": 3}).json()
    assert list(answer) == ["text"]
    assert answer["text"][0].startswith("My name is ")


def test_the_native_stream_times_every_token_and_ends_with_the_text(served):
    body = {"inputs": "x", "stream": True, "parameters": {"max_new_tokens": 3, "details": True}}
    _, raw = stream(served, "/infer", body | {"ignore_eos": True})
    found = [json.loads(event) for event in events(raw)]
    assert isinstance(found[0]["prefill_time"], int)
    assert found[1]["prefill_time"] is None
    assert found[-1]["token"]["text"] is None
    assert found[-1]["details"]["generated_tokens"] == 3


def test_native_token_ids_are_taken_at_infer_token(served):
    body = {"input_id": [5, 6, 7], "stream": False, "parameters": {"max_new_tokens": 2, "details": True}}
    answer = served.post("/infer_token", body | {"ignore_eos": True}).json()
    assert answer["details"]["generated_tokens"] == 2


def test_full_text_repeats_what_came_before(start):
    def edit(install):
        path = install / "conf" / "config.json"
        text = path.read_text(encoding="utf-8")
        path.write_text(
            text.replace('"fullTextEnabled" : false', '"fullTextEnabled" : true'), encoding="utf-8"
        )

    daemon = start(edit=edit).wait_ready()
    body = {"prompt": "x", "max_tokens": 3, "stream": True, "ignore_eos": True}
    _, raw = stream(daemon, "/generate", body)
    texts = [json.loads(piece)["text"][0] for piece in raw.split(b"\0")[:-1]]
    assert texts[1].startswith(texts[0])
    assert texts[2].startswith(texts[1])
    _, raw = stream(
        daemon,
        "/v2/models/llama3-8b/generate_stream",
        {"text_input": "x", "parameters": {"max_new_tokens": 2}, "ignore_eos": True},
    )
    first, second = (json.loads(event)["text_output"] for event in events(raw, b"data:"))
    assert second.startswith(first)
    assert second != first


def test_the_same_prompt_always_gets_as_many_tokens_and_ends_of_sequence_come(served):
    def length(prompt):
        body = {"inputs": prompt, "parameters": {"max_new_tokens": 512, "details": True}}
        details = served.post("/generate", body).json()["details"]
        return details["generated_tokens"], details["finish_reason"]

    lengths = [length(f"question {number}") for number in range(6)]
    assert lengths == [length(f"question {number}") for number in range(6)]
    assert len(set(lengths)) > 1
    for tokens, reason in lengths:
        assert reason == ("length" if tokens == 512 else "eos_token")


@pytest.mark.parametrize(
    ("path", "body", "status", "error"),
    [
        ("/generate", "{not json", 422, "`inputs` or `prompt`|Failed to parse request context to json"),
        ("/generate", {"text": "x"}, 422, "must be necessary"),
        ("/generate_stream", {"inputs": ""}, 422, r"Inputs length must be in \(0, "),
        ("/generate_stream", {"inputs": 5}, 422, "The type of inputs is abnormal"),
        (
            "/generate_stream",
            {"inputs": "x", "parameters": {"max_new_tokens": 0}},
            422,
            "max_new_tokens must be in",
        ),
        (
            "/generate_stream",
            {"inputs": "x", "parameters": {"max_new_tokens": "5"}},
            422,
            "max_new_tokens must be",
        ),
        (
            "/generate_stream",
            {"inputs": "x", "parameters": {"temperature": 0}},
            422,
            "temperature must be in",
        ),
        ("/generate_stream", {"inputs": "x", "parameters": {"top_p": 1.5}}, 422, "top_p must be in"),
        ("/v1/chat/completions", {"messages": MESSAGES}, 422, "Request contains not model or model null"),
        ("/v1/chat/completions", {"model": "gpt", "messages": MESSAGES}, 422, "Model not found"),
        ("/v1/chat/completions", {"model": "llama3-8b", "messages": []}, 422, "Messages"),
        ("/v1/completions", {"model": "llama3-8b", "prompt": []}, 422, "Prompt array cannot be empty"),
        ("/v2/models/llama3-8b/generate", {}, 422, "The text_input not found"),
        (
            "/v2/models/llama3-8b/generate",
            {"id": "no blank", "text_input": "x"},
            422,
            "can contain only digits",
        ),
        ("/v2/models/other/generate", {"text_input": "x"}, 404, "Model other not found."),
        ("/v2/models/llama3-8b/infer", {"inputs": "x"}, 422, "type should be array"),
        ("/v2/models/llama3-8b/stopInfer", {"id": "nobody"}, 404, "RequestId is nobody not found."),
        ("/infer", {"inputs": "x", "input_id": [1]}, 422, "Input conflict."),
    ],
)
def test_a_request_with_a_fault_is_answered_with_its_error(served, path, body, status, error):
    data = body if isinstance(body, str) else json.dumps(body)
    reply = requests.post(f"{served.business}{path}", data=data, timeout=20)
    assert reply.status_code == status
    answer = reply.json()
    assert list(answer) == ["error", "error_type"]
    assert re.search(error, answer["error"])
    wanted = {422: "Input Validation Error", 404: "NotFoundError"}[status]
    assert answer["error_type"] == wanted
    assert reply.headers["Connection"] == "close"


def test_a_prompt_above_max_input_token_len_is_an_input_error(served):
    reply = served.post("/generate_stream", {"inputs": "word " * 3000})
    assert reply.status_code == 422
    assert reply.json()["error_type"] == "Input Validation Error"


def test_a_body_above_the_limit_is_413(served):
    head = f"POST /generate HTTP/1.1\r\nHost: x\r\nContent-Length: {41 * 1024**2}\r\n\r\n".encode()
    with socket.create_connection(("127.0.0.1", served.options.port), timeout=10) as link:
        link.sendall(head)
        answer = link.recv(4096)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b'{"message":"Request body too large. Maximum allowed size is 40MB."}' in answer


def test_what_has_no_route_is_404_without_a_body(served):
    reply = served.get(f"{served.business}/v1/nothing")
    assert (reply.status_code, reply.content) == (404, b"")
    assert served.get(f"{served.management}/generate").status_code == 404


def test_curl_gets_a_stream_and_a_status(served):
    curl = shutil.which("curl")
    if curl is None:
        pytest.skip("no curl")
    body = json.dumps({"inputs": "x" * 2000, "parameters": {"max_new_tokens": 3}, "ignore_eos": True})
    command = [curl, "-sS", "-N", "-w", "%{http_code} %{num_connects}", "-d", body]
    done = subprocess.run(
        [*command, f"{served.business}/generate_stream"],
        capture_output=True,
        text=True,
        check=True,
        timeout=20,
    )
    assert done.stdout.count("data: ") == 3
    assert done.stdout.endswith("200 1")


def test_a_client_that_waits_for_100_continue_gets_it(served):
    curl = shutil.which("curl")
    if curl is None:
        pytest.skip("no curl")
    body = json.dumps({"prompt": [1] * 10, "model": "llama3-8b", "max_tokens": 1})
    command = [curl, "-sS", "-H", "Expect: 100-continue", "-d", body, f"{served.business}/v1/completions"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=20)
    assert json.loads(done.stdout)["usage"]["prompt_tokens"] == 10


def test_the_facts_of_the_business_port(served):
    engine = served.get(f"{served.business}/v2").json()
    assert engine["name"] == "MindIE Server"
    assert engine["extensions"]["max_prefill_batch_size"] == 50
    models = served.get(f"{served.business}/v1/models").json()
    assert models["object"] == "list"
    assert models["data"][0]["id"] == "llama3-8b"
    assert served.get(f"{served.business}/v1/models/llama3-8b").json()["owned_by"] == "MindIE Server"
    assert served.get(f"{served.business}/v2/models/llama3-8b").json()["platform"] == "MindIE Server"
    assert served.get(f"{served.business}/v2/models/llama3-8b/config").json()["max_seq_len"] == 2560
    assert served.post("/v1/tokenizer", {"inputs": "abcdefgh"}).json()["token_number"] == 2


def test_the_facts_of_the_management_port(served):
    info = served.get(f"{served.management}/info").json()
    assert (info["max_concurrent_requests"], info["max_batch_total_tokens"]) == (200, 8192)
    config = served.get(f"{served.management}/v1/config").json()
    assert config == {
        "modelName": "llama3-8b",
        "maxSeqLen": 2560,
        "npuMemSize": -1,
        "cpuMemSize": 0,
        "worldSize": 2,
        "maxOutputLen": 512,
        "cacheBlockSize": 128,
    }
    resource = served.get(f"{served.management}/v1/status").json()["resource"]
    assert resource["totalNpuBlockNums"] == resource["freeNpuBlockNums"] == 2175
    assert served.get(f"{served.management}/v2/models/llama3-8b/getSlotCount").json()["total_slots"] == 200
    assert served.get(f"{served.management}/v2/models/llama3-8b/ready").status_code == 200
    names = [one["metric"] for one in served.get(f"{served.management}/metrics-json").json()["result"]]
    assert len(names) == 5


def test_a_timed_health_check_runs_a_request(served):
    reply = served.get(f"{served.management}/health/timed-3")
    assert (reply.status_code, reply.json()) == (200, {"status": "healthy"})
    assert served.get(f"{served.management}/health/timed-0").status_code == 404
    assert served.get(f"{served.management}/health/timed-900").status_code == 404


def test_metrics_need_the_environment_variable(served):
    reply = served.get(f"{served.metrics}/metrics")
    assert reply.status_code == 500
    assert reply.json()["error"] == "Environment variable MIES_SERVICE_MONITOR_MODE is not set."


def test_with_it_they_count_requests_and_tokens(start):
    daemon = start(environment={"MIES_SERVICE_MONITOR_MODE": "1"}).wait_ready()
    daemon.post("/generate", {"inputs": "x", "parameters": {"max_new_tokens": 5}, "ignore_eos": True})
    daemon.post("/generate", {"inputs": ""})
    text = daemon.get(f"{daemon.metrics}/metrics").text
    assert 'request_received_total{model_name="llama3-8b"} 2' in text
    assert 'request_success_total{model_name="llama3-8b"} 1' in text
    assert 'request_failed_total{model_name="llama3-8b"} 1' in text
    assert 'generation_tokens_total{model_name="llama3-8b"} 5' in text
    assert 'time_to_first_token_seconds_count{model_name="llama3-8b"} 1' in text


def test_benchmark_mode_adds_batches_and_times_to_chat(start):
    daemon = start(environment={"MINDIE_LLM_BENCHMARK_ENABLE": "1"}).wait_ready()
    body = {"model": "llama3-8b", "messages": MESSAGES, "max_tokens": 3, "ignore_eos": True}
    answer = daemon.post("/v1/chat/completions", body).json()
    assert answer["usage"]["batch_size"] == [1, 1, 1]
    assert len(answer["decode_time_arr"]) == 2


def test_a_stopped_service_refuses_work_and_3_stays_alive(daemon):
    assert daemon.get(f"{daemon.management}/stopService").status_code == 200
    reply = daemon.post("/generate", {"inputs": "x"})
    assert (reply.status_code, reply.json()["error_type"]) == (503, "Service Unavailable")
    health = daemon.get(f"{daemon.management}/v2/health/ready")
    assert (health.status_code, health.json()["error"]) == (503, "The service has been stopped.")
    assert daemon.get(f"{daemon.management}/stopService").status_code == 500
    assert daemon.process.poll() is None


def test_before_3_a_stopped_service_ends(start):
    daemon = start(version="2.3").wait_ready()
    assert daemon.get(f"{daemon.management}/stopService").status_code == 200
    assert daemon.wait_ended() == -6


def test_a_forced_stop_kills_the_group(start):
    daemon = start().wait_ready()
    assert daemon.get(f"{daemon.management}/stopService?mode=Force").status_code == 200
    assert daemon.wait_ended() == -9


def test_a_client_that_goes_away_frees_its_place_within_a_poll(start):
    slow = start(time_scale=4.0).wait_ready()
    body = {"inputs": "x", "parameters": {"max_new_tokens": 512}, "ignore_eos": True}
    reply = requests.post(f"{slow.business}/generate_stream", json=body, stream=True, timeout=20)
    pieces = reply.iter_content(10)
    assert next(pieces)
    status = f"{slow.management}/v1/status"
    assert slow.get(status).json()["resource"]["runningRequestNum"] == 1
    reply.close()
    time.sleep(0.5)
    assert slow.get(status).json()["resource"]["runningRequestNum"] == 0
    assert slow.get(status).json()["resource"]["freeNpuBlockNums"] == 2175


def test_a_request_can_be_stopped_by_its_id(start):
    slow = start(time_scale=4.0).wait_ready()
    body = {"id": "long", "text_input": "x", "parameters": {"max_new_tokens": 512}, "ignore_eos": True}
    path = "/v2/models/llama3-8b"
    reply = requests.post(f"{slow.business}{path}/generate_stream", json=body, stream=True, timeout=20)
    pieces = reply.iter_content(10)
    assert next(pieces)
    stopped = slow.post(f"{path}/stopInfer", {"id": "long"})
    assert (stopped.status_code, stopped.json()) == (200, {"id": "long"})
    reply.close()


def test_a_request_without_a_token_for_too_long_ends_with_a_timeout(start):
    def edit(install):
        path = install / "conf" / "config.json"
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace('"tokenTimeout" : 600', '"tokenTimeout" : 2'), encoding="utf-8")

    daemon = start(edit=edit, faults=Faults(stall_after_requests=1)).wait_ready()
    body = {"inputs": "x", "parameters": {"max_new_tokens": 5}}
    reply = daemon.post("/generate", body)
    assert reply.status_code == 500
    assert reply.json() == {
        "error": "Engine callback timeout: server tokenTimeout",
        "error_type": "Incomplete Generation",
    }
    streamed = daemon.post("/generate_stream", body)
    assert (streamed.status_code, streamed.text) == (200, "Engine callback timeout: server tokenTimeout")


def test_1_0_has_no_completions_yet(start):
    daemon = start(version="1.0.0").wait_started()
    assert daemon.post("/v1/completions", {"model": "llama3-8b", "prompt": "x"}).status_code == 404
    assert daemon.post("/generate", {"prompt": "x"}).status_code == 200


def test_the_openai_package_reads_answers_streams_and_errors(served):
    openai = pytest.importorskip("openai")
    client = openai.OpenAI(base_url=f"{served.business}/v1", api_key="none", max_retries=0)
    answer = client.chat.completions.create(
        model="llama3-8b", messages=MESSAGES, max_tokens=5, extra_body={"ignore_eos": True}
    )
    assert answer.usage.completion_tokens == 5
    assert answer.choices[0].finish_reason == "length"
    stream = client.chat.completions.create(
        model="llama3-8b", messages=MESSAGES, max_tokens=5, stream=True, extra_body={"ignore_eos": True}
    )
    chunks = list(stream)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert text == answer.choices[0].message.content
    assert chunks[-1].usage.completion_tokens == 5
    completion = client.completions.create(model="llama3-8b", prompt="x", max_tokens=3)
    assert completion.usage.completion_tokens <= 3
    assert [model.id for model in client.models.list()] == ["llama3-8b"]
    with pytest.raises(openai.UnprocessableEntityError):
        client.chat.completions.create(model="gpt", messages=MESSAGES)
    client.close()
