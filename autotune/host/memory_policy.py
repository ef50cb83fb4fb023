"""Memory policy: from which NUMA node a service takes its memory, set by numactl on request and read back.

Sources: numactl(8), set_mempolicy(2), numa_maps of proc(5). In a container numactl may set the CPUs and not
the memory, which is easily missed, so what it does is first tried on a short command and read from the
kernel. A policy is inherited by the children of a process, also by later ones.
"""

import re
import shutil
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from autotune.host.cpu_list import parse_cpu_list
from autotune.host.setting import SettingOutcome, SettingResult
from autotune.host.short_command import Answer, Ask, ask

NAME = "memory_policy"
PREFERRED, BIND = "preferred", "bind"
_OPTIONS = {PREFERRED: "--preferred", BIND: "--membind"}
_KERNEL_WORDS = {PREFERRED: "prefer", BIND: "bind"}
_LINE = re.compile(r"[0-9a-f]+ ([a-z]+)(?: \(many\)| interleave)?(?:=[a-z|]+)?(?::([\d,-]+))?(?: .*)?")
_SECONDS = 10.0
_NOT_PERMITTED = "Operation not permitted"


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryPlan:
    """What became of the wish; `words` go before the service's command."""

    result: SettingResult | None = None
    """None when nothing was asked for."""
    words: tuple[str, ...] = ()
    kernel: str = ""
    """The policy as the kernel tells it, such as `prefer:1`."""


def plan_memory(
    wish: str | None,
    node: int | None,
    *,
    run: Ask = ask,
    find: Callable[[str], str | None] = shutil.which,
) -> MemoryPlan:
    """Try numactl for `preferred` or `bind` and the node of the service's CPUs; None asks for nothing."""
    if wish is None:
        return MemoryPlan()
    if node is None:
        return _unavailable(wish, "the service is not bound to the CPUs of one NUMA node")
    program = find("numactl")
    if program is None:
        return _unavailable(wish, "numactl is not installed")
    kernel = f"{_KERNEL_WORDS[wish]}:{node}"
    words = (program, f"{_OPTIONS[wish]}={node}")
    answer = run([*words, "cat", "/proc/self/numa_maps"], _SECONDS)
    found = _most_common(policies_of(answer.output))
    wanted = f"{wish} node{node}"
    result = SettingResult(
        name=NAME, before="default", wanted=wanted, after=wanted, outcome=SettingOutcome.APPLIED
    )
    if answer.ok and found == kernel:
        return MemoryPlan(result=result, words=words, kernel=kernel)
    return _refused(wanted, answer, found)


def policies_of(numa_maps: str) -> Counter[str]:
    """How many mappings have which policy, written like `prefer:1`; without nodes like `default`."""
    counted: Counter[str] = Counter()
    for line in numa_maps.splitlines():
        match = _LINE.fullmatch(line)
        if match is not None:
            counted[f"{match[1]}:{match[2]}" if match[2] else match[1]] += 1
    return counted


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryCheck:
    """What the kernel says of the memory of some processes."""

    wanted: str
    held: int = 0
    """Processes, most of whose mappings have the wanted policy."""
    others: tuple[tuple[int, str], ...] = ()
    """Pid and policy of those that have another."""


def check_memory(pids: Iterable[int], kernel: str, *, root: Path = Path("/")) -> MemoryCheck:
    """Read back the policy of these processes; one that has ended or can't be read is left out."""
    held = 0
    others: list[tuple[int, str]] = []
    for pid in pids:
        try:
            text = (root / f"proc/{pid}/numa_maps").read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        found = _most_common(policies_of(text))
        if found == kernel:
            held += 1
        elif found:
            others.append((pid, found))
    return MemoryCheck(wanted=kernel, held=held, others=tuple(others))


def node_of(cpus: Collection[int], root: Path = Path("/")) -> int | None:
    """The one NUMA node that holds all of these CPUs, by sysfs; None when there is none."""
    for place in (root / "sys/devices/system/node").glob("node[0-9]*"):
        try:
            listed = parse_cpu_list((place / "cpulist").read_text(encoding="ascii"))
        except (OSError, ValueError):
            continue
        if cpus and set(cpus) <= set(listed):
            return int(place.name.removeprefix("node"))
    return None


def _most_common(counted: Counter[str]) -> str:
    return counted.most_common(1)[0][0] if counted else ""


def _unavailable(wish: str, reason: str) -> MemoryPlan:
    outcome = SettingOutcome.UNAVAILABLE
    return MemoryPlan(result=SettingResult(name=NAME, wanted=wish, outcome=outcome, reason=reason))


def _refused(wanted: str, answer: Answer, found: str) -> MemoryPlan:
    said = next(iter((answer.errors or answer.output).strip().splitlines()), "") if not answer.ok else ""
    denied = _NOT_PERMITTED in answer.errors
    if answer.ok:
        reason = f"numactl set it without an error, but it reads {found or 'nothing'}"
    elif denied:
        reason = "the kernel forbids it here, as in a container without the right (CAP_SYS_NICE)"
    else:
        reason = said or (answer.no_answer.value if answer.no_answer else f"exit code {answer.code}")
    outcome = SettingOutcome.DENIED if denied else SettingOutcome.UNAVAILABLE
    return MemoryPlan(
        result=SettingResult(
            name=NAME, before="default", wanted=wanted, after="default", outcome=outcome, reason=reason
        )
    )
