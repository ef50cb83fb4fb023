"""NPU memory: what is in use before a campaign, and waiting until a stopped service has given it back.

A service that starts while the last one still holds memory gets fewer KV blocks, and every reading
after that is of another service.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from autotune.host.npu_chip import NpuChip, NpuProcess
from autotune.host.npu_facts import NpuFacts
from autotune.model.protocols import Clock

MARGIN_MIB = 256
"""Use may differ by so much between two idle readings."""
_POLL_SECONDS = 1.0

ChipPlace = tuple[int, int]
"""NPU id and chip id."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryBaseline:
    """Use of one chip while the service was down, MiB; an idle chip already uses some."""

    npu_id: int
    chip_id: int
    used: int


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryWait:
    """How the wait ended."""

    free: bool
    seconds: float
    holders: tuple[NpuProcess, ...] = ()
    """Processes on chips that are not back."""
    excess: tuple[MemoryBaseline, ...] = ()
    """MiB above the baseline of chips that are not back."""
    unknown: str = ""
    """Why nothing could be read; then `free` only means that nothing is known against it."""


def baseline(facts: NpuFacts, chips: Collection[ChipPlace] | None = None) -> tuple[MemoryBaseline, ...]:
    """The present use of these chips, or of all."""
    return tuple(
        MemoryBaseline(npu_id=chip.npu_id, chip_id=chip.chip_id, used=chip.memory_used)
        for chip in facts.chips
        if chip.memory_used is not None and (chips is None or _place(chip) in chips)
    )


def wait_until_free(
    before: Collection[MemoryBaseline],
    read: Callable[[], NpuFacts],
    clock: Clock,
    *,
    seconds: float = 120.0,
    margin: int = MARGIN_MIB,
) -> MemoryWait:
    """Read once a second until every chip is back at its baseline, for at most `seconds`.

    Without a baseline, or when npu-smi gives nothing, it does not wait.
    """
    start = clock.now()
    while True:
        facts = read()
        took = clock.now() - start
        if not before or not facts.chips:
            return MemoryWait(free=True, seconds=took, unknown=facts.problem or "no baseline")
        excess = _excess(before, facts, margin)
        if not excess:
            return MemoryWait(free=True, seconds=took)
        if took >= seconds:
            places = {(each.npu_id, each.chip_id) for each in excess}
            held = tuple(each for each in facts.processes if (each.npu_id, each.chip_id) in places)
            return MemoryWait(free=False, seconds=took, holders=held, excess=excess)
        clock.sleep(_POLL_SECONDS)


def _excess(before: Collection[MemoryBaseline], facts: NpuFacts, margin: int) -> tuple[MemoryBaseline, ...]:
    now = {_place(chip): chip.memory_used for chip in facts.chips}
    above = (
        MemoryBaseline(
            npu_id=each.npu_id,
            chip_id=each.chip_id,
            used=(now.get((each.npu_id, each.chip_id)) or 0) - each.used,
        )
        for each in before
    )
    return tuple(each for each in above if each.used > margin)


def _place(chip: NpuChip) -> ChipPlace:
    return chip.npu_id, chip.chip_id
