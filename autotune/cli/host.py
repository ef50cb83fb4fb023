"""`autotune host`: show, apply, restore and measure the host settings of a campaign by hand."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from autotune.cli.host_measure import command as measure

if TYPE_CHECKING:
    from autotune.store.journal import FileJournal

_STATE = click.option(
    "--state", type=click.Path(path_type=Path), help="State directory; the default is the tool's own."
)


@click.group("host")
def command() -> None:
    """Governor, huge pages and CPUs of this host: show, apply, restore, measure."""


command.add_command(measure)


@command.command("show", short_help="What the host is and what applying would change.")
def show() -> None:
    """Show the host as it is and what applying would change; touches nothing."""
    from autotune.campaign.host.preparation import prepare_host
    from autotune.process.clock import SystemClock
    from autotune.profile.schema import HostSection

    host = prepare_host(HostSection(), {}, SystemClock())
    for fact in (*host.facts, *host.lines()):
        click.echo(f"{fact.name.ljust(20)}{fact.value}")


@command.command("apply", short_help="Apply governor and huge pages and leave them so.")
@_STATE
@click.option("--governor", default="performance", show_default=True, help="CPU frequency governor to set.")
@click.option(
    "--transparent-hugepages",
    default="always",
    show_default=True,
    type=click.Choice(["always", "madvise", "never"]),
    help="Mode of transparent huge pages to set.",
)
@click.option(
    "--always-with-large-pages", is_flag=True, help="Consent to `always` on a kernel with 64 KiB pages."
)
@click.option(
    "--stop-service",
    "stop_services",
    multiple=True,
    metavar="UNIT",
    help="Stop a systemd service that works against this, like irqbalance or tuned; may be repeated.",
)
def apply_settings(
    *,
    state: Path | None,
    governor: str,
    transparent_hugepages: str,
    always_with_large_pages: bool,
    stop_services: tuple[str, ...],
) -> int:
    """Apply governor and huge pages and leave them so; `autotune host restore` puts them back."""
    from autotune.host.host_settings import HostWish, apply
    from autotune.host.setting import SettingOutcome, summary
    from autotune.process.identity import boot_id

    wish = HostWish(
        governor=governor,
        transparent_hugepages=transparent_hugepages,
        always_with_large_pages=always_with_large_pages,
        stop_services=stop_services,
    )
    done = apply(wish, _journal(state), boot_id=boot_id())
    for line in summary(done.results):
        click.echo(line)
    denied = any(result.outcome is SettingOutcome.DENIED for result in done.results)
    return 1 if denied else 0


@command.command("restore")
@_STATE
def restore_settings(state: Path | None) -> None:
    """Put back what `autotune host apply` changed."""
    from autotune.host.host_settings import check_restored, restore
    from autotune.host.setting import summary
    from autotune.model.change import SysfsWritten, UnitStopped
    from autotune.process.identity import boot_id

    journal = _journal(state)
    changes = [change for change in journal.changes if isinstance(change, SysfsWritten | UnitStopped)]
    results = restore(changes, journal, boot_id=boot_id())
    for line in summary(results) or ("nothing to restore",):
        click.echo(line)
    check_restored(results)


def _journal(state: Path | None) -> "FileJournal":
    """The journal of settings applied by hand, apart from that of a campaign."""
    import os
    import time

    from autotune.cli.state import state_of
    from autotune.process.identity import boot_id
    from autotune.store.journal import FileJournal, Unfinished

    directory = state_of(state)
    directory.make(uid=os.geteuid())
    header = Unfinished(run="host apply", pid=os.getpid(), boot_id=boot_id(), started_wall=time.time())
    return FileJournal(directory.root / "host-journal.json", header)
