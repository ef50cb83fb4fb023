"""`vllm bench serve`: the prompts of the workload in a file of its custom form, the result as its JSON."""

from autotune.load.sources import serving_result
from autotune.load.sources.reading import BenchmarkReading
from autotune.load.sources.tool import ToolCommand, ToolJob, ToolSetting
from autotune.load.sources.tools.prompts import (
    need_model_path,
    need_openai,
    need_texts,
    sampling_flags,
    write_json_lines,
)

_TOOL = "vllm bench serve"
_RESULT = "result.json"
_OF_THE_LINE = -1


class VllmBench:
    """Each reply has the length that the workload asks for."""

    name = "vllm_bench"
    in_service_time = False
    sends_all = True

    def __init__(self, setting: ToolSetting) -> None:
        self._setting = setting

    def check(self) -> None:
        """Raise UsageError for what it can't send."""
        need_openai(self._setting, _TOOL)
        need_texts(self._setting, _TOOL)
        need_model_path(self._setting, _TOOL)

    def command(self, job: ToolJob) -> ToolCommand:
        """With the server's own name of the model and the tokenizer of its directory."""
        setting, sampling = self._setting, self._setting.sampling
        chat = setting.api == "openai-chat"
        data = write_json_lines(
            job.directory / "prompts.jsonl", setting, job, text="prompt", length="output_tokens"
        )
        argv = [
            *(setting.program, "bench", "serve", "--backend", "openai-chat" if chat else "openai"),
            *("--base-url", job.url, "--endpoint", "/v1/chat/completions" if chat else "/v1/completions"),
            *("--model", job.model, "--tokenizer", str(need_model_path(setting, _TOOL))),
            *("--dataset-name", "custom", "--dataset-path", str(data), "--disable-shuffle"),
            *("--custom-output-len", str(_length(setting)), "--num-prompts", str(job.requests)),
            *("--request-rate", "inf" if job.rate is None else f"{job.rate:g}"),
            *("--max-concurrency", str(job.concurrency), "--percentile-metrics", "ttft,tpot,itl,e2el"),
            *("--metric-percentiles", "50,75,90,99", "--save-result", "--result-dir", str(job.directory)),
            *("--result-filename", _RESULT, "--disable-tqdm"),
        ]
        if not chat:
            argv.append("--skip-chat-template")
        if sampling.ignore_eos:
            argv.append("--ignore-eos")
        argv += sampling_flags(sampling)
        return ToolCommand(argv=tuple(argv), environment={"HF_HUB_OFFLINE": "1"})

    def reading(self, job: ToolJob, output: str) -> BenchmarkReading:
        """From its file, else from what it printed."""
        file = job.directory / _RESULT
        if file.is_file():
            return serving_result.read_json(file.read_text(encoding="utf-8"))
        return serving_result.read_console(output)


def _length(setting: ToolSetting) -> int:
    """One for all; -1 takes each line's own, which only newer versions know."""
    most = setting.max_output_tokens
    lengths = {min(prompt.output_tokens or most, most) for prompt in setting.prompts}
    return lengths.pop() if len(lengths) == 1 else _OF_THE_LINE
