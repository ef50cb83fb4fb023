"""CPU lists as the kernel, lscpu and taskset write them: `0-23,48` and hexadecimal masks."""

import re
from collections.abc import Iterable

LARGEST_CPU = 8191
"""The kernel's own limit, NR_CPUS; a larger number is a slip of the pen."""
_PART = re.compile(r"(\d{1,9})(?:-(\d{1,9})(?::(\d{1,9}))?)?")
_MASK = re.compile(r"(0x)?[0-9a-fA-F]+(,[0-9a-fA-F]{8})*")
_BITS_A_WORD = 32


def parse_cpu_list(text: str) -> tuple[int, ...]:
    """The CPUs of a list, in order and once each; an empty text holds none.

    Raises ValueError for anything that is not a list, such as `0-23-99` or `5-1`.
    """
    cpus: set[int] = set()
    for part in text.split(",") if text.strip() else []:
        match = _PART.fullmatch(part.strip())
        if match is None:
            raise ValueError(f"{text.strip()!r} is not a list of CPUs")
        first = int(match[1])
        last = int(match[2] or first)
        if last < first or last > LARGEST_CPU:
            raise ValueError(f"{part.strip()!r} is not a range of CPUs")
        cpus.update(range(first, last + 1, max(1, int(match[3] or 1))))
    return tuple(sorted(cpus))


def parse_cpu_mask(text: str) -> tuple[int, ...]:
    """The CPUs of a mask: `0xff`, or words of 32 bits like `ff,ffffffff`. Raises ValueError."""
    if not _MASK.fullmatch(text.strip()):
        raise ValueError(f"{text.strip()!r} is not a mask of CPUs")
    words = text.strip().removeprefix("0x").split(",")
    bits = int("".join([words[0], *words[1:]]), 16)
    if bits.bit_length() > LARGEST_CPU + 1:
        raise ValueError(f"{text.strip()[:_BITS_A_WORD]!r}... names CPUs above {LARGEST_CPU}")
    return tuple(cpu for cpu in range(bits.bit_length()) if bits >> cpu & 1)


def format_cpu_list(cpus: Iterable[int]) -> str:
    """The shortest list that taskset takes, like `0-23,48`."""
    runs: list[list[int]] = []
    for cpu in sorted(set(cpus)):
        if runs and cpu == runs[-1][1] + 1:
            runs[-1][1] = cpu
        else:
            runs.append([cpu, cpu])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
