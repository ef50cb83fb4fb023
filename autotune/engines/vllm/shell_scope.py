"""Shell scope: the variables of a script while it is read from top to bottom, and the open blocks."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, final

from autotune.engines.vllm.shell_expansion import Expansion, Field, Value
from autotune.engines.vllm.shell_words import ShellCommand, ShellWord, shell_commands

ASSIGNMENT: Final = re.compile(r"([A-Za-z_]\w*)(\+?)=(.*)", re.DOTALL)
LOOPS: Final = frozenset({"for", "while", "until", "select"})
FUNCTION: Final = "{"
_SETTERS: Final = frozenset({"export", "declare", "local", "readonly", "typeset", "env"})
_TESTS: Final = frozenset((name,) for name in ("[", "[[", "test", "grep", "command", "which", "type"))
_SOURCES: Final = frozenset({"source", "."})
_READERS: Final = frozenset({"read", "mapfile", "readarray", "getopts"})
_OPENS: Final = LOOPS | {"if", "case", FUNCTION}
_CLOSES: Final = frozenset({"fi", "esac", "done", "}"})
_PASSED_OVER: Final = frozenset({"then", "else", "elif", "do", "!", "time", "function"})
_OF_THE_SHELL: Final = re.compile(
    r"BASH\w*|PWD|OLDPWD|HOME|HOSTNAME|HOSTTYPE|OSTYPE|MACHTYPE|UID|EUID|PPID|RANDOM|SRANDOM|SECONDS|LINENO"
    r"|EPOCH\w+|FUNCNAME|IFS|OPTARG|OPTIND|PIPESTATUS|REPLY|SHELL|SHLVL|DIRSTACK|[0-9#?$!-]+"
)
"""Set by the shell itself or by who calls the script."""
_UNKNOWN: Final = Value(texts=(), known=False)


@final
@dataclass(kw_only=True, slots=True)
class Scope:
    """What is known at one place of a script."""

    values: dict[str, Value]
    sources: bool = False
    """It has sourced another file: what is not set here may be set there."""
    blocks: list[str] = field(default_factory=list)
    """Keywords of the blocks that are open."""

    def fields(self, word: ShellWord) -> tuple[Field, ...]:
        """The words that a word of the script becomes."""
        return Expansion(self._value_of).fields(word)

    def pass_by(self, command: ShellCommand, before: ShellCommand | None) -> None:
        """Go past one command: what it sets, opens and closes."""
        if command.array is not None:
            self._set_array(command, command.array)
            return
        words = self._without_keywords(command.words)
        first = words[0].text if words else ""
        self.sources = self.sources or first in _SOURCES
        for word in words[1:] if first in _READERS | {"unset"} else ():
            self.values[word.text] = Value(texts=()) if first == "unset" else _UNKNOWN
        sure = not self._conditional() and not _under_test(command, before)
        for word in _setting(words):
            self._set(word, sure=sure)

    def _value_of(self, name: str) -> Value:
        if name in {"@", "*"}:
            return _UNKNOWN if FUNCTION in self.blocks else Value(texts=())
        found = self.values.get(name)
        if found is not None:
            return found
        if name.isdecimal() and FUNCTION not in self.blocks:
            return Value(texts=())
        return _UNKNOWN if self.sources or _OF_THE_SHELL.fullmatch(name) else Value(texts=())

    def _conditional(self) -> bool:
        return any(block != FUNCTION for block in self.blocks)

    def _without_keywords(self, words: tuple[ShellWord, ...]) -> tuple[ShellWord, ...]:
        """What stands behind the keywords, which open and close blocks."""
        for index, word in enumerate(words):
            if word.text in LOOPS and index + 1 < len(words):
                self.values[words[index + 1].text] = _UNKNOWN
            if word.text in _OPENS:
                self.blocks.append(word.text)
            elif word.text in _CLOSES:
                del self.blocks[-1:]
            elif word.text not in _PASSED_OVER:
                return words[index:]
        return ()

    def _set(self, word: ShellWord, *, sure: bool) -> None:
        found = ASSIGNMENT.fullmatch(word.text)
        if found is None:
            return
        whole, known = Expansion(self._value_of).whole(word)
        value, before = whole.partition("=")[2], self.values.get(found[1])
        if found[2] and before is not None:
            value, known = f"{' '.join(before.texts)}{value}", known and before.known
        same = before is not None and before.known and before.texts == (value,)
        self.values[found[1]] = Value(texts=(value,), known=known and (sure or same))

    def _set_array(self, command: ShellCommand, name: str) -> None:
        fields = [each for word in command.words for each in self.fields(word)]
        before = self.values.get(name.rstrip("+")) if name.endswith("+") else None
        texts = (*(before.texts if before else ()), *(each.text for each in fields))
        known = all(each.known for each in fields) and (before is None or before.known)
        self.values[name.rstrip("+")] = Value(texts=texts, known=known and not self._conditional())


def walk(text: str, environment: Mapping[str, str]) -> Iterator[tuple[ShellCommand, Scope]]:
    """Each command with what is known when it runs. The scope is one and the same all the way."""
    scope = Scope(values={name: Value(texts=(value,)) for name, value in environment.items()})
    before: ShellCommand | None = None
    for command in shell_commands(text):
        scope.pass_by(command, before)
        yield command, scope
        before = command


def _under_test(command: ShellCommand, before: ShellCommand | None) -> bool:
    """Whether it runs only after a test that went well, or badly."""
    return command.after in {"&&", "||"} and before is not None and before.texts[:1] in _TESTS


def _setting(words: tuple[ShellWord, ...]) -> tuple[ShellWord, ...]:
    """The words that set variables: those in front, all of `export` and its like."""
    if any(word.text in _SETTERS for word in words):
        return tuple(word for word in words if ASSIGNMENT.fullmatch(word.text))
    count = next((i for i, word in enumerate(words) if not ASSIGNMENT.fullmatch(word.text)), len(words))
    return words[:count]
