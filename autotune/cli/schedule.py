"""`autotune schedule`: a systemd service and timer for the nightly job."""

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autotune.cli.profile_options import profile_argument

if TYPE_CHECKING:
    from autotune.campaign.nightly.units import Units


@click.command("schedule")
@profile_argument()
@click.option("--print", "print_it", is_flag=True, help="Print both units and the line for a crontab.")
@click.option("--install", "install_it", is_flag=True, help="Write the units and enable the timer.")
@click.option("--container", help="The host's timer runs the job in this container, by `docker exec`.")
def command(profile: Path, *, print_it: bool, install_it: bool, container: str | None) -> None:
    """Run `autotune nightly PROFILE` every night when the profile's window opens.

    With --container the profile is read here for its window, and again inside the container, under the same
    path; the tool must be installed there as `autotune`.
    """
    from autotune.campaign.nightly.scheduling import check_container, install, places_of
    from autotune.campaign.nightly.units import container_units, units
    from autotune.campaign.recover_unit import own_command
    from autotune.errors import UsageError
    from autotune.profile.reading import read_profile
    from autotune.store.state import locate

    if print_it == install_it:
        raise UsageError("say one of --print and --install", hint=f"autotune schedule {profile} --print")
    loaded = read_profile(profile, [])
    argv = own_command(sys.executable) if container is None else ("autotune",)
    places = places_of(loaded.profile, profile, argv, Path.home())
    if container is None:
        made = units(loaded.profile, places)
    else:
        docker = shutil.which("docker") or "/usr/bin/docker"
        made = container_units(loaded.profile, places, docker=docker, container=check_container(container))
    if print_it:
        _print(made)
        return
    state = locate(loaded.profile.store.state, environment=os.environ, uid=os.geteuid())
    state.make(uid=os.geteuid())
    for line in install(made, dict(os.environ), state.root):
        click.echo(line)


def _print(made: "Units") -> None:
    for ending, text in (("service", made.service), ("timer", made.timer)):
        click.echo(f"# {made.name}.{ending}")
        click.echo(text)
    click.echo("# or, for a crontab")
    click.echo(f"# {made.crontab}")
