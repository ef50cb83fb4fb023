"""CPU group: one path that stands for the same file of many CPUs, `.../cpu[0-47,96]/cpufreq/...`.

So a change of 640 governors is one entry of the crash journal and one sync to the disk.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from autotune.host.cpu_list import format_cpu_list, parse_cpu_list

_GROUP = re.compile(r"(.*/cpu)\[([\d,-]+)\](/.*)")
_SINGLE = re.compile(r"(.*/cpu)(\d+)(/.*)")


def group_path(path: str, cpus: Iterable[int]) -> str:
    """The path for all of these CPUs, from that of any one of them; the path itself when it names no CPU."""
    match = _SINGLE.fullmatch(path)
    return f"{match[1]}[{format_cpu_list(cpus)}]{match[3]}" if match else path


def members(path: str) -> tuple[tuple[int | None, Path], ...]:
    """Each CPU of a group with its own path; a plain path stands for itself."""
    group = _GROUP.fullmatch(path)
    if group is not None:
        return tuple((cpu, Path(f"{group[1]}{cpu}{group[3]}")) for cpu in parse_cpu_list(group[2]))
    single = _SINGLE.fullmatch(path)
    return ((int(single[2]) if single else None, Path(path)),)
