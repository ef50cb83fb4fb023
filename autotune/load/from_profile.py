"""From a profile's workload section to the workload and the source that sends it."""

from collections.abc import Callable, Mapping
from pathlib import Path

from autotune.load.client.tls import TlsFiles
from autotune.load.own_source import OwnSource
from autotune.load.workload.dataset import Dataset, DatasetRequest, read_dataset
from autotune.load.workload.lengths import Fixed, Lengths, natural
from autotune.load.workload.token_count import Counter, counted, estimated_tokens, tokenizer_of
from autotune.load.workload.workload import Sampling, Workload
from autotune.model.limit import Limit
from autotune.profile.secret import SecretReference
from autotune.profile.workload_section import LengthSection, TlsSection, WorkloadSection

_MOST_COUNTED = 20_000
"""Prompts; more would take half a minute to count."""


def dataset_of(
    section: WorkloadSection, *, seed: int = 1, count_tokens: Counter = estimated_tokens
) -> Dataset:
    """The prompts of the section. Raises UsageError when the files are not what it says."""
    wanted = section.dataset
    synthetic = wanted.type == "synthetic"
    size = wanted.input_tokens
    request = DatasetRequest(
        type=wanted.type,
        path=wanted.path,
        input_tokens=_lengths(size) if size is not None and synthetic else None,
        output_tokens=_lengths(wanted.output_tokens) if wanted.output_tokens is not None else None,
        shortest_input=size.min if size is not None and not synthetic else None,
        longest_input=size.max if size is not None and not synthetic else None,
        seed=seed,
        as_token_ids=section.api == "triton-tokens",
    )
    return read_dataset(request, count_tokens=count_tokens)


def workload_of(
    section: WorkloadSection,
    *,
    seed: int = 1,
    model: Path | None = None,
    notice: Callable[[str], None] | None = None,
) -> Workload:
    """The endless row of requests; a synthetic reply has the length that was drawn for it.

    Prompt lengths are counted with the tokenizer in `model`, where it and the tokenizer extra are there.
    `notice` takes what a person should know of the data set.
    """
    values = section.sampling
    tokenizer = tokenizer_of(model) if model is not None else None
    dataset = dataset_of(section, seed=seed, count_tokens=tokenizer or estimated_tokens)
    for text in dataset.notices:
        if notice is not None:
            notice(text)
    prompts = dataset.prompts
    if tokenizer is not None and len(prompts) <= _MOST_COUNTED:
        prompts = counted(prompts, tokenizer)
    return Workload(
        prompts=prompts,
        max_output_tokens=section.max_output_tokens,
        sampling=Sampling(
            ignore_eos=values.ignore_eos or section.dataset.type == "synthetic",
            do_sample=values.do_sample,
            temperature=values.temperature,
            top_p=values.top_p,
            top_k=values.top_k,
            repetition_penalty=values.repetition_penalty,
            seed=values.seed,
        ),
    )


def own_source_of(
    section: WorkloadSection,
    *,
    environment: Mapping[str, str],
    time_scale: float = 1.0,
    seed: int = 1,
    model: Path | None = None,
    limits: tuple[Limit, ...] = (),
    cpus: tuple[int, ...] = (),
    notice: Callable[[str], None] | None = None,
) -> OwnSource:
    """The built-in client; secrets are read here, from where the profile says. Raises UsageError.

    For `model` and `notice` see workload_of.
    Goodput is counted by the latency limits among `limits`. The client runs on `cpus`, if any are given.
    """
    tls = section.tls
    return OwnSource(
        workload_of(section, seed=seed, model=model, notice=notice),
        section.api,
        time_scale=time_scale,
        rate=section.rate,
        headers=tuple(
            (name, value.read(environment) if isinstance(value, SecretReference) else value)
            for name, value in section.headers.items()
        ),
        tls=_tls_files(tls) if tls is not None else None,
        limits=limits,
        cpus=cpus,
        seed=seed,
    )


def _tls_files(tls: TlsSection) -> TlsFiles:
    return TlsFiles(ca=tls.ca, cert=tls.cert, key=tls.key, password_file=tls.password_file)


def _lengths(section: LengthSection) -> Lengths:
    if section.fixed:
        return Fixed(tokens=section.max)
    return natural(section.mean, low=section.min, high=section.max)
