"""The command `autotune`: finds the command's module, runs it, and is the one error boundary."""

import errno
import os
import sys
from contextlib import suppress
from importlib import import_module

import click

from autotune import __version__
from autotune.errors import AutotuneError, Interrupted, NotRestored
from autotune.process.swallowed import told_again

COMMANDS = {
    "tune": "Find the best batch size, prove it and write a report.",
    "estimate": "Blocks, bracket and start from the model and the memory; touches nothing.",
    "doctor": "Check everything that a campaign needs, each with the command that mends it.",
    "load": "Load a service and measure its tokens a second.",
    "host": "Governor, huge pages and CPUs of this host: show, apply, restore, measure.",
    "emulate": "Make an install whose daemon is the bundled stand-in.",
    "apply": "Write the winner of a run into the service's configuration.",
    "rollback": "Put back what was there before the last winner was applied.",
    "recover": "Put back what a crashed run has left changed.",
    "report": "Write the report of a stored run again.",
    "nightly": "Prove in a few launches that the setting still holds; change it only on proof.",
    "schedule": "A systemd service and timer, or a crontab line, for the nightly job.",
    "agent": "Work with other hosts on one study in PostgreSQL.",
    "history": "List the stored runs.",
}
"""Command -> its line in `--help`; the module is autotune.cli.<command>, loaded only when it runs."""
_LONGEST = 4000
_MENDS = {
    errno.ENOSPC: "free some space",
    errno.EDQUOT: "free some space",
    errno.EROFS: "choose a place that is not read-only",
    errno.EACCES: "mend the rights",
    errno.EPERM: "mend the rights",
    errno.EPIPE: "keep the reader of the output open",
}
_LOOK = "autotune recover tells whether anything is left changed"


class LazyGroup(click.Group):
    """Lists every command from the table above, and imports only the one that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All commands in the order of the table."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of one command."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"autotune.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Name the nearest command when one is mistyped."""
        from difflib import get_close_matches

        near = get_close_matches(args[0], COMMANDS, n=1) if args else []
        if near and args[0] not in COMMANDS and not args[0].startswith("-"):
            raise click.UsageError(f"No such command {args[0]!r}: did you mean {near[0]}?", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="autotune")
def group() -> None:
    """Find the batch size with the highest sustained throughput of MindIE or vLLM on Ascend, and prove it."""


def main() -> None:
    """Run the command line and exit with its code (see the exit codes in the README)."""
    with told_again():
        sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command; every expected error becomes one clear text on stderr and an exit code."""
    try:
        code = group.main(args=arguments, prog_name="autotune", standalone_mode=False)
    except AutotuneError as error:
        return _tell(error)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help(), err=True)
        return 2
    except click.ClickException as error:
        error.show(file=sys.stderr)
        return 2
    except (click.Abort, KeyboardInterrupt):
        return _tell(
            Interrupted("interrupted", hint="autotune recover tells whether anything is left changed")
        )
    except OSError as error:
        return _tell(_of_system(error))
    return code if isinstance(code, int) else 0


def _tell(error: AutotuneError) -> int:
    with suppress(OSError):  # a terminal or pipe that is gone: the exit code still tells
        _write(error)
    return error.exit_code


def _of_system(error: OSError) -> AutotuneError:
    """A full disk, missing rights, a pipe whose reader has gone."""
    where = f"{error.filename}: " if error.filename else ""
    hint = f"{_MENDS.get(error.errno or 0, 'mend the path or its rights')}; {_LOOK}"
    return AutotuneError(f"{where}{error.strerror or error}", hint=hint)


def _write(error: AutotuneError) -> None:
    from autotune.report.safe_text import clean

    label = "NOT RESTORED" if isinstance(error, NotRestored) else "error"
    shown = label if os.environ.get("NO_COLOR") else click.style(label, fg="red", bold=True)
    click.echo(f"{shown}: {clean(error.message, _LONGEST)}", err=True)
    if error.hint:
        click.echo(f"next:  {clean(error.hint, _LONGEST)}", err=True)
