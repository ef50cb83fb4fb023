"""Containerfile: what it says, as instructions with the values of its build arguments put in."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.airgap.target import ROOT

CONTAINERFILE = ROOT / "Containerfile"


@dataclass(frozen=True, kw_only=True, slots=True)
class Instruction:
    """One instruction; its lines joined."""

    name: str
    text: str


def read(path: Path = CONTAINERFILE) -> tuple[Instruction, ...]:
    """The instructions in their order, comments left out."""
    lines = [
        line for line in path.read_text(encoding="utf-8").splitlines() if not line.lstrip().startswith("#")
    ]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    pairs = (line.strip().partition(" ") for line in joined.splitlines() if line.strip())
    return tuple(Instruction(name=name.upper(), text=text.strip()) for name, _, text in pairs)


def filled(instructions: tuple[Instruction, ...], values: Mapping[str, str]) -> tuple[Instruction, ...]:
    """The instructions but ARG, with build arguments put in; RUN is the shell's to fill.

    Raises KeyError for an argument that has neither a value nor a default.
    """
    known: dict[str, str] = {}
    made = []
    for one in instructions:
        if one.name == "ARG":
            name, _, default = one.text.partition("=")
            known[name] = values.get(name) or default or values[name]
        else:
            text = one.text if one.name == "RUN" else _put_in(one.text, known)
            made.append(Instruction(name=one.name, text=text))
    return tuple(made)


def _put_in(text: str, values: Mapping[str, str]) -> str:
    return re.sub(r"\$\{(\w+)\}", lambda found: values[found[1]], text)
