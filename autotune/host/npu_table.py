"""The table of `npu-smi info`: two rows a chip, then one row a process, in all widths and generations.

Differences that were met: with and without an HBM column, Phy-ID or Device beside the chip, two chips a
card with `-` as the second one's power, `65099/ 65536` without a blank, a last column for the pid in
a container, and on Ascend 950 a column for the NPU alone.
"""

import re
from dataclasses import dataclass, replace

from autotune.host.npu_chip import NpuChip, NpuProcess, NpuTable, real_number, whole_number

_VERSION = re.compile(r"npu-smi\s+\S+\s+Version\s*:\s*([^\s|]+)", re.IGNORECASE)
_PAIR = re.compile(r"(\d+)\s*/\s*(\d+)")
_BLANKS = re.compile(r"\s{2,}")
_LEAST_PROCESS_CELLS = 4
_CARD_COLUMNS = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class _Layout:
    """What the header says of the columns."""

    second_number: str = ""
    """PHY-ID or DEVICE beside the chip's number."""
    memory_kind: str = "DDR"
    process_columns: tuple[str, ...] = ()


def read_table(text: str) -> NpuTable:
    """Read the output of `npu-smi info`; other text gives an empty table."""
    version = _VERSION.search(text)
    layout = _Layout()
    open_chip: NpuChip | None = None
    chips: list[NpuChip] = []
    processes: list[NpuProcess] = []
    for cells in _rows(text):
        if _is_header(cells):
            layout = _with_header(layout, cells)
        elif layout.process_columns:
            processes += _process(cells, layout.process_columns)
        elif open_chip is None:
            open_chip = _first_row(cells)
        elif (following := _first_row(cells)) is not None and _is_name(following.name):
            chips.append(open_chip)  # a card in trouble has no second row
            open_chip = following
        else:
            chips.append(_second_row(open_chip, cells, layout))
            open_chip = None
    if open_chip is not None:
        chips.append(open_chip)
    return NpuTable(version=version[1] if version else "", chips=tuple(chips), processes=tuple(processes))


def _rows(text: str) -> list[list[str]]:
    """Cells of the lines between bars; rulers, the title and prompts are no rows."""
    rows = []
    for line in text.splitlines():
        stripped = line.strip()
        if not stripped.startswith("|") or _VERSION.search(stripped):
            continue
        cells = [cell.strip() for cell in stripped.strip("|").split("|")]
        if len(cells) == 1:
            cells = _BLANKS.split(cells[0])
        if not set("".join(cells)) <= set("+-= "):
            rows.append(cells)
    return rows


def _is_header(cells: list[str]) -> bool:
    words = " ".join(cells)
    return "Health" in words or "Bus-Id" in words or "Process id" in words


def _with_header(layout: _Layout, cells: list[str]) -> _Layout:
    words = " ".join(cells)
    if "Process id" in words:
        return replace(layout, process_columns=tuple(cell.lower() for cell in cells))
    if "Bus-Id" not in words:
        return replace(layout, process_columns=())
    names = cells[0].upper().split()
    return replace(
        layout,
        second_number=names[1] if len(names) > 1 else "",
        memory_kind="HBM" if "HBM-Usage" in words else "DDR",
    )


def _first_row(cells: list[str]) -> NpuChip | None:
    """`0     910B1 | OK | 271.1  41  0 / 0`; on Ascend 950 id and name have a column each."""
    if len(cells) < _CARD_COLUMNS - 1:
        return None
    number, _, name = " ".join(cells[:-2]).partition(" ")
    npu_id = whole_number(number)
    if npu_id is None:
        return None
    figures = cells[-1].split()
    return NpuChip(
        npu_id=npu_id,
        chip_id=0,
        name=name.strip(),
        health=cells[-2],
        power_watts=real_number(figures[0]) if figures else None,
        temperature_celsius=whole_number(figures[1]) if len(figures) > 1 else None,
    )


def _is_name(text: str) -> bool:
    """Whether it names a chip, such as 910B3; a second row has a number or nothing there."""
    return any(letter.isalpha() for letter in text)


def _second_row(chip: NpuChip, cells: list[str], layout: _Layout) -> NpuChip:
    """`0     0 | 0000:9D:00.0 | 0   0 / 0   3419 / 65536`; the last pair is the memory that counts."""
    numbers = [whole_number(word) for word in " ".join(cells[:-2]).split()]
    second = numbers[1] if len(numbers) > 1 else None
    figures = cells[-1].split()
    pairs = _PAIR.findall(cells[-1])
    used, total = (whole_number(pairs[-1][0]), whole_number(pairs[-1][1])) if pairs else (None, None)
    return replace(
        chip,
        chip_id=(numbers[0] if numbers else None) or 0,
        phy_id=second if layout.second_number == "PHY-ID" else None,
        logic_id=second if layout.second_number == "DEVICE" else None,
        bus_id=cells[-2] if len(cells) > 1 and ":" in cells[-2] else "",
        busy_percent=whole_number(figures[0]) if figures else None,
        memory_used=used,
        memory_total=total,
        memory_kind=layout.memory_kind,
    )


def _process(cells: list[str], columns: tuple[str, ...]) -> list[NpuProcess]:
    """`0       0 | 576489 | python | 60703`; `No running processes found` is none."""
    if len(cells) < _LEAST_PROCESS_CELLS:
        return []
    place = [whole_number(word) for word in cells[0].split()]
    row = dict(zip(columns, cells, strict=False))
    pid = whole_number(row.get("process id", ""))
    if pid is None or not place or place[0] is None:
        return []
    chip_id = place[1] if len(place) > 1 else whole_number(row.get("chip", ""))
    return [
        NpuProcess(
            npu_id=place[0],
            chip_id=chip_id or 0,
            pid=pid,
            name=row.get("process name", ""),
            memory=whole_number(row.get("process memory(mb)", "")),
            pid_in_container=whole_number(row.get("process id in container", "")),
        )
    ]
