"""Records: the `key : value` forms of npu-smi (-t usages, common, memory, board, health, proc-mem, -l).

In `usages` and `proc-mem` the values of a chip come before its `Chip ID`, in `common` after it; blocks
named `mcu` are of the board's controller and no chip.
"""

import re
from dataclasses import dataclass, replace

from autotune.host.npu_chip import NpuProcess, whole_number

_PROCESS = re.compile(r"Process id:\s*(\d{1,18})\s+Process name:(.*?)\s*Process memory\(MB\):\s*(\d{1,18})")
_KEY_VALUE = re.compile(r"\s*([A-Za-z][^:|]*?)\s*:\s*(.*?)\s*")
_PERCENT = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class NpuRecord:
    """The values of one chip, in the order in which they were printed."""

    npu_id: int | None
    chip_id: int
    values: tuple[tuple[str, str], ...] = ()
    processes: tuple[NpuProcess, ...] = ()

    def text(self, key: str) -> str:
        """The value of a key; empty when there is none or it is NA."""
        value = next((value for name, value in self.values if name.lower() == key.lower()), "")
        return "" if value == "NA" else value

    def number(self, key: str) -> int | None:
        """The same as a whole number."""
        return whole_number(self.text(key))

    @property
    def memory_total(self) -> int | None:
        """MiB of HBM, or of DDR on chips without HBM."""
        capacities = (self.number(f"{kind} Capacity(MB)") for kind in ("HBM", "DDR"))
        return next((total for total in capacities if total), None) or self.number("Capacity(MB)")

    @property
    def memory_used(self) -> int | None:
        """MiB in use, as exact as whole percent are."""
        kind = "HBM" if self.number("HBM Capacity(MB)") else "DDR"
        total, percent = self.memory_total, self.number(f"{kind} Usage Rate(%)")
        return None if total is None or percent is None else round(total * percent / _PERCENT)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Reading:
    """Where the reading stands."""

    record: NpuRecord
    leads: bool = False
    """Whether `Chip ID` comes before its values."""
    in_controller: bool = False


def read_records(text: str) -> tuple[NpuRecord, ...]:
    """The chips of one or several outputs, one after the other."""
    done: list[NpuRecord] = []
    reading = _Reading(record=_empty(None))
    for line in text.splitlines():
        process = _PROCESS.search(line)
        pair = _KEY_VALUE.fullmatch(line)
        if process:
            reading = _with_process(reading, process)
        elif pair and not line.lstrip().startswith("|"):
            reading = _with_pair(reading, pair[1], pair[2], done)
    return tuple(done + _closed(reading.record))


def read_ids(text: str) -> tuple[int, ...]:
    """The NPU ids of `npu-smi info -l`, which may skip numbers."""
    ids = (whole_number(pair[2]) for line in text.splitlines() if (pair := _npu_line(line)))
    return tuple(dict.fromkeys(number for number in ids if number is not None))


def _npu_line(line: str) -> "re.Match[str] | None":
    pair = _KEY_VALUE.fullmatch(line)
    return pair if pair and pair[1].upper() == "NPU ID" else None


def _with_pair(reading: _Reading, key: str, value: str, done: list[NpuRecord]) -> _Reading:
    record = reading.record
    name = key.upper()
    if name == "NPU ID":
        done += _closed(record)
        return _Reading(record=_empty(whole_number(value)))
    if name == "CHIP ID":
        return _with_chip(reading, whole_number(value) or 0, done)
    if name == "CHIP NAME" and value.lower() == "mcu":
        return replace(reading, in_controller=True)
    if reading.in_controller or name in {"CHIP COUNT", "TOTAL COUNT"}:
        return reading
    return replace(reading, record=replace(record, values=(*record.values, (key, value))))


def _with_chip(reading: _Reading, chip_id: int, done: list[NpuRecord]) -> _Reading:
    """The first `Chip ID` shows which way round the form is."""
    record = reading.record
    if reading.leads or not (record.values or record.processes):
        if reading.leads:
            done += _closed(record)
        return _Reading(record=replace(_empty(record.npu_id), chip_id=chip_id), leads=True)
    owned = tuple(replace(process, chip_id=chip_id) for process in record.processes)
    done.append(replace(record, chip_id=chip_id, processes=owned))
    return _Reading(record=_empty(record.npu_id))


def _with_process(reading: _Reading, match: "re.Match[str]") -> _Reading:
    record = reading.record
    process = NpuProcess(
        npu_id=record.npu_id or 0,
        chip_id=record.chip_id,
        pid=int(match[1]),
        name=match[2].strip(),
        memory=int(match[3]),
    )
    return replace(reading, record=replace(record, processes=(*record.processes, process)))


def _empty(npu_id: int | None) -> NpuRecord:
    return NpuRecord(npu_id=npu_id, chip_id=0)


def _closed(record: NpuRecord) -> list[NpuRecord]:
    return [record] if record.values or record.processes else []
