"""Lscpu: NUMA nodes and their CPUs from its plain, -J, -p and -e output, whatever the language."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from autotune.foreign import json_value, whole
from autotune.host.cpu_list import LARGEST_CPU, parse_cpu_list, parse_cpu_mask

_COLON = re.compile("[:：]")
_NUMBER = re.compile(r"\d{1,9}")
_CONTINUED = re.compile(r"[\d,\- ]+")
_HEADERS = {"CPU", "NODE"}


@dataclass(frozen=True, kw_only=True, slots=True)
class LscpuNode:
    """One NUMA node as lscpu lists it."""

    number: int
    text: str
    """The list as printed; empty for a node that has only memory."""
    cpus: tuple[int, ...] | None
    """None when the list can't be read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Lscpu:
    """What lscpu says of NUMA."""

    declared: int | None
    """How many nodes it says there are, which may be more than it lists."""
    nodes: tuple[LscpuNode, ...]

    @property
    def bad(self) -> tuple[int, ...]:
        """Nodes whose list can't be read."""
        return tuple(node.number for node in self.nodes if node.cpus is None)

    @property
    def odd_nodes_with_cpus(self) -> tuple[int, ...]:
        """Odd-numbered nodes that have CPUs."""
        return tuple(node.number for node in self.nodes if node.number % 2 and node.cpus)


def read_lscpu(text: str) -> Lscpu:
    """Read lscpu's output in any of its forms; text of another kind has no nodes."""
    stripped = text.lstrip("\ufeff \t\r\n")
    if stripped.startswith("{"):
        return _read_json(stripped)
    columns = _columns(text)
    return _read_rows(*columns) if columns else _read_plain(text)


def _read_plain(text: str) -> Lscpu:
    return _from_pairs(_plain_pairs(text))


def _plain_pairs(text: str) -> list[tuple[str, str]]:
    """Labels and values; a list that goes on in the next line is joined."""
    pairs: list[tuple[str, str]] = []
    for line in text.splitlines():
        label, *rest = _COLON.split(line, maxsplit=1)
        if rest:
            pairs.append((label.strip(), rest[0].strip()))
        elif pairs and pairs[-1][1].endswith(",") and _CONTINUED.fullmatch(line.strip()):
            pairs[-1] = (pairs[-1][0], pairs[-1][1] + line.strip())
    return pairs


def _from_pairs(pairs: list[tuple[str, str]]) -> Lscpu:
    """`NUMA node0 CPU(s)` has the node's number in its label in every language, the total has none."""
    declared = None
    nodes: dict[int, LscpuNode] = {}
    for label, value in pairs:
        if "NUMA" not in label.upper():
            continue
        number = _NUMBER.search(label)
        if number is not None:
            nodes[int(number[0])] = _node(int(number[0]), value)
        else:
            declared = declared if (count := whole(value)) is None else count
    return Lscpu(declared=declared, nodes=tuple(nodes[number] for number in sorted(nodes)))


def _node(number: int, text: str) -> LscpuNode:
    listed = text if text not in {"-", "none", "None"} else ""
    try:
        masked = bool(re.search("[a-fA-FxX]", listed))
        cpus = parse_cpu_mask(listed) if masked else parse_cpu_list(listed)
    except ValueError:
        return LscpuNode(number=number, text=text, cpus=None)
    return LscpuNode(number=number, text=text, cpus=cpus)


def _read_json(text: str) -> Lscpu:
    try:
        document = json_value(text)
    except ValueError:
        return Lscpu(declared=None, nodes=())
    rows = document.get("cpus") if isinstance(document, dict) else None
    if isinstance(rows, list):
        lowered = [
            {str(key).upper(): value for key, value in row.items()} for row in rows if isinstance(row, dict)
        ]
        return _read_rows(["CPU", "NODE"], [[str(row.get("CPU")), str(row.get("NODE"))] for row in lowered])
    return _from_pairs(list(_json_pairs(document)))


def _json_pairs(part: Any) -> Iterator[tuple[str, str]]:
    """Newer versions nest under `children`, older ones are flat."""
    if isinstance(part, list):
        for inner in part:
            yield from _json_pairs(inner)
    elif isinstance(part, dict):
        if isinstance(part.get("field"), str):
            yield part["field"].rstrip(":："), str(part.get("data") or "").strip()
        for inner in part.values():
            yield from _json_pairs(inner)


def _columns(text: str) -> tuple[list[str], list[list[str]]] | None:
    """Header and rows of -p (commas) or -e (blanks); None for other text."""
    header: list[str] | None = None
    rows: list[list[str]] = []
    for line in text.splitlines():
        commas = "," in line
        cells = [cell.strip() for cell in (line.lstrip("# ").split(",") if commas else line.split())]
        if _HEADERS.issubset(cell.upper() for cell in cells):
            header = [cell.upper() for cell in cells]
        elif header and cells and cells[0].isdecimal():
            rows.append(cells)
    return (header, rows) if header else None


def _read_rows(header: list[str], rows: list[list[str]]) -> Lscpu:
    """One row a CPU; a CPU without a node (no NUMA) belongs to node 0, an offline one to none."""
    found: dict[int, set[int]] = {}
    for row in rows:
        cells = dict(zip(header, row, strict=False))
        cpu = whole(cells.get("CPU", ""))
        if cells.get("ONLINE", "yes").lower() in {"no", "n"} or cpu is None or cpu > LARGEST_CPU:
            continue
        node = cells.get("NODE", "")
        found.setdefault(whole(node) or 0, set()).add(cpu)
    nodes = tuple(
        LscpuNode(number=number, text=",".join(map(str, sorted(cpus))), cpus=tuple(sorted(cpus)))
        for number, cpus in sorted(found.items())
    )
    return Lscpu(declared=len(nodes) or None, nodes=nodes)
