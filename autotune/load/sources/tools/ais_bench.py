"""AISBench: a model file of its own making in a directory of its own, so that the package stays as it is."""

from pathlib import Path
from urllib.parse import urlsplit

from autotune.errors import UsageError
from autotune.load.sources import ais_bench
from autotune.load.sources.reading import BenchmarkReading
from autotune.load.sources.tool import ToolCommand, ToolJob, ToolSetting
from autotune.load.sources.tools.prompts import (
    need_model_path,
    need_openai,
    need_texts,
    write_json_lines,
)

_TOOL = "AISBench"
_MODEL = "autotune_model"
_CLASSES = {"openai-chat": "VLLMCustomAPIChatStream", "openai": "VLLMCustomAPIStream"}
_ONE_TRY = 1
"""More tries hide failures and change the load; with 0 it sends nothing at all."""
_ALL_AT_ONCE = 0


class AisBench:
    """Its concurrency is `batch_size`; the file is Python, written from checked values only."""

    name = "ais_bench"
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
        """Write the model's file and the prompts."""
        setting = self._setting
        models = job.directory / "configs" / "models"
        models.mkdir(parents=True)
        (models / f"{_MODEL}.py").write_text(self._model_file(job), encoding="utf-8")
        data = write_json_lines(
            job.directory / "prompts.jsonl", setting, job, text="question", length="max_tokens"
        )
        argv = (
            *(setting.program, "--config-dir", str(job.directory / "configs"), "--models", _MODEL),
            *("--custom-dataset-path", str(data), "--custom-dataset-data-type", "qa"),
            *("--mode", "perf", "--work-dir", str(job.directory / "outputs")),
        )
        return ToolCommand(argv=argv)

    def _model_file(self, job: ToolJob) -> str:
        setting = self._setting
        place = urlsplit(job.url)
        if place.scheme != "http" or place.hostname is None or place.port is None:
            raise UsageError(f"AISBench takes a host and a port without TLS, not {job.url}")
        fields = {
            "attr": "service",
            "abbr": _MODEL,
            "path": str(need_model_path(setting, _TOOL)),
            "model": job.model,
            "request_rate": _ALL_AT_ONCE if job.rate is None else job.rate,
            "retry": _ONE_TRY,
            "host_ip": place.hostname,
            "host_port": place.port,
            "max_out_len": setting.max_output_tokens,
            "batch_size": job.concurrency,
            "trust_remote_code": False,
            "generation_kwargs": setting.sampling.values(),
        }
        kind = _CLASSES[setting.api]
        lines = [f"    {name}={value!r}," for name, value in fields.items()]
        return "\n".join(
            [
                f"from ais_bench.benchmark.models import {kind}",
                "",
                "models = [dict(",
                f"    type={kind},",
                *lines,
                ")]",
                "",
            ]
        )

    def reading(self, job: ToolJob, output: str) -> BenchmarkReading:
        """From its files, wherever below its directory this version puts them; else from its tables."""
        results = _results(job.directory / "outputs")
        if results is None:
            return ais_bench.read_console(output)
        latencies = results.with_suffix(".csv")
        table = latencies.read_text(encoding="utf-8") if latencies.is_file() else ""
        return ais_bench.read_files(results.read_text(encoding="utf-8"), table)


def _results(folder: Path) -> Path | None:
    """`<time>/performance(s)/<model>/<dataset>.json`, but not its details."""
    found = [
        file
        for file in folder.rglob("*.json")
        if file.parent.name == _MODEL and not file.stem.endswith("_details")
    ]
    return max(found, key=lambda file: file.stat().st_mtime_ns, default=None)
