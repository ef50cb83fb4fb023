"""Command lines of the tools that a profile may name, and where they find their results."""

import json

import pytest

from autotune.errors import UsageError
from autotune.load.sources.tool import ToolJob, ToolSetting
from autotune.load.sources.tools.ais_bench import AisBench
from autotune.load.sources.tools.evalscope import Evalscope
from autotune.load.sources.tools.mindie_benchmark import MindieBenchmark
from autotune.load.sources.tools.vllm_bench import VllmBench
from autotune.load.workload.prompt import Prompt
from autotune.load.workload.workload import Sampling
from autotune.mindie_rules.benchmark_output import (
    BenchmarkRun,
    CommonMetrics,
    Generation,
    print_common_csv,
    print_tables,
)


@pytest.fixture
def setting(tmp_path):
    def make(**changes):
        values = {
            "program": "/opt/bin/tool",
            "api": "openai-chat",
            "model_path": tmp_path / "model",
            "dataset_type": "synthetic",
            "dataset_path": None,
            "prompts": (
                Prompt(text="one\ntwo", output_tokens=10, wanted_tokens=20),
                Prompt(text="三", output_tokens=300, wanted_tokens=5),
            ),
            "max_output_tokens": 64,
            "sampling": Sampling(ignore_eos=True, temperature=0.5),
            "requests": None,
            "environment": {},
        }
        return ToolSetting(**{**values, **changes})

    return make


@pytest.fixture
def job(tmp_path):
    directory = tmp_path / "run"
    directory.mkdir()
    return ToolJob(
        url="http://127.0.0.1:1025", model="m", concurrency=8, requests=5, rate=None, directory=directory
    )


def options_of(command):
    words = command.argv
    return {word: words[place + 1] for place, word in enumerate(words[:-1]) if word.startswith("--")}


def test_vllm_bench_sends_the_prompts_with_their_own_lengths(setting, job):
    command = VllmBench(setting()).command(job)
    given = options_of(command)
    assert command.argv[:4] == ("/opt/bin/tool", "bench", "serve", "--backend")
    assert (given["--max-concurrency"], given["--num-prompts"], given["--request-rate"]) == ("8", "5", "inf")
    assert (given["--custom-output-len"], given["--temperature"]) == ("-1", "0.5")
    assert "--ignore-eos" in command.argv
    lines = [json.loads(line) for line in (job.directory / "prompts.jsonl").read_text().splitlines()]
    assert [line["output_tokens"] for line in lines] == [10, 64, 10, 64, 10]
    assert lines[0]["prompt"] == "one\ntwo"
    assert lines[2]["prompt"] == "1. one\ntwo"  # the second pass is salted


def test_vllm_bench_gives_one_length_where_there_is_one(setting, job):
    same = (Prompt(text="a", output_tokens=7), Prompt(text="b", output_tokens=7))
    assert options_of(VllmBench(setting(prompts=same)).command(job))["--custom-output-len"] == "7"


def test_requests_that_the_result_of_vllm_does_not_name_have_failed(setting, job):
    result = {"completed": 9, "num_prompts": 12, "output_throughput": 100.0, "duration": 3.0}
    (job.directory / "result.json").write_text(json.dumps(result))
    reading = VllmBench(setting()).reading(job, "")
    assert (reading.completed, reading.failed, reading.requests) == (9, 3, 12)


def test_evalscope_streams_and_takes_every_length(setting, job):
    given = options_of(Evalscope(setting(api="openai")).command(job))
    assert given["--url"] == "http://127.0.0.1:1025/v1/completions"
    assert (given["--parallel"], given["--number"], given["--max-tokens"]) == ("8", "5", "64")
    assert json.loads(given["--extra-args"]) == {"ignore_eos": True}


