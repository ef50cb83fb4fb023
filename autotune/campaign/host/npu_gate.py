"""NPU gate: no start of the service before the memory of its NPUs is back.

A service that starts on top of another gets fewer KV blocks, and every reading after that is of another
service. So a start that would have to wait for too long ends the campaign, naming who holds the card.
"""

from collections.abc import Callable, Collection, Mapping
from typing import final

from autotune.errors import Refused
from autotune.events import Warned
from autotune.host.npu_chip import NpuChip, NpuProcess
from autotune.host.npu_facts import NpuFacts, holders
from autotune.host.npu_memory import ChipPlace, MemoryBaseline, baseline, wait_until_free
from autotune.model.protocols import Clock, Listener

WAIT_SECONDS = 120.0
_POLL_SECONDS = 1.0
_VISIBLE = "ASCEND_RT_VISIBLE_DEVICES"


@final
class NpuGate:
    """Called before each start. The first time it takes the baseline, when nobody holds the chips."""

    def __init__(
        self,
        read: Callable[[], NpuFacts],
        chips: Collection[ChipPlace],
        clock: Clock,
        listener: Listener,
        *,
        seconds: float = WAIT_SECONDS,
    ) -> None:
        self._read = read
        self._chips = frozenset(chips)
        self._clock = clock
        self._listener = listener
        self._seconds = seconds
        self._baseline: tuple[MemoryBaseline, ...] = ()

    def wait(self) -> None:
        """Wait until the service's chips are free. Raises Refused when they are not in time."""
        if not self._chips:
            return
        if not self._baseline:
            facts = self._wait_for_processes()
            self._baseline = baseline(facts, self._chips)
            return
        ended = wait_until_free(self._baseline, self._read, self._clock, seconds=self._seconds)
        if ended.unknown:
            self._listener(Warned(message=f"the memory of the NPUs is not known: {ended.unknown}"))
        if ended.free:
            return
        above = ", ".join(f"NPU {each.npu_id} chip {each.chip_id} {each.used} MiB" for each in ended.excess)
        raise self._refused(f"memory is not back ({above} above its baseline)", ended.holders)

    def _wait_for_processes(self) -> NpuFacts:
        start = self._clock.now()
        while True:
            facts = self._read()
            held = [each for each in facts.processes if (each.npu_id, each.chip_id) in self._chips]
            if not held:
                return facts
            if self._clock.now() - start >= self._seconds:
                raise self._refused("other processes are on the NPUs of the service", held)
            self._clock.sleep(_POLL_SECONDS)

    def _refused(self, what: str, held: Collection[NpuProcess]) -> Refused:
        who = holders(held) or "no process is listed: look for containers and zombies"
        return Refused(
            f"{what} after {self._seconds:g} s: {who}",
            hint="npu-smi info; when they are gone, autotune tune --resume goes on",
        )


def chips_of(
    devices: Collection[int], facts: NpuFacts, environment: Mapping[str, str]
) -> frozenset[ChipPlace]:
    """The chips that `npuDeviceIds` mean; none where that can't be told.

    The numbers are logic ids, or with ASCEND_RT_VISIBLE_DEVICES places in that list of logic ids.
    """
    visible = [word.strip() for word in environment.get(_VISIBLE, "").split(",") if word.strip()]
    listed = [int(word) for word in visible if word.isdecimal()]
    named = {listed[device] for device in devices if device < len(listed)} if visible else set(devices)
    return frozenset((chip.npu_id, chip.chip_id) for chip in facts.chips if _logic_id(chip, facts) in named)


def _logic_id(chip: NpuChip, facts: NpuFacts) -> int | None:
    """Where the table and the map do not tell it, chips count in their order."""
    if any(each.logic_id is not None for each in facts.chips):
        return chip.logic_id
    return facts.chips.index(chip)
