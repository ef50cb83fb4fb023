"""`autotune agent`: work with other hosts on one study in PostgreSQL."""

import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autotune.cli.profile_options import overriding, profile_argument

if TYPE_CHECKING:
    from autotune.campaign.fleet.agent import FleetEnding
    from autotune.campaign.session import Session


@click.command("agent")
@profile_argument()
@click.option("--study", required=True, help="Name of the study that the hosts share.")
@click.option(
    "--host", default=socket.gethostname, show_default="this host's name", help="Name in the study."
)
@click.option("--lease", default="2m", show_default=True, help="Silence after which a launch is given back.")
@overriding()
def command(*, profile: Path, study: str, host: str, lease: str, overrides: tuple[str, ...]) -> int:
    """Claim launches of a shared study, one at a time, until it has its verdict.

    Start it on each of several identical hosts with the same profile, whose store.url is a PostgreSQL
    database. A host may come later, leave, or die.
    """
    import sys
    from dataclasses import replace

    from autotune.campaign.choices import Choices
    from autotune.campaign.fleet.agent import FleetAgent, agent_url
    from autotune.campaign.planning import planned, store_url
    from autotune.cli.listeners import PlainLines
    from autotune.errors import UsageError
    from autotune.process.clock import SystemClock
    from autotune.process.identity import boot_id
    from autotune.profile.quantities import seconds_of
    from autotune.profile.reading import read_profile
    from autotune.store.lease import Agent
    from autotune.store.shared_study import SharedStudy

    try:
        seconds = seconds_of(lease)
    except ValueError as error:
        raise UsageError(f"--lease: {error}", hint="--lease 2m") from error
    loaded = read_profile(profile, list(overrides))
    listener = PlainLines(sys.stderr)
    with planned(loaded, Choices(), listener) as plan:
        url = agent_url(store_url(plan.profile, plan.state))
        session = replace(plan, campaign=replace(plan.campaign, run=study))
        us = Agent(host=host, pid=os.getpid(), boot_id=boot_id())
        shared = SharedStudy(url, study, us, seconds=seconds)
        try:
            agent = FleetAgent(session, shared, us, SystemClock(), lease_seconds=seconds)
            done = agent.run(listener)
        finally:
            shared.close()
        return _tell(session, done)


def _tell(session: "Session", done: "FleetEnding") -> int:
    """The answer on every host; the report once, where the verdict was found."""
    from autotune.report.answer import answer
    from autotune.report.files import write_report
    from autotune.report.texts.languages import language

    words = language(session.profile.report.language)
    campaign = done.ending.campaign
    click.echo(answer(campaign, words).sentence)
    for difference in done.differences:
        click.echo(f"  host {difference.host}  {difference}")
    if done.ours:
        directory = session.profile.report.directory / campaign.run
        click.echo(f"report  {write_report(campaign, directory, language=words.code).html}")
    else:
        click.echo("report  written by the host that found the verdict")
    return done.ending.exit_code
