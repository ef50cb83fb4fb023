"""From a profile's `workload.source` to the tool that it names, checked before anything is touched."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from shutil import which

from autotune.errors import UsageError
from autotune.load.own_source import OwnSource
from autotune.load.sources.tool import Tool, ToolSetting
from autotune.load.sources.tools.ais_bench import AisBench
from autotune.load.sources.tools.evalscope import Evalscope
from autotune.load.sources.tools.mindie_benchmark import MindieBenchmark
from autotune.load.sources.tools.own_command import OwnCommand
from autotune.load.sources.tools.vllm_bench import VllmBench
from autotune.load.tool_run import ToolPlace
from autotune.load.tool_source import ToolOptions, ToolSource
from autotune.profile.workload_section import CommandSource, WorkloadSection

_PROGRAMS = {
    "benchmark": ("benchmark", "it comes with MindIE up to 2.2; newer versions have ais_bench"),
    "ais_bench": ("ais_bench", "pip install ais-bench-benchmark"),
    "vllm_bench": ("vllm", "pip install vllm"),
    "evalscope": ("evalscope", "pip install 'evalscope[perf]'"),
}
"""The command of each source, and where it comes from."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Surroundings:
    """Where a tool is found and what it runs with."""

    environment: Mapping[str, str] = field(repr=False)
    """Of the service, proxies left out."""
    programs: tuple[Path, ...] = ()
    """Directories that are looked in before PATH."""
    model_path: Path | None = None


def tool_source_of(
    section: WorkloadSection, own: OwnSource, place: ToolPlace, around: Surroundings, *, time_scale: float
) -> ToolSource:
    """The tool behind the Source interface. Raises UsageError for what it can't do or is not there."""
    tool = tool_of(section, own, around)
    tool.check()
    options = ToolOptions(
        environment=around.environment,
        time_scale=time_scale,
        rate=section.rate,
        requests=section.requests,
    )
    return ToolSource(tool, own, place, options)


def tool_of(section: WorkloadSection, own: OwnSource, around: Surroundings) -> Tool:
    """The tool that `source` names, with what all its runs share."""
    source = section.source
    _refuse_secrets(section)
    if isinstance(source, CommandSource):
        program = _found(source.command[0], around, "workload.source.command names no program that is there")
        return OwnCommand(
            _setting(section, own, around, program), words=tuple(source.command), value=source.value
        )
    name, hint = _PROGRAMS[source]
    setting = _setting(section, own, around, _found(name, around, hint))
    match source:
        case "benchmark":
            return MindieBenchmark(setting)
        case "ais_bench":
            return AisBench(setting)
        case "vllm_bench":
            return VllmBench(setting)
        case _:
            return Evalscope(setting)


def _setting(section: WorkloadSection, own: OwnSource, around: Surroundings, program: str) -> ToolSetting:
    return ToolSetting(
        program=program,
        api=section.api,
        model_path=around.model_path,
        dataset_type=section.dataset.type,
        dataset_path=section.dataset.path,
        prompts=own.workload.prompts,
        max_output_tokens=section.max_output_tokens,
        sampling=own.workload.sampling,
        requests=section.requests,
        environment=around.environment,
    )


def _found(name: str, around: Surroundings, hint: str) -> str:
    places = [*map(str, around.programs), around.environment.get("PATH", "")]
    found = which(name, path=":".join(places))
    if found is None:
        raise UsageError(f"workload.source: there is no command {name}", hint=hint)
    return str(Path(found).absolute())


def _refuse_secrets(section: WorkloadSection) -> None:
    """Options of a command are seen by everybody on the host."""
    if section.headers and not isinstance(section.source, CommandSource):
        raise UsageError(
            f"workload.headers can't be given to {section.source}: its options stand in the process list",
            hint="source: own, or a command of your own that reads the secret itself",
        )
