"""`autotune emulate`: make a MindIE-shaped install whose daemon is the bundled stand-in."""

import json
from pathlib import Path

import click


@click.command("emulate")
@click.option(
    "--install", "directory", type=click.Path(path_type=Path), required=True, help="Where to make it."
)
@click.option("--model", default="llama3-8b", show_default=True, help="Preset of the emulated model.")
@click.option(
    "--blocks", default=2176, show_default=True, type=click.IntRange(min=1), help="KV-cache blocks."
)
@click.option(
    "--max-batch-size",
    default=200,
    show_default=True,
    type=click.IntRange(min=1),
    help="maxBatchSize that its config.json starts with.",
)
@click.option(
    "--time-scale",
    default=1.0,
    show_default=True,
    type=click.FloatRange(min=0.01),
    help="How many times faster than real it runs.",
)
@click.option(
    "--port",
    default=1025,
    show_default=True,
    type=click.IntRange(0, 65533),
    help="Business port; management and metrics take the next two. 0 takes free ones.",
)
@click.option(
    "--noise",
    default=0.01,
    show_default=True,
    type=click.FloatRange(0, 1),
    help="Relative noise of step times.",
)
@click.option("--seed", default=1, show_default=True, type=int, help="Of its noise and reply lengths.")
@click.option("--release", default="3.0", show_default=True, help="Release of MindIE whose behaviour it has.")
@click.option(
    "--fault",
    "faults",
    multiple=True,
    metavar="NAME=VALUE",
    help="What goes wrong, like out_of_memory_at=600 or error_rate=0.01; may be repeated. "
    "While it runs: edit `faults` in the install's file EMULATED.",
)
@click.option(
    "--trace",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File for every call of its scheduler, one JSON line each.",
)
def command(
    *,
    directory: Path,
    model: str,
    blocks: int,
    max_batch_size: int,
    time_scale: float,
    port: int,
    noise: float,
    seed: int,
    release: str,
    faults: tuple[str, ...],
    trace: Path | None,
) -> None:
    """Make an install of the emulated daemon: bin/mindieservice_daemon, conf/config.json, set_env.sh."""
    from autotune.emulator.faults import read_faults
    from autotune.emulator.install import InstallOptions, make_install
    from autotune.process.ports import choose_free

    business, management, metrics = (port, port + 1, port + 2) if port else choose_free(3)
    options = InstallOptions(
        model=model,
        blocks=blocks,
        max_batch_size=max_batch_size,
        time_scale=time_scale,
        port=business,
        management_port=management,
        metrics_port=metrics,
        version=release,
        noise=noise,
        seed=seed,
        faults=read_faults(dict(_named(fault) for fault in faults)),
        trace=str(trace.absolute()) if trace else "",
    )
    made = make_install(directory, options)
    faster = "" if time_scale == 1 else f", {time_scale:g} times faster than real"
    click.echo(f"{made}: emulated MindIE, {model}, {blocks} blocks{faster}")


def _named(fault: str) -> tuple[str, object]:
    """The name and the value, which is JSON or else a word."""
    name, _, text = fault.partition("=")
    try:
        return name, json.loads(text)
    except ValueError:
        return name, text
