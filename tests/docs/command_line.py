"""Command line: docs/command-line.md, from the --help texts themselves."""

import click
from click.testing import CliRunner

from autotune.cli.main import COMMANDS, group

WIDTH = 100
HEAD = """\
# Command line
Made from the `--help` texts by `make docs`; a test holds it against them. Exit codes and what to do:
[troubleshooting.md](troubleshooting.md).
"""


def page() -> str:
    """One section a command, subcommands below their group."""
    sections = [HEAD, _section("autotune", [])]
    for name in COMMANDS:
        sections.append(_section(f"autotune {name}", [name]))
        command = group.get_command(click.Context(group), name)
        if isinstance(command, click.Group):
            sections += [_section(f"autotune {name} {each}", [name, each]) for each in command.commands]
    return "\n".join(sections)


def _section(title: str, words: list[str]) -> str:
    settings = {"terminal_width": WIDTH, "max_content_width": WIDTH}
    shown = CliRunner().invoke(group, [*words, "--help"], prog_name="autotune", **settings)
    assert shown.exit_code == 0, shown.output
    text = "\n".join(line.rstrip() for line in shown.output.splitlines())
    return f"## `{title}`\n```text\n{text}\n```\n"
