"""MindIE's `benchmark` command, of all its generations."""

import json
import shutil
from pathlib import Path
from typing import Any

from autotune.errors import UsageError
from autotune.load.sources import mindie_benchmark
from autotune.load.sources.reading import BenchmarkReading
from autotune.load.sources.tool import ToolCommand, ToolJob, ToolSetting
from autotune.load.sources.tools.prompts import need_model_path
from autotune.load.workload.workload import Sampling

_TEST_TYPES = {
    "triton": "client",
    "tgi": "tgi_client",
    "vllm": "vllm_client",
    "openai": "openai",
    "openai-chat": "openai",
}
_DATASET_TYPES = ("ceval", "gsm8k", "oasst1", "humaneval", "boolq", "mmlu", "truthfulqa", "mtbench")
_SYNTHETIC_APIS = ("vllm", "openai", "openai-chat")
_TO_SCREEN = {"MINDIE_LOG_TO_STDOUT": "benchmark:1; client:1"}
_RESULTS = "result"
_LARGEST_CONCURRENCY = 60_000


class MindieBenchmark:
    """It ends with exit code 0 also when every request failed: its counts decide."""

    name = "benchmark"
    in_service_time = True
    """The stand-in of an emulated install reports as the real one does, in the service's own clock."""
    sends_all = False

    def __init__(self, setting: ToolSetting) -> None:
        self._setting = setting

    def check(self) -> None:
        """Raise UsageError for what the command has no word for."""
        setting = self._setting
        need_model_path(setting, "MindIE's benchmark")
        if setting.api not in _TEST_TYPES:
            raise UsageError(
                f"MindIE's benchmark does not speak {setting.api}", hint=f"one of {', '.join(_TEST_TYPES)}"
            )
        if setting.dataset_type == "synthetic":
            if setting.api not in _SYNTHETIC_APIS:
                raise UsageError(
                    f"MindIE's benchmark takes synthetic data sets by {', '.join(_SYNTHETIC_APIS)} only",
                    hint="workload.api: openai, or a data set of questions",
                )
        elif setting.dataset_type not in _DATASET_TYPES:
            raise UsageError(
                f"MindIE's benchmark knows no {setting.dataset_type} data set",
                hint=f"one of synthetic, {', '.join(_DATASET_TYPES)}",
            )

    def command(self, job: ToolJob) -> ToolCommand:
        """A fresh --SavePath, so that its newest files can only be those of this run."""
        setting = self._setting
        options: dict[str, object] = {
            "TestType": _TEST_TYPES[setting.api],
            "Http": job.url,
            "ManagementHttp": job.management_url,
            "ModelName": job.model,
            "ModelPath": need_model_path(setting, "MindIE's benchmark"),
            "DatasetType": setting.dataset_type,
            **self._data(job),
            "Concurrency": min(job.concurrency, _LARGEST_CONCURRENCY),
            "MaxOutputLen": setting.max_output_tokens,
            "TaskKind": "stream",
            "Tokenizer": "True",
            "SavePath": job.directory / _RESULTS,
            **_sampling(setting.sampling),
        }
        if setting.requests is not None and setting.dataset_type != "synthetic":
            options["RequestCount"] = setting.requests
        if job.rate is not None:
            options |= {"RequestRate": f"{job.rate:g}", "Distribution": "poisson"}
        argv = [setting.program]
        for name, value in options.items():
            if value != "":
                argv += [f"--{name}", str(value)]
        return ToolCommand(argv=tuple(argv), environment=_TO_SCREEN)

    def _data(self, job: ToolJob) -> dict[str, object]:
        """Its data sets are folders; a whole one is sent once, a synthetic one has the number of requests."""
        setting = self._setting
        path = setting.dataset_path
        if setting.dataset_type == "synthetic":
            return {"SyntheticConfigPath": _synthetic(job.directory, setting, job.requests)}
        if path is not None and path.is_file():
            folder = job.directory / "dataset"
            folder.mkdir()
            shutil.copyfile(path, folder / path.name)
            path = folder
        return {"DatasetPath": path or ""}

    def reading(self, job: ToolJob, output: str) -> BenchmarkReading:
        """From its CSV files, else from its tables."""
        folder = job.directory / _RESULTS
        common = _newest(folder, "result_common_*.csv")
        if common is None:
            return mindie_benchmark.read_console(output)[-1]
        performance = _newest(folder, "result_perf_*.csv")
        latencies = performance.read_text(encoding="utf-8") if performance is not None else ""
        return mindie_benchmark.read_csv(common.read_text(encoding="utf-8"), latencies)


def _newest(folder: Path, pattern: str) -> Path | None:
    return max(folder.glob(pattern), key=lambda file: file.stat().st_mtime_ns, default=None)


def _sampling(sampling: Sampling) -> dict[str, object]:
    given = sampling.values()
    options: dict[str, object] = {}
    if sampling.do_sample is not None:
        options["DoSampling"] = str(sampling.do_sample)
    if given:
        options["SamplingParams"] = json.dumps(given)
    return options


def _synthetic(folder: Path, setting: ToolSetting, requests: int) -> Path:
    """The lengths of the workload's own prompts, as the two-column file that the command takes."""
    path = folder / "synthetic.csv"
    rows = ["Input,Output"]
    prompts: tuple[Any, ...] = setting.prompts
    for index in range(requests):
        prompt = prompts[index % len(prompts)]
        output = min(prompt.output_tokens or setting.max_output_tokens, setting.max_output_tokens)
        rows.append(f"{prompt.input_tokens or prompt.wanted_tokens or 1},{output}")
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    path.chmod(0o640)
    return path
