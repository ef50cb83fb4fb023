"""Tool: another program as the source of load: its command line for one run, and how its results are read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from autotune.load.sources.reading import BenchmarkReading
from autotune.load.workload.prompt import Prompt
from autotune.load.workload.workload import Sampling


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolJob:
    """One run against a running service."""

    url: str
    model: str
    """The model's name as the service knows it."""
    concurrency: int
    requests: int
    rate: float | None
    """Requests a second in open loop; None is closed loop."""
    directory: Path
    """Empty, of this run alone: inputs and results go here."""
    management_url: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolSetting:
    """What stays the same in all runs of a campaign."""

    program: str
    """The command's full path."""
    api: str
    model_path: Path | None
    """The model's directory, for its tokenizer."""
    dataset_type: str
    dataset_path: Path | None
    prompts: tuple[Prompt, ...]
    max_output_tokens: int
    sampling: Sampling
    requests: int | None
    """Of one run, where the profile says so."""
    environment: Mapping[str, str] = field(repr=False)
    """Of the service, proxies left out."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolCommand:
    """A command line and what it finds in its environment beside that of the service."""

    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)


class Tool(Protocol):
    """One program."""

    @property
    def name(self) -> str:
        """As a profile's `workload.source` writes it."""

    @property
    def in_service_time(self) -> bool:
        """Whether its figures are already in the clock of an emulated service."""

    @property
    def sends_all(self) -> bool:
        """Whether it sends exactly the job's number of requests, so that what is missing has failed."""

    def check(self) -> None:
        """Raise UsageError for a workload that this tool can't send."""

    def command(self, job: ToolJob) -> ToolCommand:
        """Write what it needs into the job's directory, and give its command line."""

    def reading(self, job: ToolJob, output: str) -> BenchmarkReading:
        """Read its files, or what it printed. Raises UnreadableOutput when there is no result."""
