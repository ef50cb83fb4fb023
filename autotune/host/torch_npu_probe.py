"""Torch_npu probe: whether it can be used, and the memory of each NPU, asked in a short subprocess.

In this process it would open a context on the card, take memory of it, and keep it. Asking for the memory
opens one for a moment too, so only who has the cards for himself should.
"""

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from autotune.foreign import json_value
from autotune.host.short_command import Answer, NoAnswer, ask
from autotune.model.service import Fact

SECONDS = 60.0
_MARK = "autotune-probe "
_SHOWN = 80
_SCRIPT = """
import importlib.util, json, sys
try:
    if importlib.util.find_spec("torch_npu") is None:
        raise ModuleNotFoundError("No module named 'torch_npu'")
    import torch
    import torch_npu
    npu = torch_npu.npu
    count = npu.device_count()
    asked = range(count) if sys.argv[1] == "memory" else ()
    cards = [[i, *npu.mem_get_info(i), npu.get_device_name(i)] for i in asked]
    found = {"version": torch_npu.__version__, "count": count, "cards": cards}
except BaseException as error:
    found = {"error": f"{type(error).__name__}: {error}"}
print("autotune-probe " + json.dumps(found, default=str))
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class TorchNpuCard:
    """Memory of one visible card, in bytes."""

    index: int
    """As the process sees it: ASCEND_RT_VISIBLE_DEVICES renumbers from 0."""
    name: str
    free: int
    total: int


@dataclass(frozen=True, kw_only=True, slots=True)
class TorchNpu:
    """What torch_npu says, or why it says nothing."""

    version: str = ""
    count: int = 0
    """Cards that it sees."""
    cards: tuple[TorchNpuCard, ...] = ()
    problem: str = ""


def probe_torch_npu(
    python: str = sys.executable,
    *,
    environment: Mapping[str, str] | None = None,
    memory: bool = True,
    seconds: float = SECONDS,
) -> TorchNpu:
    """Ask the torch_npu of a Python interpreter; every way of failing is an answer.

    The automatic load of back ends is off, since with a broken torch_npu `import torch` itself fails.
    """
    given = os.environ if environment is None else environment
    asked = "memory" if memory else "count"
    answer = ask(
        [python, "-c", _SCRIPT, asked], seconds, environment={**given, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    )
    return read_probe(answer, seconds)


def torch_npu_fact(
    environment: Mapping[str, str],
    *,
    find: Callable[..., str | None] = shutil.which,
    seconds: float = SECONDS,
) -> Fact:
    """What the torch_npu of the service's own Python says, without a context on a card."""
    python = find("python3", path=environment.get("PATH")) or sys.executable
    found = probe_torch_npu(python, environment=environment, memory=False, seconds=seconds)
    return Fact(name="torch_npu", value=found.problem or f"{found.version}, {found.count} cards")


def read_probe(answer: Answer, seconds: float) -> TorchNpu:
    """Read what the subprocess printed, among whatever libraries print beside it."""
    if answer.no_answer is not None:
        limit = f" ({seconds:g} s)" if answer.no_answer is NoAnswer.TIMEOUT else ""
        return TorchNpu(problem=f"the probe {answer.no_answer.value}{limit}")
    lines = [line for line in answer.output.splitlines() if line.startswith(_MARK)]
    if not lines:
        last = (answer.errors.strip().splitlines() or [f"exit code {answer.code}"])[-1]
        return TorchNpu(problem=f"the probe died: {last}")
    try:
        return _found(json_value(lines[-1].removeprefix(_MARK)))
    except (ValueError, TypeError, KeyError, OverflowError):  # cut, or another program's line
        return TorchNpu(problem=f"the probe's answer cannot be read: {lines[-1][:_SHOWN]}")


def _found(answer: Any) -> TorchNpu:
    """Raises ValueError, TypeError, KeyError or OverflowError for what the script does not print."""
    if "error" in answer:
        return TorchNpu(problem=_named(str(answer["error"])))
    cards = tuple(
        TorchNpuCard(index=int(index), name=str(name), free=int(free), total=int(total))
        for index, free, total, name in answer["cards"]
    )
    count = int(answer["count"])
    if count < 0 or any(not 0 <= card.free <= card.total for card in cards):
        raise ValueError("numbers that no card has")
    problem = "" if count else "torch_npu sees no card"
    return TorchNpu(version=str(answer["version"]), count=count, cards=cards, problem=problem)


def _named(error: str) -> str:
    """Say what the usual import errors mean."""
    first = (error.splitlines() or ["an error without a word"])[0]
    if "No module named" in error:
        return "not installed"
    if ".so" in error:
        return f"installed, but CANN's libraries are not found; source its set_env.sh ({first})"
    if "Two accelerators" in error:
        return f"installed beside a CUDA build of torch, which excludes it ({first})"
    return first
