"""Serving: what starts the server, a command, a script or a deployment file; values are spliced into it."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, final

from autotune.engines.vllm.entry import Entry, find_entry
from autotune.engines.vllm.flags import Flag, find, flag_name
from autotune.engines.vllm.motor_config import MotorConfig, is_motor_config, read_motor_config
from autotune.engines.vllm.script import Script, read_script
from autotune.engines.vllm.script_faults import NO_SERVER, started_elsewhere
from autotune.errors import Refused

GEAR_LIST: Final = "PTA_TORCHAIR_DECODE_GEAR_LIST"
"""Batch sizes that graph mode compiles for; the largest is made equal to --max-num-seqs."""


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

    def where(self, flag: Flag | None = None) -> str:
        """A command has no lines."""
        del flag
        return ""

    def hidden(self) -> str:
        """A command hides nothing."""
        return ""

    def lines(self) -> tuple[str, ...]:
        """The command for a diff: each flag with its values in a line of its own."""
        lines = [shlex.join(self.words[: self.entry.arguments])]
        for word in self.arguments:
            if flag_name(word) is None and len(lines) > 1:
                lines[-1] += f" {shlex.quote(word)}"
            else:
                lines.append(f"  {shlex.quote(word)}")
        return tuple(lines)


Serving = CommandLine | Script | MotorConfig


def read_command(words: Sequence[str]) -> CommandLine:
    """Read a command. Raises Refused when it starts no server that is known."""
    entry = find_entry(words)
    if entry is None:
        raise Refused(f"the command starts no vLLM server: {shlex.join(words)}", hint=NO_SERVER)
    where = started_elsewhere(words)
    if where:
        raise Refused(
            f"{words[0]} starts the server {where}",
            hint="run this tool there, with the command that starts the server itself",
        )
    return CommandLine(words=tuple(words), entry=entry)


def read_file(text: str, known: Mapping[str, str]) -> Script | MotorConfig:
    """Read what engine.script names: a script, or the user_config.json of a deployment. Raises Refused."""
    return read_motor_config(text) if is_motor_config(text) else read_script(text, known)
