"""`autotune emulate`: make a MindIE-shaped install whose daemon is the bundled stand-in."""

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
@click.option("--seed", default=1, show_default=True, type=int)
@click.option("--release", default="3.0", show_default=True, help="Release of MindIE whose behaviour it has.")
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
) -> None:
    """Make an install of the emulated daemon: bin/mindieservice_daemon, conf/config.json, set_env.sh."""
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
    )
    made = make_install(directory, options)
    click.echo(f"{made}: emulated MindIE, {model}, {blocks} blocks, {time_scale:g} times faster than real")
