"""`autotune recover`: put back what a crashed run has left changed, now or when the host boots."""

import os
import sys
from pathlib import Path

import click


@click.command("recover")
@click.option(
    "--state", type=click.Path(path_type=Path), help="State directory; the default is the tool's own."
)
@click.option(
    "--accept-edits", is_flag=True, help="A file that somebody edited since the crash stays as it is now."
)
@click.option(
    "--boot", "at_boot", is_flag=True, help="For the boot-time unit: production's unit is only queued."
)
@click.option("--print-unit", is_flag=True, help="Print a systemd unit that recovers when the host boots.")
@click.option("--install-unit", is_flag=True, help="Write that unit to /etc/systemd/system and enable it.")
@click.option(
    "--before", multiple=True, metavar="UNIT", help="Production's unit, which waits for it; may be repeated."
)
def command(
    *,
    state: Path | None,
    accept_edits: bool,
    at_boot: bool,
    print_unit: bool,
    install_unit: bool,
    before: tuple[str, ...],
) -> None:
    """Put back what a crashed run has left changed: its service, its config.json, its host settings."""
    from autotune.campaign.recover import RecoverOptions, recover
    from autotune.cli.state import state_of

    if print_unit or install_unit:
        _unit(state, before, install_it=install_unit)
        return
    options = RecoverOptions(accept_edits=accept_edits, at_boot=at_boot)
    place = state_of(state)
    for line in recover(place, options):
        click.echo(line)
    if state is not None and not place.root.exists():
        click.echo(f"note: there is no state directory {place.root}; is its name right?")


def _unit(given: Path | None, before: tuple[str, ...], *, install_it: bool) -> None:
    from autotune.campaign.recover_unit import UNIT_NAME, install, own_command, unit_text
    from autotune.cli.state import state_of

    state = state_of(given)
    text = unit_text(state, before=before, argv=own_command(sys.executable), places=())
    if not install_it:
        click.echo(text, nl=False)
        return
    state.make(uid=os.geteuid())
    path = install(text, dict(os.environ), state.root)
    click.echo(f"{path}: written and enabled")
    click.echo(f"systemctl disable {UNIT_NAME} takes it back")
