"""The peers that pip brings: their flags for the same test, and what they say of it."""

import json
import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from autotune.errors import NotMeasurable
from autotune.load.sources.recognise import read_output
from tests.bench.load.tree_watch import TreeWatch

NAMES = ("vllm", "evalscope", "aiperf", "guidellm")


@dataclass(frozen=True)
class PeerRun:
    """What was seen from outside, and what the tool itself says; None where it says nothing."""

    watch: TreeWatch
    began: float
    returncode: int
    tail: str
    gap_p99_ms: float | None = None
    ttft_mean_ms: float | None = None
    output_tokens: int | None = None


def make_tokenizer(directory: Path) -> Path:
    """A tokenizer of 2,000 words that needs no network."""
    words = {f"word{number}": number + 1 for number in range(2000)}
    document = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": {"<unk>": 0, **words}, "unk_token": "<unk>"},
    }
    directory.mkdir(exist_ok=True)
    (directory / "tokenizer.json").write_text(json.dumps(document))
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "<unk>", "eos_token": "<unk>"}
    (directory / "tokenizer_config.json").write_text(json.dumps(settings))
    (directory / "config.json").write_text(json.dumps({"model_type": "llama", "vocab_size": 2001}))
    return directory


def found(name: str, environments: Sequence[Path]) -> Path | None:
    """The command of a peer in the first environment that has it."""
    there = [directory / "bin" / name for directory in environments]
    return next((file for file in there if file.exists()), None)


def told(environments: Sequence[Path]) -> str:
    return ", ".join(map(str, environments)) or "any directory: give --peers DIR"


def argv_of(name: str, command: Path, url: str, model: Path, *, requests: int, streams: int, tokens: int):
    """1000 requests of 128 tokens in and `tokens` out over `streams` connections on /v1/completions."""
    binary = str(command)
    common = {"requests": str(requests), "streams": str(streams), "tokens": str(tokens)}
    if name == "vllm":
        return [
            *(binary, "bench", "serve", "--backend", "openai", "--base-url", url, "--model", "m"),
            *("--tokenizer", str(model), "--dataset-name", "random", "--random-input-len", "128"),
            *("--random-output-len", common["tokens"], "--ignore-eos", "--num-prompts", common["requests"]),
            *("--max-concurrency", common["streams"]),
        ]
    if name == "evalscope":
        return [
            *(binary, "perf", "--url", f"{url}/v1/completions", "--api", "openai", "--model", "m"),
            *("--dataset", "random", "--tokenizer-path", str(model), "--min-prompt-length", "128"),
            *(
                "--max-prompt-length",
                "128",
                "--max-tokens",
                common["tokens"],
                "--min-tokens",
                common["tokens"],
            ),
            *("--parallel", common["streams"], "--number", common["requests"], "--stream"),
        ]
    if name == "aiperf":
        return [
            *(
                binary,
                "profile",
                "--url",
                url,
                "--model",
                "m",
                "--endpoint-type",
                "completions",
                "--streaming",
            ),
            *(
                "--tokenizer",
                str(model),
                "--concurrency",
                common["streams"],
                "--request-count",
                common["requests"],
            ),
            *("--synthetic-input-tokens-mean", "128", "--output-tokens-mean", common["tokens"]),
            *("--extra-inputs", "ignore_eos:true", "--use-server-token-count"),
        ]
    return [
        *(binary, "run", "--backend", f"kind=openai_http,target={url},model=m"),
        *(
            "--profile",
            f"kind=concurrent,streams={streams}",
            "--constraint",
            f"kind=max_requests,count={requests}",
        ),
        *("--tokenizer", f"kind=hf_auto,model={model}"),
        *("--data", f"kind=synthetic_text,prompt_tokens=128,output_tokens={tokens}"),
    ]


def run_peer(name: str, argv: list[str], directory: Path) -> PeerRun:
    """Run it on CPU 1 and watch its whole process tree."""
    environment = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
    log = directory / f"{name}.txt"
    began = time.perf_counter()
    with (
        log.open("wb") as output,
        subprocess.Popen(
            ["taskset", "-c", "1", *argv],
            cwd=directory,
            env={**environment, "HF_HUB_OFFLINE": "1"},
            stdout=output,
            stderr=subprocess.STDOUT,
        ) as process,
        TreeWatch(process.pid) as watch,
    ):
        try:
            code = process.wait(timeout=900)
        except subprocess.TimeoutExpired:
            process.kill()
            code = -9
    text = log.read_text(errors="replace")
    said = said_by(name, text, directory)
    return PeerRun(watch=watch, began=began, returncode=code, tail=text[-600:], **said)


def said_by(name: str, text: str, directory: Path) -> dict:
    """The latencies and tokens in a peer's own words; nothing where its output is not understood."""
    if name == "own":
        return _own(text)
    if name == "aiperf":
        return _aiperf(directory)
    try:
        reading = read_output(text, {"vllm": "vllm_bench"}.get(name, name))
    except NotMeasurable:
        return {}
    tokens = reading.output_tokens
    if tokens is None and reading.mean_output_tokens is not None:
        tokens = round(reading.mean_output_tokens * reading.completed)
    return {
        "gap_p99_ms": reading.event_gap_ms.p99,
        "ttft_mean_ms": reading.ttft_ms.mean,
        "output_tokens": tokens,
    }


def _own(text: str) -> dict:
    document, _ = json.JSONDecoder().raw_decode(text[text.index("{") :])
    return {
        "gap_p99_ms": document["event_gap_ms"]["p99"],
        "ttft_mean_ms": document["ttft_ms"]["mean"],
        "output_tokens": document["output_tokens"],
    }


def _aiperf(directory: Path) -> dict:
    for file in directory.rglob("profile_export_aiperf.json"):
        document = json.loads(file.read_text())
        return {
            "gap_p99_ms": (document.get("inter_token_latency") or {}).get("p99"),
            "ttft_mean_ms": (document.get("time_to_first_token") or {}).get("avg"),
        }
    return {}
