"""Surfaces of the search bench: tokens a second over (limit, concurrency), computed with the simulator.

python -m tests.bench.search.surfaces writes surfaces.json beside this file; about three minutes.
"""

import json
import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from autotune.model.settings import Settings
from autotune.simulator.closed_loop import Load
from autotune.simulator.lengths import LengthShape, synthetic_lengths
from autotune.simulator.presets import Preset, preset
from autotune.simulator.reading import Window, steady_state
from autotune.sizing.bracket import bracket, prefill_batch, request_blocks

FILE = Path(__file__).with_name("surfaces.json")
SPLITS = {
    "dev": ("guide", "guide-600-50", "tiny-vllm"),
    "test": ("half-blocks", "long-replies", "long-prompts"),
}
_LIMITS = 11
_REACH = 1.3
_WINDOW = Window(settle=2.5, requests=700)


@dataclass(frozen=True, kw_only=True)
class Surface:
    """What a launch at a limit reads under a concurrency; both axes ascending, linear in their logarithms."""

    limits: np.ndarray
    levels: np.ndarray
    speeds: np.ndarray
    """(limits, levels)."""
    running: np.ndarray
    preemptions: np.ndarray
    """A finished request."""

    def at(self, table: np.ndarray, limit: float, level: float) -> float:
        """One figure between the points; beyond the edges that of the edge."""
        across = [np.interp(math.log(level), np.log(self.levels), row) for row in table]
        return float(np.interp(math.log(limit), np.log(self.limits), across))


@dataclass(frozen=True, kw_only=True)
class _Case:
    name: str
    preset: Preset
    shape: LengthShape
    incumbent: int


def cases() -> tuple[_Case, ...]:
    """The services that are simulated; the first three develop, the others test."""
    llama, tiny = preset("llama3-8b"), preset("vllm-cpu-tiny")
    slow = replace(llama, rules=replace(llama.rules, prefill_time_ms_per_req=600, decode_time_ms_per_req=50))
    replies = LengthShape(input_tokens=200, output_tokens=700, max_output_tokens=1024)
    prompts = LengthShape(input_tokens=1200, output_tokens=250, max_output_tokens=400)
    return (
        _Case(name="guide", preset=llama, shape=llama.shape, incumbent=200),
        _Case(name="guide-600-50", preset=slow, shape=llama.shape, incumbent=435),
        _Case(name="tiny-vllm", preset=tiny, shape=tiny.shape, incumbent=32),
        _Case(name="half-blocks", preset=llama.with_blocks(1088), shape=llama.shape, incumbent=200),
        _Case(name="long-replies", preset=llama, shape=replies, incumbent=200),
        _Case(name="long-prompts", preset=llama, shape=prompts, incumbent=100),
    )


def simulated(case: _Case) -> dict:
    """One surface as JSON has it."""
    rules = case.preset.rules
    lengths = synthetic_lengths(case.shape, seed=1)
    found = bracket(
        blocks=rules.blocks,
        request=request_blocks(
            input_tokens=lengths.mean_prompt,
            output_tokens=lengths.mean_output,
            max_output_tokens=case.shape.max_output_tokens,
            block_size=rules.cache_block_size,
        ),
        source="formula",
    )
    low, high = max(2, found.low // 2), round(found.high * _REACH)
    limits = [round(low * (high / low) ** (index / (_LIMITS - 1))) for index in range(_LIMITS)]
    top = round(1.2 * high)
    levels = [*limits, top]
    tables: dict[str, list] = {"speeds": [], "running": [], "preemptions": []}
    for limit in limits:
        settings = Settings(max_batch_size=limit, max_prefill_batch_size=prefill_batch(limit))
        row = []
        for level in [*(each for each in levels if each <= limit), top]:
            load = Load(lengths=lengths, concurrency=level)
            reading = steady_state(rules.with_settings(settings), case.preset.cost, load, _WINDOW)
            row.append(
                (reading.tokens_per_second, reading.running_mean, reading.preemptions / reading.requests)
            )
        row += [row[-1]] * (len(levels) - len(row))  # above the limit a queue stands: nothing changes
        for name, values in zip(tables, zip(*row, strict=True), strict=True):
            tables[name].append([round(value, 4) for value in values])
    place = {"low": found.low, "start": found.start, "high": found.high, "blocks": rules.blocks}
    return {
        "name": case.name,
        "incumbent": case.incumbent,
        **place,
        "limits": limits,
        "levels": levels,
    } | tables


def surface_of(entry: dict) -> Surface:
    """Read one back."""
    names = ("limits", "levels", "speeds", "running", "preemptions")
    return Surface(**{name: np.array(entry[name], dtype=float) for name in names})


def stored(split: str) -> list[dict]:
    """The entries of a split."""
    entries = json.loads(FILE.read_text(encoding="utf-8"))["surfaces"]
    return [entry for entry in entries if entry["name"] in SPLITS[split]]


if __name__ == "__main__":
    surfaces = [simulated(case) for case in cases()]
    FILE.write_text(json.dumps({"surfaces": surfaces}) + "\n", encoding="utf-8")
