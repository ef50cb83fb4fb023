"""NPUs: whether the cards that the service wants are there, healthy and free."""

from dataclasses import dataclass

from autotune.campaign.doctor.check import Check, advice, error, fine
from autotune.host.npu_chip import NpuChip, NpuProcess
from autotune.host.npu_facts import NpuFacts, holders

HELD_SHARE = 0.25
"""Of a card's memory; an idle card with a driver context uses less."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NpuNeed:
    """What the service wants of the cards."""

    devices: tuple[int, ...]
    """Numbers as npuDeviceIds has them; empty takes every card."""
    visible: tuple[int, ...] | None
    """ASCEND_RT_VISIBLE_DEVICES, which renumbers the cards; None when it is not set."""
    needed: bool
    """False for an emulated service, or one on CPUs."""
    live: bool
    """Whether a service runs now that the campaign stops for its time."""


def visible_devices(text: str | None) -> tuple[int, ...] | None:
    """Read ASCEND_RT_VISIBLE_DEVICES; None when it is not set or is no list of numbers."""
    parts = [part.strip() for part in (text or "").split(",")]
    return tuple(map(int, parts)) if all(part.isdecimal() for part in parts) else None


def npu_checks(facts: NpuFacts, need: NpuNeed) -> tuple[Check, ...]:
    """The cards and the processes on them."""
    if not need.needed:
        return (fine("NPU processes", "no NPU is needed: the service does not run on any"),)
    if not facts.chips:
        fact = f"nothing is known of the NPUs: {facts.problem or 'npu-smi lists none'}"
        return (advice("NPU processes", fact, "npu-smi info   (as root, on the host)"),)
    chips = _wanted(facts.chips, need)
    if chips is None:
        numbers = ",".join(map(str, need.devices))
        count = len(need.visible) if need.visible is not None else len(facts.chips)
        fact = f"npuDeviceIds {numbers}, and the service sees {count} cards, 0 to {count - 1}"
        return (error("NPU processes", fact, "correct npuDeviceIds, or ASCEND_RT_VISIBLE_DEVICES"),)
    return _health(chips), _holders(chips, facts.processes, live=need.live)


def _wanted(chips: tuple[NpuChip, ...], need: NpuNeed) -> tuple[NpuChip, ...] | None:
    """The chips of the service; None when a number is beyond what it sees."""
    by_number = {
        chip.logic_id if chip.logic_id is not None else place: chip for place, chip in enumerate(chips)
    }
    seen = list(by_number) if need.visible is None else list(need.visible)
    wanted = need.devices or tuple(range(len(seen)))
    if any(number >= len(seen) for number in wanted):
        return None
    numbers = [seen[number] for number in wanted]
    return tuple(by_number[number] for number in numbers if number in by_number)


def _health(chips: tuple[NpuChip, ...]) -> Check:
    unwell = [chip for chip in chips if chip.health.upper() not in {"OK", ""}]
    if unwell:
        places = ", ".join(f"NPU {chip.npu_id} chip {chip.chip_id} is {chip.health}" for chip in unwell)
        return error("NPU health", places, f"npu-smi info -t health -i {unwell[0].npu_id}")
    names = ", ".join(dict.fromkeys(chip.name for chip in chips if chip.name))
    return fine("NPU health", f"{len(chips)} x {names or 'NPU'}, all well")


def _holders(chips: tuple[NpuChip, ...], processes: tuple[NpuProcess, ...], *, live: bool) -> Check:
    places = {(chip.npu_id, chip.chip_id) for chip in chips}
    held = [process for process in processes if (process.npu_id, process.chip_id) in places]
    if held and not live:
        pids = ",".join(str(process.pid) for process in held)
        return error(
            "NPU processes",
            f"somebody holds the cards: {holders(held)}",
            f"ps -fp {pids}   and stop what they belong to; trials would get fewer KV blocks",
        )
    full = [chip for chip in chips if _share(chip) > HELD_SHARE]
    if full and not held:
        fact = f"{100 * _share(full[0]):.0f} % of NPU {full[0].npu_id} is in use, and no process is listed"
        mend = f"npu-smi info -t proc-mem -i {full[0].npu_id}   (a container or a dead process holds it)"
        return advice("NPU processes", fact, mend)
    said = "those of the live service" if held else "none on the cards of the service"
    return fine("NPU processes", said)


def _share(chip: NpuChip) -> float:
    if not chip.memory_total or chip.memory_used is None:
        return 0.0
    return chip.memory_used / chip.memory_total
