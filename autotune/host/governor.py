"""Governor: the CPU frequency governor of every CPU, through sysfs.

Source: MindIE performance tuning guide, which sets `performance` with cpupower (about 3 % more
tokens a second at the same latency). cpupower stops at the first CPU that fails and may succeed
without an effect, so each CPU is written and read back here.
"""

import re
from pathlib import Path

from autotune.host.setting import SettingOutcome, SettingResult
from autotune.host.sysfs_value import offered_values, read_value

NAME = "governor"
_CPU = re.compile(r"cpu(\d+)")


def plan_governor(wanted: str, root: Path) -> tuple[SettingResult, ...]:
    """One item for each CPU that has a governor; APPLIED means here: is to be written.

    One UNAVAILABLE item when no CPU has one.
    """
    found = [(cpu, place) for cpu, place in _cpus(root) if place.exists()]
    if not found:
        reason = "no CPU frequency driver: a virtual machine, or switched off in the firmware"
        outcome = SettingOutcome.UNAVAILABLE
        return (
            SettingResult(name=NAME, wanted=wanted, outcome=outcome, reason=reason, advice=_advice(wanted)),
        )
    return tuple(_plan(wanted, cpu, place) for cpu, place in found)


def governors(root: Path) -> dict[int, str]:
    """The governor of each CPU that has one."""
    read = ((cpu, read_value(place)) for cpu, place in _cpus(root))
    return {cpu: value for cpu, value in read if value is not None}


def _plan(wanted: str, cpu: int, place: Path) -> SettingResult:
    before = read_value(place)
    offered = offered_values(place.with_name("scaling_available_governors"))
    outcome, reason = SettingOutcome.APPLIED, ""
    if before is None:
        outcome, reason = SettingOutcome.UNAVAILABLE, "its governor can't be read"
    elif before == wanted:
        outcome = SettingOutcome.UNCHANGED
    elif offered and wanted not in offered:
        outcome, reason = SettingOutcome.UNAVAILABLE, f"the driver offers {', '.join(offered)}"
    return SettingResult(
        name=NAME,
        cpu=cpu,
        path=str(place),
        before=before,
        wanted=wanted,
        after=before,
        outcome=outcome,
        reason=reason,
        advice=_advice(wanted),
    )


def _cpus(root: Path) -> list[tuple[int, Path]]:
    places = (root / "sys/devices/system/cpu").glob("cpu[0-9]*")
    numbered = ((match, place) for place in places if (match := _CPU.fullmatch(place.name)))
    return sorted((int(match[1]), place / "cpufreq" / "scaling_governor") for match, place in numbered)


def _advice(wanted: str) -> str:
    return f"cpupower -c all frequency-set -g {wanted}"
