"""Serving: what starts the server, a command, a script or a deployment file; values are spliced into it."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, final

from autotune.engines.vllm.entry import Entry, find_entry
from autotune.engines.vllm.flags import Flag, find, flag_name
from autotune.engines.vllm.motor_config import MotorConfig, is_motor_config, read_motor_config
from autotune.engines.vllm.shell_words import ShellCommand, ShellWord, shell_commands
from autotune.errors import Refused

GEAR_LIST: Final = "PTA_TORCHAIR_DECODE_GEAR_LIST"
"""Batch sizes that graph mode compiles for; the largest is made equal to --max-num-seqs."""
_PLAIN: Final = re.compile(r"[A-Za-z0-9_./:=,@%+-]+")
_EXPANSION: Final = re.compile(r"\$(?:\{(\w+)(?::?-([^}]*))?\}|(\w+))")
_ASSIGNMENT: Final = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_NO_SERVER: Final = (
    "give `vllm serve MODEL ...`, or `python -m vllm.entrypoints.openai.api_server --model MODEL ...`"
)


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class CommandLine:
    """A command as a list of words; no shell reads it."""

    words: tuple[str, ...]
    entry: Entry

    @property
    def arguments(self) -> tuple[str, ...]:
        """What the server gets."""
        return self.words[self.entry.arguments :]

    @property
    def assignments(self) -> Mapping[str, str]:
        """A command sets no variables."""
        return {}

    def with_flags(self, values: Mapping[Flag, str]) -> "CommandLine":
        """The same with these flags set; every other word stays as it is.

        Raises Refused for a flag that stands at the end without its value.
        """
        words = list(self.words)
        for flag, value in values.items():
            place = find(words[self.entry.arguments :], flag)
            if place is None:
                words.append(f"--{flag.value}={value}")
            elif place.joined:
                at = self.entry.arguments + place.index
                words[at] = f"{words[at].partition('=')[0]}={value}"
            elif self.entry.arguments + place.value_index == len(words):
                raise Refused(f"--{flag.value} has no value in the command", hint="write one behind it")
            else:
                words[self.entry.arguments + place.value_index] = value
        return replace(self, words=tuple(words))

    def with_assignment(self, name: str, value: str) -> "CommandLine":
        """The variable goes into the environment instead."""
        del name, value
        return self

    def lines(self) -> tuple[str, ...]:
        """The command for a diff: each flag with its values in a line of its own."""
        lines = [shlex.join(self.words[: self.entry.arguments])]
        for word in self.arguments:
            if flag_name(word) is None and len(lines) > 1:
                lines[-1] += f" {shlex.quote(word)}"
            else:
                lines.append(f"  {shlex.quote(word)}")
        return tuple(lines)


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Script:
    """The text of a script that runs one server."""

    text: str
    command: ShellCommand
    """The one that starts the server."""
    entry: Entry
    known: Mapping[str, str]
    """The environment, for expansions."""

    @property
    def words(self) -> tuple[str, ...]:
        """The words that start the server, with plain expansions made."""
        return tuple(self._expanded(text) for text in self.command.texts)

    @property
    def arguments(self) -> tuple[str, ...]:
        """What the server gets; before it the flags that the script gathers in lists of arguments."""
        lists = [each for each in shell_commands(self.text) if flag_name(each.texts[0]) is not None]
        gathered = [self._expanded(text) for each in lists for text in each.texts]
        return (*gathered, *self.words[self.entry.arguments :])

    @property
    def assignments(self) -> Mapping[str, str]:
        """Variables that the script sets, each with its last value; expansions not made."""
        found: dict[str, str] = {}
        for command in shell_commands(self.text):
            for text in command.texts:
                match = _ASSIGNMENT.fullmatch(text)
                if match and flag_name(text) is None:
                    found[match[1]] = match[2]
        return found

    def _expanded(self, text: str) -> str:
        """Replace `$NAME`, `${NAME}` and `${NAME:-default}` where the script or the environment tells."""
        assignments = self.assignments

        def value(match: re.Match[str]) -> str:
            name, default = match[1] or match[3], match[2]
            given = self.known.get(name) or assignments.get(name)
            if given is None or "$" in given:
                inner = _EXPANSION.fullmatch(given) if given else None
                given = inner[2] if inner and inner[2] is not None else default
            return match[0] if given is None else given

        return _EXPANSION.sub(value, text)

    def with_flags(self, values: Mapping[Flag, str]) -> "Script":
        """The same with these flags set in the text; every other byte stays as it is."""
        script = self
        for flag, value in values.items():
            script = script._with_flag(flag, value)
        return script

    def _with_flag(self, flag: Flag, value: str) -> "Script":
        words = self.command.words[self.entry.arguments :]
        place = find([word.text for word in words], flag)
        if place is None:
            end = self.command.words[-1].end
            return self._spliced(end, end, f" --{flag.value}={_quoted(value)}")
        if not place.joined:
            word = words[place.value_index] if place.value_index < len(words) else None
            if word is None:
                raise Refused(f"--{flag.value} has no value in the script", hint="write one behind it")
            return self._spliced(word.start, word.end, _quoted(value))
        word = words[place.index]
        return self._spliced(self._value_start(word), word.end, _quoted(value))

    def _value_start(self, word: ShellWord) -> int:
        equals = self.text.find("=", word.start, word.end)
        return equals + 1

    def with_assignment(self, name: str, value: str) -> "Script":
        """The same with the last assignment of a variable changed, where the script has one."""
        for command in reversed(shell_commands(self.text)):
            for word in reversed(command.words):
                match = _ASSIGNMENT.fullmatch(word.text)
                if match and match[1] == name:
                    return self._spliced(self._value_start(word), word.end, _quoted(value))
        return self

    def _spliced(self, start: int, end: int, new: str) -> "Script":
        return read_script(f"{self.text[:start]}{new}{self.text[end:]}", self.known)

    def lines(self) -> tuple[str, ...]:
        """The script for a diff."""
        return tuple(self.text.splitlines())


Serving = CommandLine | Script | MotorConfig


def read_command(words: Sequence[str]) -> CommandLine:
    """Read a command. Raises Refused when it starts no server that is known."""
    entry = find_entry(words)
    if entry is None:
        raise Refused(f"the command starts no vLLM server: {shlex.join(words)}", hint=_NO_SERVER)
    return CommandLine(words=tuple(words), entry=entry)


def read_file(text: str, known: Mapping[str, str]) -> Script | MotorConfig:
    """Read what engine.script names: a script, or the user_config.json of a deployment. Raises Refused."""
    return read_motor_config(text) if is_motor_config(text) else read_script(text, known)


def read_script(text: str, known: Mapping[str, str]) -> Script:
    """Read a script. Raises Refused unless exactly one command in it starts a server."""
    found = [(command, entry) for command in shell_commands(text) if (entry := find_entry(command.texts))]
    if len(found) != 1:
        count = "no command" if not found else f"{len(found)} commands"
        raise Refused(f"{count} of the script start a vLLM server; it must be one", hint=_NO_SERVER)
    command, entry = found[0]
    if command.words[-1].left_open:
        raise Refused("the script ends inside a quote or a bracket", hint="close it: no shell would run this")
    return Script(text=text, command=command, entry=entry, known=known)


def _quoted(value: str) -> str:
    return value if _PLAIN.fullmatch(value) else shlex.quote(value)
