"""`autotune load`: one load test against any running service."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from autotune.load.options import LoadOptions

_APIS = ("openai-chat", "openai", "tgi", "triton", "triton-tokens", "vllm", "mindie-infer")
_DATASETS = (
    *("gsm8k", "humaneval", "boolq", "mtbench", "truthfulqa", "ceval", "mmlu", "oasst1", "sharegpt"),
    *("token_ids", "jsonl", "synthetic"),
)


@click.command(name="load", short_help="Run one load test against a running service.")
@click.option("--url", required=True, help="Scheme, host, port and, if need be, a path.")
@click.option("--api", type=click.Choice(_APIS), required=True, help="How the service is spoken to.")
@click.option("--model", required=True, help="The model's name as the service knows it.")
@click.option("--concurrency", type=click.IntRange(min=1), help="Closed loop: this many clients.")
@click.option("--rate", type=click.FloatRange(min=0, min_open=True), help="Open loop: requests a second.")
@click.option("--constant", is_flag=True, help="Open loop at equal distances instead of Poisson arrivals.")
@click.option("--requests", type=click.IntRange(min=1), help="Send this many and wait for all replies.")
@click.option("--duration", metavar="60s", help="End after this time.")
@click.option("--half-width", metavar="1%", help="End when the 95 % interval is this narrow (default 1%).")
@click.option("--cap", metavar="10m", default="10m", show_default=True, help="Longest time for --half-width.")
@click.option("--dataset", type=click.Path(path_type=Path), help="File or directory of the data set.")
@click.option("--dataset-type", type=click.Choice(_DATASETS), help="What kind of data set it is.")
@click.option("--input-tokens", type=click.IntRange(min=1), help="Synthetic prompts of this length.")
@click.option("--output-tokens", type=click.IntRange(min=1), help="Ask for this many tokens.")
@click.option(
    "--max-output-tokens", type=click.IntRange(min=1), default=512, show_default=True, help="Cap on a reply."
)
@click.option("--ignore-eos", is_flag=True, help="Generate the full length asked for.")
@click.option("--temperature", type=click.FloatRange(min=0), help="Of sampling; unset is the service's own.")
@click.option(
    "--top-p", type=click.FloatRange(min=0, max=1, min_open=True), help="Share of nucleus sampling."
)
@click.option("--top-k", type=int, help="Tokens that sampling chooses from.")
@click.option("--seed", type=int, default=1, show_default=True, help="Order, lengths and arrivals.")
@click.option("--shuffle", is_flag=True, help="Send the data set in an order by seed.")
@click.option("--no-stream", is_flag=True, help="Ask for replies in one piece.")
@click.option(
    "--tokens-per-event", type=click.FloatRange(min=1), default=1.0, help="Where no reply tells its tokens."
)
@click.option("--ramp", metavar="10s", help="Start the clients over this time.")
@click.option("--workers", type=click.IntRange(min=1), default=1, show_default=True, help="Client processes.")
@click.option("--cpus", metavar="0-3,8", help="Keep the client on these CPUs.")
@click.option("--ca", type=click.Path(path_type=Path), help="PEM file of the authority to trust.")
@click.option("--cert", type=click.Path(path_type=Path), help="PEM file of the client certificate.")
@click.option("--key", type=click.Path(path_type=Path), help="PEM file of its key.")
@click.option("--header", "headers", multiple=True, metavar="K=V", help="V may be env:NAME or file:PATH.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(*, as_json: bool, **values: Any) -> None:
    """Run one load test against a running service and print what it generates in a steady state.

    Proxies of the environment are ignored. Without --dataset, synthetic prompts of 186 tokens are sent.
    """
    gc.disable()  # collections while modules are loaded would delay the first request
    from autotune.errors import NotMeasurable
    from autotune.load.run import run

    options = _options(values)
    outcome = run(
        options, notice=lambda text: click.echo(text, err=True), progress=_progress(as_json=as_json)
    )
    if as_json or outcome.began:
        click.echo(outcome.json if as_json else outcome.text)
    if outcome.why_invalid is not None:
        raise NotMeasurable(f"not a valid measurement: {outcome.why_invalid}", hint=outcome.hint)


def _options(values: dict[str, Any]) -> LoadOptions:
    from autotune.load.options import LoadOptions

    values["headers"] = tuple(values["headers"])
    return LoadOptions(**values)


def _progress(*, as_json: bool) -> Any:
    """A line that is written over, on a terminal only."""
    if as_json or not sys.stderr.isatty():
        return None

    def show(line: str) -> None:
        click.echo(f"\r\033[K{line}", nl=False, err=True)

    return show
