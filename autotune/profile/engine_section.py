"""The engine section: which serving engine, where it is, how it is started and stopped."""

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from autotune.profile.places import ProfilePath
from autotune.profile.secret import looks_secret
from autotune.profile.section import Argv, Count, Duration, Flag, Fraction, Section, TextOrSecret, Whole, Word

_MINDIE_HOME = Path("/usr/local/Ascend/mindie/latest/mindie-service")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SHOUTED = re.compile(r"[A-Z_][A-Z0-9_]*")


class EnvironmentSection(Section):
    """The daemon's environment: a captured file (`env -0`), and single values that win over it."""

    file: ProfilePath | None = None
    values: dict[str, TextOrSecret] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _gather_variables(cls, raw: object) -> object:
        """`{file: mindie.env, OMP_NUM_THREADS: 10}` is short for the same under `values`."""
        if not isinstance(raw, dict) or not isinstance(raw.get("values", {}), dict):
            return raw
        shouted = {
            key: value for key, value in raw.items() if isinstance(key, str) and _SHOUTED.fullmatch(key)
        }
        rest = {key: value for key, value in raw.items() if key not in shouted}
        return {**rest, "values": {**rest.get("values", {}), **shouted}} if shouted else raw

    @field_validator("values")
    @classmethod
    def _are_variables(cls, values: dict[str, TextOrSecret]) -> dict[str, TextOrSecret]:
        for name, value in values.items():
            if not _VARIABLE.fullmatch(name):
                raise ValueError(f"{name!r} is not a name of an environment variable")
            if isinstance(value, str) and looks_secret(name):
                raise ValueError(f"{name} looks like a secret; write {{env: NAME}} or {{file: PATH}} instead")
        return values


class ServiceSection(Section):
    """How production is stopped and started, with hooks that move traffic away and back."""

    unit: Annotated[str, Field(pattern=r"^[A-Za-z0-9:_.@\\-]+$")] | None = None
    stop: Argv | None = None
    start: Argv | None = None
    before: Argv | None = None
    after: Argv | None = None

    @model_validator(mode="after")
    def _says_how(self) -> "ServiceSection":
        commands = self.stop is not None and self.start is not None
        if (self.stop is None) != (self.start is None):
            raise ValueError("stop and start come together")
        if commands == (self.unit is not None):
            raise ValueError("a service is {unit: NAME} or {stop: [...], start: [...]}, one of the two")
        return self


class EngineSection(Section):
    """What is tuned. `rehearsal` is virtual: no home, a preset's step costs instead."""

    kind: Literal["mindie", "vllm", "rehearsal"] = "mindie"
    home: ProfilePath = _MINDIE_HOME
    """MindIE's install directory."""
    config_mode: Literal["private", "in-place", "auto"] = "auto"
    environment: EnvironmentSection = EnvironmentSection()
    start_timeout: Duration = 900.0
    """Seconds that a start may take."""
    service: ServiceSection | None = None
    raise_max_link_num: Flag = False
    """Raise maxLinkNum to workload.concurrency where that number is above it, in trials and in a winner."""
    command: Argv | None = None
    """vLLM: the command line that serves."""
    script: ProfilePath | None = None
    """vLLM: the run_vllm.sh that serves."""
    preset: Word = "llama3-8b"
    """Rehearsal: the step costs to use."""
    blocks: Whole | None = None
    """Rehearsal: KV blocks; the preset's own when None."""
    noise: Fraction = 0.02
    """Rehearsal: spread between launches, a fraction."""
    max_batch_size: Whole = 200
    """Rehearsal: the incumbent's max_batch_size."""
    start_seconds: Count = 120
    """Rehearsal: virtual seconds that a start takes."""

    @model_validator(mode="after")
    def _vllm_says_how_it_starts(self) -> "EngineSection":
        given = (self.command is not None) + (self.script is not None)
        if self.kind == "vllm" and given != 1:
            raise ValueError("vllm needs command: [vllm, serve, ...] or script: run_vllm.sh, one of the two")
        if self.kind != "vllm" and given:
            raise ValueError(f"command and script belong to kind: vllm, not {self.kind}")
        return self


class ModelSection(Section):
    """The model: its directory and the name that it is served under; read from the service when None."""

    path: ProfilePath | None = None
    name: Word | None = None
