"""Script: a shell script that starts one server; values are spliced into its text, every other byte stays."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, final

from autotune.engines.vllm.entry import Entry, find_entry
from autotune.engines.vllm.flags import Flag, find, flag_name
from autotune.engines.vllm.script_faults import line_of, refuse_count, refuse_unusable
from autotune.engines.vllm.shell_expansion import Field
from autotune.engines.vllm.shell_scope import ASSIGNMENT, FUNCTION, Scope, walk
from autotune.engines.vllm.shell_words import ShellCommand, ShellWord, shell_commands
from autotune.errors import Refused

_PLAIN: Final = re.compile(r"[A-Za-z0-9_./:=,@%+-]+")
_PROTECTED: Final = re.compile(r"[\"'\\]")
_SPEAK_ONLY: Final = frozenset(
    {"echo", "printf", "logger", "pkill", "pgrep", "grep", "which", "type", "man", "ps", "killall", "alias"}
)
"""Commands that only name a server."""
_GATHERS: Final = re.compile(r"ARG|OPT|FLAG|PARAM|EXTRA", re.IGNORECASE)
_LIST: Final = re.compile(r"\$(?:\w+|\{\w+(?:\[[@*]\])?(?::?-[^}]*)?\}|[@*])")


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Script:
    """The text of a script that runs one server."""

    text: str
    command: ShellCommand
    """The one that starts the server."""
    fields: tuple[Field, ...]
    """Its words with the script's variables put in."""
    entry: Entry
    """Within `fields`."""
    assignments: Mapping[str, str]
    """Variables that the script sets, each with its last value."""
    known: Mapping[str, str]
    """The environment, for expansions."""

    @property
    def words(self) -> tuple[str, ...]:
        """The words that start the server; what nobody can tell before it runs stays as it is written."""
        return tuple(field.text for field in self.fields)

    @property
    def arguments(self) -> tuple[str, ...]:
        """What the server gets."""
        return self.words[self.entry.arguments :]

    def with_flags(self, values: Mapping[Flag, str]) -> "Script":
        """The same with these flags set in the text; every other byte stays as it is.

        A flag that comes out of a variable is outranked by one behind it, since the last one counts.
        Raises Refused for a flag without its value.
        """
        script = self
        for flag, value in values.items():
            script = script._with_flag(flag, value)
        return script

    def with_assignment(self, name: str, value: str) -> "Script":
        """The same with the last assignment of a variable changed, where the script has one."""
        for command in reversed(shell_commands(self.text)):
            for word in reversed(command.words):
                match = ASSIGNMENT.fullmatch(word.text)
                if match and match[1] == name:
                    return self._with_value(word, value)
        return self

    def lines(self) -> tuple[str, ...]:
        """The script for a diff."""
        return tuple(self.text.splitlines())

    def where(self, flag: Flag | None = None) -> str:
        """The line of a flag, or of the server's command, as messages begin with it."""
        place = None if flag is None else find(self.arguments, flag)
        field = self.fields[0 if place is None else self.entry.arguments + place.index]
        return f"line {line_of(self.text, field.word.start)}: "

    def hidden(self) -> str:
        """The first list of arguments that the script does not tell, with its line; empty: none."""
        for index, field in enumerate(self.fields):
            if index < self.entry.arguments or field.known or not _LIST.fullmatch(field.text):
                continue
            first = index == self.entry.arguments and self.entry.takes_model
            before = self.words[index - 1]
            a_value = flag_name(before) is not None and "=" not in before
            if not (first or a_value) or _GATHERS.search(field.text):
                return f"line {line_of(self.text, field.word.start)}: {field.text}"
        return ""

    def _with_flag(self, flag: Flag, value: str) -> "Script":
        fields = self.fields[self.entry.arguments :]
        place = find([field.text for field in fields], flag)
        if place is None or not fields[place.index].alone:
            return self._with_added(flag, value)
        if place.joined:
            return self._with_value(fields[place.index].word, value)
        if place.value_index == len(fields):
            raise Refused(
                f"{self.where(flag)}--{flag.value} has no value in the script", hint="write one behind it"
            )
        field = fields[place.value_index]
        if not field.alone:
            return self._with_added(flag, value)
        return self._spliced(field.word.start, field.word.end, _quoted(value))

    def _with_added(self, flag: Flag, value: str) -> "Script":
        end = self.command.words[-1].end
        return self._spliced(end, end, f" --{flag.value}={_quoted(value)}")

    def _with_value(self, word: ShellWord, value: str) -> "Script":
        """Replace what stands behind the = of a word; the whole word where quotes stand before it."""
        equals = self.text.find("=", word.start, word.end)
        if equals < 0 or _PROTECTED.search(self.text, word.start, equals):
            name = word.text.partition("=")[0]
            return self._spliced(word.start, word.end, f"{name}={_quoted(value)}")
        return self._spliced(equals + 1, word.end, _quoted(value))

    def _spliced(self, start: int, end: int, new: str) -> "Script":
        return read_script(f"{self.text[:start]}{new}{self.text[end:]}", self.known)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Server:
    """A command that starts one, with its variables put in."""

    command: ShellCommand
    fields: tuple[Field, ...]
    entry: Entry
    blocks: tuple[str, ...]
    """Those that are open around it."""


def read_script(text: str, known: Mapping[str, str]) -> Script:
    """Read a script. Raises Refused, with the line, unless exactly one command in it starts a server."""
    scope = Scope(values={})
    commands: list[ShellCommand] = []
    found: list[_Server | None] = []
    inside: list[tuple[ShellCommand, tuple[str, ...]]] = []
    for command, scope in walk(text, known):
        commands.append(command)
        if FUNCTION in scope.blocks:
            inside.append((command, tuple(scope.blocks)))
        else:
            found.append(_server_of(command, scope, tuple(scope.blocks)))
    called = replace(
        scope, blocks=[FUNCTION]
    )  # a function runs where it is called, with all that is set by then
    found.extend(_server_of(command, called, blocks) for command, blocks in inside)
    servers = [server for server in found if server is not None]
    if len(servers) != 1:
        refuse_count(text, commands, [server.command for server in servers])
    (server,) = servers
    refuse_unusable(text, commands, server.command, server.blocks)
    return Script(
        text=text,
        command=server.command,
        fields=server.fields,
        entry=server.entry,
        assignments=_assigned(commands, scope),
        known=known,
    )


def _server_of(command: ShellCommand, scope: Scope, blocks: tuple[str, ...]) -> _Server | None:
    if command.array is not None or command.words[0].text in _SPEAK_ONLY:
        return None
    fields = tuple(field for word in command.words for field in scope.fields(word))
    entry = find_entry([field.text for field in fields])
    return None if entry is None else _Server(command=command, fields=fields, entry=entry, blocks=blocks)


def _assigned(commands: list[ShellCommand], scope: Scope) -> Mapping[str, str]:
    names = {
        match[1]
        for command in commands
        for text in command.texts
        if (match := ASSIGNMENT.fullmatch(text)) and flag_name(text) is None
    }
    values = {name: scope.values[name] for name in names if name in scope.values}
    return {name: " ".join(value.texts) for name, value in values.items()}


def _quoted(value: str) -> str:
    return value if _PLAIN.fullmatch(value) else shlex.quote(value)
