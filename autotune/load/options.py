"""LoadOptions: the command line of `autotune load`, checked and turned into one load test."""

import os
from dataclasses import dataclass
from pathlib import Path

from autotune.errors import UsageError
from autotune.load.client.address import read_address
from autotune.load.client.families import api_of
from autotune.load.client.plan import Target
from autotune.load.client.tls import TlsFiles
from autotune.load.ends import End, ForRequests, ForSeconds, UntilSure
from autotune.load.load_test import LoadTest
from autotune.load.quantities import fraction_of, seconds_of
from autotune.load.workload.dataset import Dataset, DatasetRequest, read_dataset
from autotune.load.workload.lengths import Fixed, Lengths, natural
from autotune.load.workload.workload import Sampling, Workload

_GUIDE_INPUT, _GUIDE_OUTPUT = 186, 346
"""Token lengths of the worked example in MindIE's performance guide."""
_DEFAULT_HALF_WIDTH = "1%"


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadOptions:
    """The options as they were given; None was not."""

    url: str
    api: str
    model: str
    concurrency: int | None = None
    rate: float | None = None
    constant: bool = False
    requests: int | None = None
    duration: str | None = None
    half_width: str | None = None
    cap: str = "10m"
    dataset: Path | None = None
    dataset_type: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    max_output_tokens: int = 512
    ignore_eos: bool = False
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    seed: int = 1
    shuffle: bool = False
    no_stream: bool = False
    tokens_per_event: float = 1.0
    ramp: str | None = None
    workers: int = 1
    cpus: str | None = None
    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None
    headers: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Prepared:
    """A test that is ready to run, and what a person should know before."""

    test: LoadTest
    notices: tuple[str, ...]


def prepared(options: LoadOptions) -> Prepared:
    """Check and read everything. Raises UsageError."""
    if (options.concurrency is None) == (options.rate is None):
        raise UsageError(
            "give --concurrency N (closed loop) or --rate R (open loop)", hint="autotune load --help"
        )
    dataset = _dataset(options)
    longest = options.max_output_tokens
    if options.dataset is None and options.output_tokens is not None:
        longest = max(longest, options.output_tokens)
    sampling = Sampling(
        ignore_eos=options.ignore_eos,
        temperature=options.temperature,
        top_p=options.top_p,
        top_k=options.top_k,
    )
    test = LoadTest(
        target=_target(options),
        workload=Workload(prompts=dataset.prompts, max_output_tokens=longest, sampling=sampling),
        concurrency=options.concurrency,
        end=_end(options),
        rate=options.rate,
        poisson=not options.constant,
        ramp_seconds=seconds_of(options.ramp, "--ramp") if options.ramp is not None else 0.0,
        tokens_an_event=options.tokens_per_event,
        workers=options.workers,
        cpus=cpus_of(options.cpus) if options.cpus is not None else (),
        seed=options.seed,
    )
    return Prepared(test=test, notices=dataset.notices)


def _target(options: LoadOptions) -> Target:
    address = read_address(options.url)
    if not address.secure and (options.ca or options.cert or options.key):
        raise UsageError(
            "--ca, --cert and --key need an https:// URL", hint=f"--url https://{address.host_header}"
        )
    return Target(
        address=address,
        api=api_of(options.api),
        model=options.model,
        headers=tuple(_header(text) for text in options.headers),
        tls=TlsFiles(ca=options.ca, cert=options.cert, key=options.key) if address.secure else None,
        streaming=not options.no_stream and options.api != "triton-tokens",
    )


def _header(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    name = name.strip()
    if not separator or not name or not name.replace("-", "").replace("_", "").isalnum():
        raise UsageError("a header is K=V, with letters, digits and - in K", hint="--header X-Request=1")
    value = _secret(name, value)
    if any(character in value for character in "\r\n\0"):
        raise UsageError(f"the value of header {name} has a line end in it")
    return name, value


def _secret(name: str, value: str) -> str:
    if value.startswith("env:"):
        variable = value[4:]
        if variable not in os.environ:
            raise UsageError(f"header {name}: the environment variable {variable} is not set")
        return os.environ[variable]
    if value.startswith("file:"):
        try:
            return Path(value[5:]).read_text(encoding="utf-8").rstrip("\r\n")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"header {name}: {value[5:]} can't be read: {error}") from error
    return value


def _end(options: LoadOptions) -> End:
    given = [options.requests is not None, options.duration is not None, options.half_width is not None]
    if sum(given) > 1:
        raise UsageError(
            "--requests, --duration and --half-width exclude each other", hint="give one of them"
        )
    if options.requests is not None:
        return ForRequests(count=options.requests)
    if options.duration is not None:
        return ForSeconds(seconds=seconds_of(options.duration, "--duration"))
    wanted = fraction_of(options.half_width or _DEFAULT_HALF_WIDTH, "--half-width")
    return UntilSure(half_width=wanted, cap_seconds=seconds_of(options.cap, "--cap"), alone=True)


def _dataset(options: LoadOptions) -> Dataset:
    if options.dataset is None and options.dataset_type not in {None, "synthetic"}:
        raise UsageError(f"--dataset-type {options.dataset_type} needs --dataset PATH")
    if options.dataset is not None and options.dataset_type is None:
        raise UsageError("--dataset needs --dataset-type", hint="--dataset-type gsm8k")
    kind = options.dataset_type or "synthetic"
    made = options.dataset is None
    request = DatasetRequest(
        type=kind,
        path=options.dataset,
        input_tokens=Fixed(tokens=options.input_tokens or _GUIDE_INPUT),
        output_tokens=_output(options, made=made),
        seed=options.seed,
        shuffle=options.shuffle,
        as_token_ids=options.api == "triton-tokens",
    )
    dataset = read_dataset(request)
    if options.api == "triton-tokens" and not dataset.prompts[0].token_ids:
        raise UsageError("triton-tokens takes token ids only", hint="--dataset-type token_ids, or synthetic")
    return dataset


def _output(options: LoadOptions, *, made: bool) -> Lengths | None:
    if options.output_tokens is not None:
        return Fixed(tokens=options.output_tokens)
    if not made:
        return None
    longest = options.max_output_tokens
    return natural(min(_GUIDE_OUTPUT, 0.7 * longest) if longest > 1 else 1, low=1, high=longest)


def cpus_of(text: str) -> tuple[int, ...]:
    """CPU numbers of `0-3,8`. Raises UsageError."""
    cpus: set[int] = set()
    for part in text.split(","):
        low, dash, high = part.strip().partition("-")
        if not low.isdecimal() or (dash and not high.isdecimal()):
            raise UsageError(f"{text!r} is no list of CPUs", hint="write it like 0-3,8")
        cpus.update(range(int(low), int(high if dash else low) + 1))
    return tuple(sorted(cpus))
