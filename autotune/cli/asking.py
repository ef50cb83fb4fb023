"""Asking: the one question before anything is touched."""

import sys

import click

from autotune.errors import Interrupted, UsageError


def ask() -> None:
    """Go on only after a yes. Raises UsageError where nobody can be asked, Interrupted on anything else."""
    if not sys.stdin.isatty():
        raise UsageError("nobody can be asked here, and nothing was begun", hint="add --yes")
    try:
        begin = click.confirm("Nothing was touched so far. Begin?", err=True)
    except click.Abort:
        click.echo(err=True)
        begin = False
    if not begin:
        raise Interrupted("not begun; nothing was touched")