def test_the_model_file_of_ais_bench_is_python_with_the_jobs_values(setting, job):
    command = AisBench(setting()).command(job)
    given = options_of(command)
    text = (job.directory / "configs" / "models" / "autotune_model.py").read_text()
    source = text.replace("from ais_bench.benchmark.models import VLLMCustomAPIChatStream", "")
    names = {"VLLMCustomAPIChatStream": "the class"}
    exec(compile(source, "model", "exec"), names)
    (model,) = names["models"]
    assert (model["batch_size"], model["host_ip"], model["host_port"]) == (8, "127.0.0.1", 1025)
    assert (model["retry"], model["request_rate"], model["max_out_len"]) == (1, 0, 64)
    assert model["generation_kwargs"] == {"temperature": 0.5, "ignore_eos": True}
    assert given["--mode"] == "perf"


def test_ais_bench_results_are_found_wherever_the_version_puts_them(setting, job):
    tool = AisBench(setting())
    place = job.directory / "outputs" / "20260101_000000" / "performances" / "autotune_model"
    place.mkdir(parents=True)
    (place / "prompts_details.json").write_text("{}")
    common = {"Success Requests": {"total": 5}, "Output Token Throughput": {"total": "77 token/s"}}
    (place / "prompts.json").write_text(json.dumps(common))
    assert tool.reading(job, "").output_tokens_per_second == 77


def test_the_vendors_benchmark_gets_the_lengths_of_a_synthetic_workload(setting, job):
    command = MindieBenchmark(setting()).command(job)
    given = options_of(command)
    assert (given["--TestType"], given["--Concurrency"], given["--MaxOutputLen"]) == ("openai", "8", "64")
    rows = (job.directory / "synthetic.csv").read_text().splitlines()
    assert rows == ["Input,Output", "20,10", "5,64", "20,10", "5,64", "20,10"]
    assert json.loads(given["--SamplingParams"]) == {"temperature": 0.5, "ignore_eos": True}
    assert command.environment == {"MINDIE_LOG_TO_STDOUT": "benchmark:1; client:1"}


def test_the_vendors_benchmark_takes_folders_and_its_csv_files_come_first(setting, job, tmp_path):
    file = tmp_path / "test.jsonl"
    file.write_text('{"question": "a"}\n')
    tool = MindieBenchmark(setting(api="triton", dataset_type="gsm8k", dataset_path=file, requests=7))
    given = options_of(tool.command(job))
    assert (given["--TestType"], given["--RequestCount"]) == ("client", "7")
    assert (job.directory / "dataset" / "test.jsonl").is_file()
    common = CommonMetrics(returned=7, total=7, output_tokens_per_second=55.0, seconds=1.0)
    table = print_tables(BenchmarkRun(performance={}, common=common), Generation.V2)
    assert tool.reading(job, table).output_tokens_per_second == 55.0
    results = job.directory / "result"
    results.mkdir()
    other = CommonMetrics(returned=7, total=7, output_tokens_per_second=66.0, seconds=1.0)
    (results / "result_common_1.csv").write_text(print_common_csv(other, Generation.V2))
    assert tool.reading(job, table).output_tokens_per_second == 66.0


@pytest.mark.parametrize(
    ("tool", "changes", "words"),
    [
        (MindieBenchmark, {"api": "tgi"}, "synthetic data sets by vllm, openai"),
        (MindieBenchmark, {"api": "mindie-infer"}, "does not speak mindie-infer"),
        (MindieBenchmark, {"dataset_type": "sharegpt"}, "knows no sharegpt data set"),
        (MindieBenchmark, {"model_path": None}, "tokenizer"),
        (VllmBench, {"api": "tgi"}, "speaks the OpenAI interfaces"),
        (AisBench, {"model_path": None}, "tokenizer"),
        (Evalscope, {"prompts": (Prompt(token_ids=(1, 2)),)}, "no token ids"),
    ],
)
def test_what_a_tool_can_not_send_is_told(tool, changes, words, setting):
    with pytest.raises(UsageError, match=words):
        tool(setting(**changes)).check()
