"""Setting: one value of the host with what it was, what was wanted, what it became, and why."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, unique

from autotune.host.cpu_list import format_cpu_list
from autotune.model.service import Fact

TO_BE_APPLIED = "to be applied"
"""What the line of a setting says that a plan will change."""


@unique
class SettingOutcome(Enum):
    """What became of a wish, or of putting a value back."""

    APPLIED = "applied"
    UNCHANGED = "unchanged"
    """It was so already."""
    UNAVAILABLE = "unavailable"
    """This host has no such setting, or not this value."""
    DENIED = "denied"
    """It is there and may not be written."""
    RESTORED = "restored"
    SKIPPED = "skipped"
    """Somebody else changed it since; theirs stays."""
    DROPPED = "dropped"
    """The host was rebooted since, which put it back."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SettingResult:
    """One item. Values are the kernel's own words."""

    name: str
    """governor or transparent_hugepages."""
    cpu: int | None = None
    """Of which CPU, where each has its own."""
    path: str = ""
    before: str | None = None
    wanted: str
    after: str | None = None
    """As read back."""
    outcome: SettingOutcome
    reason: str = ""
    advice: str = ""
    """The command that a person would type."""


def summary(results: Iterable[SettingResult]) -> tuple[str, ...]:
    """One line for all items that fared alike, such as 192 CPUs of one governor."""
    groups: dict[SettingResult, list[int]] = {}
    for result in results:
        groups.setdefault(_alike(result), []).extend([] if result.cpu is None else [result.cpu])
    return tuple(_line(result, cpus) for result, cpus in groups.items())


def setting_facts(results: Iterable[SettingResult]) -> tuple[Fact, ...]:
    """The same for a report."""
    lines = (line.partition(": ") for line in summary(results))
    return tuple(Fact(name=name, value=value) for name, _, value in lines)


def _alike(result: SettingResult) -> SettingResult:
    return SettingResult(
        name=result.name,
        before=result.before,
        wanted=result.wanted,
        after=result.after,
        outcome=result.outcome,
        reason=result.reason,
    )


def _line(result: SettingResult, cpus: list[int]) -> str:
    planned = result.outcome is SettingOutcome.APPLIED and result.after != result.wanted
    after = result.wanted if planned else result.after
    change = after or result.before or "?"
    if after is not None and result.before not in {None, after}:
        change = f"{result.before} -> {after}"
    outcome = TO_BE_APPLIED if planned else result.outcome.value
    where = f" on CPUs {format_cpu_list(cpus)}" if cpus else ""
    why = f" ({result.reason})" if result.reason else ""
    shown = "" if result.outcome is SettingOutcome.UNAVAILABLE and result.before is None else f"{change}, "
    return f"{result.name}: {shown}{outcome}{where}{why}"
