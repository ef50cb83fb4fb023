"""`autotune estimate`: blocks, bracket and start from the model and the memory; touches nothing."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from autotune.campaign.estimate import Estimate, Lengths

_WIDTH = 18
SCHEMA_VERSION = 1


@click.command("estimate")
@click.argument("profile", required=False, type=click.Path(path_type=Path, dir_okay=False))
@click.option("--model", type=click.Path(path_type=Path), help="Model directory or its config.json.")
@click.option(
    "--tp", type=click.IntRange(min=1), default=1, show_default=True, help="Cards the model is split over."
)
@click.option(
    "--block-size", type=click.IntRange(min=1), default=128, show_default=True, help="Tokens a block."
)
@click.option("--npu-memory", help="Cache memory of one card, like 17GiB (npuMemSize).")
@click.option(
    "--mtp-layers",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="1 when multi-token prediction is on.",
)
@click.option(
    "--blocks", type=click.IntRange(min=1), help="KV blocks as the service reports them (npuBlockNum)."
)
@click.option(
    "--input-tokens", type=click.FloatRange(min=0, min_open=True), help="Mean prompt length.  [186]"
)
@click.option(
    "--output-tokens", type=click.FloatRange(min=0, min_open=True), help="Mean reply length.  [346]"
)
@click.option("--max-output-tokens", type=click.IntRange(min=1), help="Cap on a reply (maxIterTimes).  [512]")
@click.option(
    "--curve", is_flag=True, help="Predict throughput, latency and preemptions over the batch size."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
def command(
    *,
    profile: Path | None,
    model: Path | None,
    tp: int,
    block_size: int,
    npu_memory: str | None,
    mtp_layers: int,
    blocks: int | None,
    input_tokens: float | None,
    output_tokens: float | None,
    max_output_tokens: int | None,
    curve: bool,
    as_json: bool,
) -> None:
    """Compute blocks, bracket and start; every term of the arithmetic is printed.

    Give either --blocks, or --model with --npu-memory; lengths come from PROFILE or from the options.
    """
    from autotune.campaign.estimate import from_blocks, from_model, read_model
    from autotune.errors import UsageError

    lengths = _lengths(profile, input_tokens, output_tokens, max_output_tokens)
    if blocks is not None:
        found = from_blocks(blocks, lengths, block_size=block_size)
    elif model is not None and npu_memory is not None:
        found = from_model(
            memory_bytes=_memory(npu_memory),
            model=read_model(model),
            tensor_parallel=tp,
            lengths=lengths,
            block_size=block_size,
            mtp_layers=mtp_layers,
        )
    else:
        raise UsageError(
            "nothing to compute from", hint="--blocks N, or --model DIR --tp N --npu-memory 17GiB"
        )
    points = _curve(found, lengths) if curve else []
    if as_json:
        click.echo(json.dumps(_document(found) | ({"curve": points} if curve else {}), indent=2))
    else:
        _print(found, points)


def _lengths(
    profile: Path | None,
    input_tokens: float | None,
    output_tokens: float | None,
    max_output_tokens: int | None,
) -> "Lengths":
    from autotune.campaign.estimate import Lengths

    mean_in, mean_out, cap = 186.0, 346.0, 512
    if profile is not None:
        from autotune.campaign.lengths import lengths_of
        from autotune.profile.reading import read_profile

        known = lengths_of(read_profile(profile).profile.workload)
        mean_in, mean_out, cap = known.input_tokens, known.output_tokens, known.max_output_tokens
    cap = max_output_tokens or cap
    return Lengths(
        input_tokens=input_tokens or mean_in,
        output_tokens=output_tokens or min(mean_out, cap),
        max_output_tokens=cap,
    )


def _memory(text: str) -> int:
    from autotune.errors import UsageError
    from autotune.profile.quantities import bytes_of

    try:
        return bytes_of(text)
    except ValueError as error:
        raise UsageError(f"--npu-memory: {error}", hint="--npu-memory 17GiB") from error


def _curve(found: "Estimate", lengths: "Lengths") -> list[dict[str, float]]:
    from autotune.campaign.curve import predicted_curve

    return [
        {
            "max_batch_size": point.settings.max_batch_size,
            "tokens_per_second": point.tokens_per_second,
            "running_mean": point.running_mean,
            "ttft_ms": point.ttft_ms,
            "tpot_ms": point.tpot_ms,
            "preemptions_per_request": point.preemptions_per_request,
        }
        for point in predicted_curve(found.bracket, lengths)
    ]


def _document(found: "Estimate") -> dict[str, object]:
    return {
        "schema_version": SCHEMA_VERSION,
        "block_bytes": found.block_bytes,
        "blocks": found.bracket.blocks,
        "min_blocks": found.request.min_blocks,
        "mean_blocks": found.request.mean_blocks,
        "max_blocks": found.request.max_blocks,
        "low": found.bracket.low,
        "start": found.bracket.start,
        "high": found.bracket.high,
        "start_prefill": found.bracket.start_prefill,
        "terms": [{"name": term.name, "value": term.value, "formula": term.formula} for term in found.terms],
        "remarks": list(found.remarks),
    }


def _print(found: "Estimate", points: list[dict[str, float]]) -> None:
    bracket = found.bracket
    click.echo(
        f"maxBatchSize {bracket.low} to {bracket.high}, start at {bracket.start} "
        f"with maxPrefillBatchSize {bracket.start_prefill}, from {bracket.blocks} blocks"
    )
    for term in found.terms:
        click.echo(f"  {term}")
    for remark in found.remarks:
        click.echo(f"note: {remark}")
    if points:
        click.echo("predicted by the simulator with the llama3-8b step costs, not measured:")
        click.echo("  " + "  ".join(name.rjust(_WIDTH) for name in points[0]))
    for point in points:
        cells = (_cell(value).rjust(max(_WIDTH, len(name))) for name, value in point.items())
        click.echo("  " + "  ".join(cells))


def _cell(value: float) -> str:
    """Whole numbers as they are; small rates with two decimals, since a few preemptions matter."""
    if isinstance(value, int):
        return str(value)
    return f"{value:.2f}" if value < 1 else f"{value:.1f}"
