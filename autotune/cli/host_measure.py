"""`autotune host measure`: what the host settings are worth, measured on this host."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autotune.cli.asking import ask
from autotune.cli.profile_options import overriding, profile_argument

if TYPE_CHECKING:
    from autotune.campaign.host.effect import HostEffect, HostReading
    from autotune.campaign.session import Session

SCHEMA_VERSION = 1


@click.command("measure", short_help="Launch the service with and without them, in alternation.")
@profile_argument()
@click.option(
    "--pairs",
    type=click.IntRange(min=1, max=20),
    default=3,
    show_default=True,
    help="Launches with the settings, and as many without.",
)
@click.option("--rehearse", is_flag=True, help="In virtual time; touches nothing.")
@click.option("--yes", is_flag=True, help="Begin without asking.")
@overriding()
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def command(
    *, profile: Path, pairs: int, rehearse: bool, yes: bool, overrides: tuple[str, ...], as_json: bool
) -> None:
    """Launch the service as it is, with the profile's host settings and without, in alternation.

    Gives the gain in output tokens a second with its bounds. The host is put back after each launch.
    """
    from autotune.campaign.choices import Choices
    from autotune.campaign.host.measure import HostMeasuring
    from autotune.campaign.planning import planned
    from autotune.cli.listeners import PlainLines
    from autotune.profile.reading import read_profile

    listener = PlainLines(sys.stderr)
    with planned(read_profile(profile, list(overrides)), Choices(rehearse=rehearse), listener) as session:
        _show_plan(session, pairs)
        if not (yes or session.campaign.rehearsed):
            ask()
        effect = HostMeasuring(session=session, pairs=pairs, told=_tell_reading).run(listener)
        if as_json:
            click.echo(json.dumps(document(session, effect), indent=2, ensure_ascii=False))
            return
        _tell(session, effect)


def _show_plan(session: "Session", pairs: int) -> None:
    description = session.campaign.description
    settings = ", ".join(f"{name} {value}" for name, value in description.incumbent.as_dict().items())
    lines = [
        ("service", f"{description.kind} {description.version}  {description.place}{_label(session)}"),
        ("found", settings),
        *((line.name, line.value) for line in session.side.host_lines),
        ("load", f"{session.space.concurrency} clients"),
        ("launches", f"{2 * pairs}, with and without the host settings in alternation"),
    ]
    for name, value in lines:
        click.echo(f"  {name.ljust(9)}{value}", err=True)


def _label(session: "Session") -> str:
    if session.campaign.rehearsed:
        return "  REHEARSED, no host is touched: the true gain is 0"
    return "  EMULATED" if session.campaign.description.emulated else ""


def _tell_reading(reading: "HostReading") -> None:
    from autotune.cli.rows import rate
    from autotune.model.measurement import Measurement

    side = "with" if reading.with_settings else "without"
    level = reading.level
    if isinstance(level, Measurement):
        text = f"{rate(level.tokens_per_second, level.half_width)} token/s"
    else:
        text = f"invalid: {level.reason.value} {level.detail}"
    click.echo(f"{reading.number:<4}{side.ljust(10)}{text}", err=True)


def _tell(session: "Session", effect: "HostEffect") -> None:
    from autotune.campaign.host.effect import HostVerdict
    from autotune.cli.rows import rate

    said = {
        HostVerdict.FASTER: "the host settings make it faster",
        HostVerdict.SLOWER: "the host settings make it slower",
        HostVerdict.NO_EFFECT_SHOWN: "no effect shown; more --pairs narrow the bounds",
    }
    gain = effect.gain
    bounds = f"{100 * gain.low:+.1f} to {100 * gain.high:+.1f} %, each bound with 95 %"
    click.echo(f"gain      {100 * gain.gain:+.1f} % ({bounds}): {said[effect.verdict]}{_label(session)}")
    for name, side in (("with", effect.with_settings), ("without", effect.without)):
        click.echo(f"{name.ljust(10)}{rate(side.tokens_per_second, side.half_width)} output token/s")
    for fact in effect.settings:
        click.echo(f"{fact.name}: {fact.value}")


def document(session: "Session", effect: "HostEffect") -> dict[str, object]:
    """The result for programs; fractions are fractions, rates are in the service's own clock."""
    from autotune.model.measurement import Measurement

    return {
        "schema_version": SCHEMA_VERSION,
        "verdict": effect.verdict.value,
        "gain": effect.gain.gain,
        "gain_low": effect.gain.low,
        "gain_high": effect.gain.high,
        "with_settings": {
            "tokens_per_second": effect.with_settings.tokens_per_second,
            "half_width": effect.with_settings.half_width,
        },
        "without": {
            "tokens_per_second": effect.without.tokens_per_second,
            "half_width": effect.without.half_width,
        },
        "launches": [
            {
                "number": reading.number,
                "with_settings": reading.with_settings,
                "tokens_per_second": level.tokens_per_second if isinstance(level, Measurement) else None,
                "half_width": level.half_width if isinstance(level, Measurement) else None,
                "invalid": None if isinstance(level, Measurement) else level.reason.value,
            }
            for reading in effect.readings
            for level in (reading.level,)
        ],
        "settings": {fact.name: fact.value for fact in effect.settings},
        "emulated": session.campaign.description.emulated,
        "rehearsed": session.campaign.rehearsed,
    }
