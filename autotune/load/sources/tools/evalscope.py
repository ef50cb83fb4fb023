"""`evalscope perf`: the prompts of the workload as an openqa file, the result from what it prints."""

import json

from autotune.load.sources import evalscope
from autotune.load.sources.reading import BenchmarkReading
from autotune.load.sources.tool import ToolCommand, ToolJob, ToolSetting
from autotune.load.sources.tools.prompts import need_openai, need_texts, sampling_flags, write_json_lines

_TOOL = "evalscope perf"


class Evalscope:
    """The replies end at the longest length asked for, or by themselves."""

    name = "evalscope"
    in_service_time = False
    sends_all = True

    def __init__(self, setting: ToolSetting) -> None:
        self._setting = setting

    def check(self) -> None:
        """Raise UsageError for what it can't send."""
        need_openai(self._setting, _TOOL)
        need_texts(self._setting, _TOOL)

    def command(self, job: ToolJob) -> ToolCommand:
        """Streaming, or its first-token time would be that of the whole reply."""
        setting, sampling = self._setting, self._setting.sampling
        chat = setting.api == "openai-chat"
        data = write_json_lines(
            job.directory / "prompts.jsonl", setting, job, text="question", length="max_tokens"
        )
        path = "/v1/chat/completions" if chat else "/v1/completions"
        argv = [
            *(setting.program, "perf", "--url", job.url + path, "--api", "openai", "--model", job.model),
            *("--dataset", "openqa", "--dataset-path", str(data), "--number", str(job.requests)),
            *("--parallel", str(job.concurrency), "--max-tokens", str(setting.max_output_tokens)),
            *("--stream", "--outputs-dir", str(job.directory / "outputs")),
            *("--min-prompt-length", "0", "--max-prompt-length", "1000000"),
        ]
        if setting.model_path is not None:
            argv += ["--tokenizer-path", str(setting.model_path)]
        if job.rate is not None:
            argv += ["--rate", f"{job.rate:g}"]
        if sampling.ignore_eos:
            argv += ["--extra-args", json.dumps({"ignore_eos": True})]
        argv += sampling_flags(sampling)
        return ToolCommand(argv=tuple(argv), environment={"COLUMNS": "200", "NO_COLOR": "1"})

    def reading(self, job: ToolJob, output: str) -> BenchmarkReading:
        """The last summary that it printed."""
        del job
        return evalscope.read_console(output)
