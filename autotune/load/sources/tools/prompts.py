"""What other tools are given of the workload: its prompts in a file, looped and salted, and its sampling."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from autotune.errors import UsageError
from autotune.load.sources.tool import ToolJob, ToolSetting
from autotune.load.workload.workload import Sampling, Workload


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One request."""

    text: str
    output_tokens: int


def lines_of(setting: ToolSetting, job: ToolJob) -> Iterator[Line]:
    """As many as the job sends."""
    workload = Workload(prompts=setting.prompts, max_output_tokens=setting.max_output_tokens)
    for index in range(job.requests):
        yield Line(text=workload.prompt(index).text, output_tokens=workload.asked_tokens(index))


def write_json_lines(path: Path, setting: ToolSetting, job: ToolJob, *, text: str, length: str) -> Path:
    """A JSON object a line, its prompt and its length under these names."""
    rows = (
        json.dumps({text: line.text, length: line.output_tokens}, ensure_ascii=False)
        for line in lines_of(setting, job)
    )
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return path


def need_texts(setting: ToolSetting, tool: str) -> None:
    """Raise UsageError for prompts that are token ids."""
    if any(prompt.token_ids for prompt in setting.prompts):
        raise UsageError(f"{tool} sends texts, no token ids", hint="workload.source: own")


def need_openai(setting: ToolSetting, tool: str) -> None:
    """Raise UsageError unless the service is spoken to by an OpenAI interface."""
    if setting.api not in {"openai", "openai-chat"}:
        raise UsageError(
            f"{tool} speaks the OpenAI interfaces, not {setting.api}", hint="workload.api: openai-chat"
        )


def need_model_path(setting: ToolSetting, tool: str) -> Path:
    """The model's directory. Raises UsageError when the profile has none."""
    if setting.model_path is None:
        raise UsageError(f"{tool} counts tokens with the model's tokenizer", hint="set model.path")
    return setting.model_path


def sampling_flags(sampling: Sampling) -> list[str]:
    """The sampling values that command lines of load tools take, each under its own name."""
    values = sampling.values()
    words = []
    for name in ("temperature", "top_p", "top_k", "repetition_penalty"):
        if name in values:
            words += [f"--{name.replace('_', '-')}", f"{values[name]:g}"]
    return words
