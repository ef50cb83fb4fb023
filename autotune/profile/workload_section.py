"""The workload section: what the clients send, and what produces the load."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag, field_validator, model_validator

from autotune.profile.places import ProfilePath
from autotune.profile.secret import looks_secret
from autotune.profile.section import Argv, Count, Flag, Real, Section, TextOrSecret, Whole, Word

DatasetType = Literal[
    "synthetic",
    "gsm8k",
    "humaneval",
    "boolq",
    "mtbench",
    "truthfulqa",
    "ceval",
    "mmlu",
    "oasst1",
    "sharegpt",
    "token_ids",
    "jsonl",
]
Api = Literal["openai-chat", "openai", "tgi", "triton", "triton-tokens", "vllm", "mindie-infer"]


class LengthSection(Section):
    """Token lengths: one number, or a mean with the longest (and shortest) that occur."""

    mean: Real
    max: Whole
    min: Whole = 1

    @model_validator(mode="before")
    @classmethod
    def _fixed(cls, raw: object) -> object:
        """`186` means always 186; without a max the mean is the longest."""
        if isinstance(raw, int) and not isinstance(raw, bool):
            return {"mean": raw, "max": raw, "min": raw}
        if isinstance(raw, Mapping) and "max" not in raw and isinstance(raw.get("mean"), int):
            return {"min": raw["mean"], **raw, "max": raw["mean"]}
        return raw

    @model_validator(mode="after")
    def _in_order(self) -> "LengthSection":
        if not self.min <= self.mean <= self.max:
            raise ValueError(f"min {self.min}, mean {self.mean:g}, max {self.max} are not in this order")
        return self

    @property
    def fixed(self) -> bool:
        """True when all lengths are the same."""
        return self.min == self.max


class DatasetSection(Section):
    """Where prompts and lengths come from."""

    type: DatasetType = "synthetic"
    path: ProfilePath | None = None
    input_tokens: LengthSection | None = None
    output_tokens: LengthSection | None = None

    @model_validator(mode="after")
    def _is_complete(self) -> "DatasetSection":
        lengths = self.input_tokens is not None and self.output_tokens is not None
        if self.type == "synthetic":
            if not lengths and self.path is None:
                raise ValueError(
                    "a synthetic data set needs input_tokens and output_tokens, or the path of a file"
                )
        elif self.path is None:
            raise ValueError(f"a {self.type} data set needs a path")
        return self


class SamplingSection(Section):
    """Sampling values sent with each request; None is not sent."""

    ignore_eos: Flag = False
    do_sample: Flag | None = None
    temperature: Annotated[float, Field(strict=True, ge=0)] | None = None
    top_p: Annotated[float, Field(strict=True, gt=0, le=1)] | None = None
    top_k: Annotated[int, Field(strict=True, ge=-1)] | None = None
    repetition_penalty: Real | None = None
    seed: Count | None = None


class TlsSection(Section):
    """Private authority and client certificate, PEM files."""

    ca: ProfilePath | None = None
    cert: ProfilePath | None = None
    key: ProfilePath | None = None
    password_file: ProfilePath | None = None
    """Holds the password of an encrypted key, in its first line."""

    @model_validator(mode="after")
    def _pairs(self) -> "TlsSection":
        if (self.cert is None) != (self.key is None):
            raise ValueError("cert and key come together")
        if self.password_file is not None and self.key is None:
            raise ValueError("password_file is the password of key, and there is none")
        return self


class CommandSource(Section):
    """A load test of the user's own: its command, and where its output holds tokens a second."""

    command: Argv
    value: Word
    """A regular expression with one group, or a JSON path that begins with `$`."""


SourceName = Literal["own", "benchmark", "ais_bench", "vllm_bench", "evalscope"]


def _source_kind(value: object) -> str:
    return "<command>" if isinstance(value, Mapping | CommandSource) else "<name>"


def _concurrency_kind(value: object) -> str:
    return "<word>" if isinstance(value, str) else "<number>"


SourceChoice = Annotated[
    Annotated[SourceName, Tag("<name>")] | Annotated[CommandSource, Tag("<command>")],
    Discriminator(_source_kind),
]
Concurrency = Annotated[
    Annotated[Literal["auto", "batch-1"], Tag("<word>")] | Annotated[Whole, Tag("<number>")],
    Discriminator(_concurrency_kind),
]
_GUIDE_DATASET = DatasetSection(
    input_tokens=LengthSection(mean=186, max=186, min=186),
    output_tokens=LengthSection(mean=346, max=512),
)


class WorkloadSection(Section):
    """What the clients send. The default lengths are those of the vendor's worked example."""

    api: Api = "tgi"
    source: SourceChoice = "own"
    dataset: DatasetSection = _GUIDE_DATASET
    max_output_tokens: Whole = 512
    sampling: SamplingSection = SamplingSection()
    concurrency: Concurrency = "auto"
    rate: Real | None = None
    """Requests a second in open loop; None is closed loop."""
    requests: Whole | None = None
    """Requests of one run of another tool; None is four for each client. The built-in client needs none."""
    static_output: ProfilePath | None = None
    """Result of a static test of the bare model (run_pa, modeltest): the ceiling that the report names."""
    tls: TlsSection | None = None
    headers: dict[str, TextOrSecret] = Field(default_factory=dict)

    @field_validator("headers")
    @classmethod
    def _keep_no_secret(cls, headers: dict[str, TextOrSecret]) -> dict[str, TextOrSecret]:
        for name, value in headers.items():
            if isinstance(value, str) and looks_secret(name):
                raise ValueError(f"{name} looks like a secret; write {{env: NAME}} or {{file: PATH}} instead")
        return headers

    @model_validator(mode="after")
    def _one_loop(self) -> "WorkloadSection":
        if self.rate is not None and self.concurrency != "auto":
            raise ValueError("rate (open loop) and concurrency (closed loop) exclude each other")
        return self
