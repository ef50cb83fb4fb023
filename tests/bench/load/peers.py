"""The peers' command lines: what pip brings, with the flags that make them do the same test."""

import json
import os
import resource
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

NAMES = ("vllm", "evalscope", "aiperf", "guidellm")


@dataclass(frozen=True)
class PeerRun:
    """What was seen from outside."""

    cpu_seconds: float
    seconds: float
    peak_mib: float
    start_seconds: float | None
    returncode: int
    tail: str


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


def argv_of(name: str, environment: Path, url: str, model: Path, *, requests: int, streams: int, tokens: int):
    """1000 requests of 128 tokens in and `tokens` out over `streams` connections on /v1/completions."""
    binary = str(environment / "bin" / name)
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


def run_peer(argv: list[str], truth, directory: Path) -> PeerRun:
    """Run it on CPU 1 and count its whole process tree. `truth` gives the server's own document."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    done = subprocess.run(
        ["taskset", "-c", "1", *argv],
        cwd=directory,
        env={**environment, "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    first = truth()["first_request"]
    return PeerRun(
        cpu_seconds=after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        seconds=time.perf_counter() - began,
        peak_mib=after.ru_maxrss / 1024,
        start_seconds=first - began if first else None,
        returncode=done.returncode,
        tail=(done.stdout + done.stderr)[-2000:],
    )
