"""Motor config: vLLM's flags in a P/D deployment's user_config.json, read and spliced in its decode half.

Source: the public example files of MindIE PyMotor. `motor_engine_decode_config` holds `model_config`
and `engine_config`; the keys of the latter are vLLM's flags, with dashes or underscores.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, final

from autotune.engines.vllm.entry import Entry, Interface
from autotune.engines.vllm.flags import Flag
from autotune.errors import Refused
from autotune.mindie_rules.json_text import Document, JsonValue, KeyPath, parse

DECODE: Final = "motor_engine_decode_config"
_ENGINE: Final[KeyPath] = (DECODE, "engine_config")
_MODEL: Final[Mapping[Flag, KeyPath]] = {
    Flag.MODEL: ("model_path",),
    Flag.SERVED_MODEL_NAME: ("model_name",),
    Flag.TENSOR_PARALLEL_SIZE: ("parallel_config", "tp_size"),
    Flag.PIPELINE_PARALLEL_SIZE: ("parallel_config", "pp_size"),
    Flag.DATA_PARALLEL_SIZE: ("parallel_config", "dp_size"),
}
"""What the deployer adds to the flags, and where below `model_config` it lies."""
_PROGRAM: Final = ("vllm", "serve")


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class MotorConfig:
    """The text of such a file; prefill and decode instances are started from it by the deployer."""

    text: str
    document: Document

    @property
    def entry(self) -> Entry:
        """The server that each decode instance runs."""
        return Entry(interface=Interface.OPENAI, arguments=len(_PROGRAM), takes_model=False)

    @property
    def words(self) -> tuple[str, ...]:
        """The command line that a decode instance amounts to."""
        return (*_PROGRAM, *self.arguments)

    @property
    def arguments(self) -> tuple[str, ...]:
        """Flags of the decode half: those of the model section first, then those of `engine_config`."""
        model = _inside(self.document.value, (DECODE, "model_config"))
        given = {flag.value: _inside(model, path) for flag, path in _MODEL.items()}
        engine = _inside(self.document.value, _ENGINE)
        flags = {**given, **(engine if isinstance(engine, dict) else {})}
        return tuple(word for name, value in flags.items() for word in _words(name, value))

    @property
    def assignments(self) -> Mapping[str, str]:
        """The file sets no variables."""
        return {}

    def with_flags(self, values: Mapping[Flag, str]) -> "MotorConfig":
        """The same with these numbers in the decode half; every other byte stays.

        Raises Refused for a flag that stands there in no spelling: it is never added in a guessed place.
        """
        edits = sorted(((self._span(flag), value) for flag, value in values.items()), reverse=True)
        text = self.text
        for (start, end), value in edits:
            text = f"{text[:start]}{value}{text[end:]}"
        return read_motor_config(text)

    def _span(self, flag: Flag) -> tuple[int, int]:
        engine = _inside(self.document.value, _ENGINE)
        keys = [key for key in (engine if isinstance(engine, dict) else {}) if _name(key) == flag.value]
        where = f"{DECODE}.engine_config"
        if len(keys) != 1:
            found = "no" if not keys else "more than one"
            raise Refused(f"{where} has {found} {flag.value}", hint=f"write one {flag.value} into {where}")
        span = self.document.spans[(*_ENGINE, keys[0])]
        return span.start, span.end

    def with_assignment(self, name: str, value: str) -> "MotorConfig":
        """The variable goes into the environment instead."""
        del name, value
        return self

    def where(self, flag: Flag | None = None) -> str:
        """Its keys are named in messages anyway."""
        del flag
        return ""

    def hidden(self) -> str:
        """The file says all."""
        return ""

    def lines(self) -> tuple[str, ...]:
        """The file for a diff."""
        return tuple(self.text.splitlines())


def is_motor_config(text: str) -> bool:
    """Whether a file is meant as JSON, and no script."""
    return text.lstrip("\ufeff \t\r\n").startswith("{")


def read_motor_config(text: str) -> MotorConfig:
    """Read a deployment's user_config.json.

    Raises Refused, with line and column, for text that is not JSON or has repeated keys, and for a file
    without a decode half of vLLM.
    """
    document = parse(text)
    if document.repeated:
        raise Refused(
            f"{'.'.join(map(str, document.repeated[0].path))} stands there twice",
            hint="remove one of the two",
        )
    if not isinstance(_inside(document.value, _ENGINE), dict):
        raise Refused(
            f"the file has no {DECODE}.engine_config", hint="give the user_config.json of the deployment"
        )
    return MotorConfig(text=text, document=document)


def _inside(value: JsonValue, path: KeyPath) -> JsonValue:
    for key in path:
        value = value.get(str(key)) if isinstance(value, dict) else None
    return value


def _name(key: str) -> str:
    return key.replace("_", "-")


def _words(name: str, value: JsonValue) -> Iterator[str]:
    """A member as words: true is a bare flag, false and null are none, lists and objects stay JSON."""
    if value is None or value is False:
        return
    yield f"--{_name(name)}"
    if value is not True:
        yield value if isinstance(value, str) else json.dumps(value)
