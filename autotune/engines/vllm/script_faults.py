"""Script faults: why a script can't be tuned, with its line and what mends it."""

import re
from collections.abc import Sequence
from typing import Final, NoReturn

from autotune.engines.vllm.flags import flag_name
from autotune.engines.vllm.shell_scope import LOOPS
from autotune.engines.vllm.shell_words import ShellCommand
from autotune.errors import Refused

NO_SERVER: Final = (
    "give `vllm serve MODEL ...`, or `python -m vllm.entrypoints.openai.api_server --model MODEL ...`"
)
_NAMED: Final = re.compile(r"vllm\s+serve\b|vllm\.entrypoints\.(?:openai\.)?api_server")
_ELSEWHERE: Final = {
    "docker": "in a container",
    "podman": "in a container",
    "nerdctl": "in a container",
    "kubectl": "in a container",
    "ssh": "on another host",
    "srun": "on another host",
    "tmux": "in a session of its own",
    "screen": "in a session of its own",
    "systemd-run": "in a unit of its own",
}
"""Programs that start the server where it is no descendant of ours, so that it could not be ended."""


def line_of(text: str, place: int) -> int:
    """The line of a place in a text, from 1."""
    return text.count("\n", 0, place) + 1


def started_elsewhere(words: Sequence[str]) -> str:
    """Where words start a server that is no descendant of the process that they start; empty: they don't."""
    names = (word.rpartition("/")[2] for word in words)
    return next((_ELSEWHERE[name] for name in names if name in _ELSEWHERE), "")


def refuse_count(text: str, commands: Sequence[ShellCommand], found: Sequence[ShellCommand]) -> NoReturn:
    """Raise Refused for a script in which no command, or more than one, starts a server."""
    if found:
        lines = " and ".join(str(line_of(text, command.words[0].start)) for command in found)
        raise Refused(
            f"{len(found)} commands of the script start a vLLM server, in lines {lines}; it must be one",
            hint="give the script with one of them, or that command as engine.command",
        )
    named = next((n for n, line in enumerate(text.split("\n"), 1) if _names_a_server(line)), None)
    if named is not None:
        raise Refused(
            f"line {named}: a vLLM server is named in a string or a here-document, where no flag can be set; "
            "no command of the script starts one, and it must be one",
            hint="write the command out in the script, or give it as engine.command",
        )
    sourced = next((each for each in commands if each.texts[:1] in {("source",), (".",)}), None)
    hint = NO_SERVER
    if sourced is not None:
        line = line_of(text, sourced.words[0].start)
        hint = f"{hint}; if the file of line {line} ({' '.join(sourced.texts)}) does, give that one"
    raise Refused("no command of the script starts a vLLM server; it must be one", hint=hint)


def refuse_unusable(
    text: str, commands: Sequence[ShellCommand], command: ShellCommand, blocks: Sequence[str]
) -> None:
    """Raise Refused where the one command that starts the server is cut off, repeated, or not ours to end."""
    if any(word.left_open for word in command.words):
        raise Refused("the script ends inside a quote or a bracket", hint="close it: no shell would run this")
    line = line_of(text, command.words[0].start)
    loop = next((block for block in blocks if block in LOOPS), None)
    if loop is not None:
        raise Refused(
            f"line {line}: the server is started in a loop ({loop}), so that it would come back when it ends",
            hint="start it once in the script; what runs the script may start it again",
        )
    where = started_elsewhere(command.texts)
    if where:
        raise Refused(
            f"line {line}: {command.texts[0]} starts the server {where}",
            hint="run this tool there, with the command that starts the server itself",
        )
    _refuse_cut(text, commands, command)


def _refuse_cut(text: str, commands: Sequence[ShellCommand], command: ShellCommand) -> None:
    """A comment, or a blank behind a backslash, ends a command; the flags below it reach nobody."""
    last = command.words[-1]
    if not last.text.strip() and text[last.start : last.end].startswith("\\"):
        raise Refused(
            f"line {line_of(text, last.start)}: a blank stands behind the backslash, which ends the command",
            hint="remove the blank",
        )
    following = commands[commands.index(command) + 1 :][:1]
    for after in following:
        if after.array is None and flag_name(after.texts[0]) is not None:
            raise Refused(
                f"line {line_of(text, after.words[0].start)}: {after.texts[0]} is no part of the command "
                "above, which a comment or a missing backslash ends",
                hint="put the comment above the whole command, and a backslash at the end of each line",
            )


def _names_a_server(line: str) -> bool:
    return not line.lstrip().startswith("#") and _NAMED.search(line) is not None
