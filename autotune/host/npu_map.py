"""Maps of npu-smi: which chip has which number (-m), and which CPUs are near which NPU (-t topo)."""

import re
from contextlib import suppress
from dataclasses import dataclass

from autotune.host.cpu_list import parse_cpu_list
from autotune.host.npu_chip import whole_number

_BLANKS = re.compile(r"\s{2,}|\t+")
_ROW = re.compile(r"\s*(?:NPU|Phy-ID)\s*(\d{1,9})\s+(.*\S)\s*")
_CPUS = re.compile(r"\d+(-\d+)?(,\d+(-\d+)?)*")


@dataclass(frozen=True, kw_only=True, slots=True)
class ChipNumbers:
    """The names that one chip goes by."""

    npu_id: int
    chip_id: int
    logic_id: int | None = None
    phy_id: int | None = None
    name: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class NpuAffinity:
    """The CPUs near one NPU; none where the table has no such column."""

    npu: int
    """NPU number, or physical chip number on cards with two chips."""
    cpus: tuple[int, ...]


def read_map(text: str) -> tuple[ChipNumbers, ...]:
    """Read `npu-smi info -m` by its header; rows of the board's controller are left out."""
    header: list[str] = []
    found: list[ChipNumbers] = []
    for line in text.splitlines():
        cells = _BLANKS.split(line.strip())
        if "NPU ID" in cells:
            header = cells
            continue
        row = dict(zip(header, cells, strict=False))
        npu_id = whole_number(row.get("NPU ID", ""))
        name = row.get("Chip Name", "")
        if npu_id is None or name.lower() == "mcu":
            continue
        found.append(
            ChipNumbers(
                npu_id=npu_id,
                chip_id=whole_number(row.get("Chip ID", "")) or 0,
                logic_id=whole_number(row.get("Chip Logic ID", "")),
                phy_id=whole_number(row.get("Chip Phy-ID", "")),
                name=name,
            )
        )
    return tuple(found)


def read_affinity(text: str) -> tuple[NpuAffinity, ...]:
    """Read `npu-smi info -t topo`; the last column counts only where it is a list of CPUs."""
    if "CPU Affinity" not in text:
        return ()
    found = []
    for line in text.splitlines():
        match = _ROW.fullmatch(line)
        last = match[2].split()[-1] if match else ""
        if match and _CPUS.fullmatch(last):
            with suppress(ValueError):  # a range that no host has
                found.append(NpuAffinity(npu=int(match[1]), cpus=parse_cpu_list(last)))
    return tuple(found)
