"""vLLM's /metrics: capacity and counters, under the names of its older and newer versions."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from autotune.foreign import whole
from autotune.model.service import Counters

_SAMPLE: Final = re.compile(r"^([A-Za-z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)")
_LABEL: Final = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_CACHE_INFO: Final = "cache_config_info"
_RUNNING: Final = ("num_requests_running",)
_WAITING: Final = ("num_requests_waiting",)
_USAGE: Final = ("kv_cache_usage_perc", "gpu_cache_usage_perc", "npu_cache_usage_perc")
_PREEMPTIONS: Final = ("num_preemptions_total", "num_preemptions")
_GENERATED: Final = ("generation_tokens_total", "generation_tokens")


@dataclass(frozen=True, kw_only=True, slots=True)
class Capacity:
    """The KV cache; None where the version does not say."""

    blocks: int | None = None
    block_size: int | None = None
    tokens: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """One reply of /metrics. Running and waiting are sums over engines, usage is the mean."""

    capacity: Capacity
    running: int | None
    waiting: int | None
    preemptions: int | None
    generated: int | None
    usage: float | None
    """Fraction of the KV cache in use."""

    def counters(self, blocks: int | None) -> Counters:
        """The counters; `blocks` is the capacity that this launch found."""
        free = None if blocks is None or self.usage is None else round(blocks * (1.0 - self.usage))
        return Counters(
            running=self.running,
            waiting=self.waiting,
            preemptions=self.preemptions,
            free_blocks=free,
            total_blocks=None if free is None else blocks,
        )


def read_metrics(body: str) -> Reading:
    """Read Prometheus text; names with `vllm:`, `vllm_` or `ray_vllm_` before them are the same."""
    sums: dict[str, list[float]] = {}
    capacity = Capacity()
    for line in body.splitlines():
        found = _SAMPLE.match(line)
        name = _bare(found[1]) if found else None
        if found is None or name is None:
            continue
        if name == _CACHE_INFO:
            capacity = _smaller(capacity, _capacity(found[2] or ""))
            continue
        number = _float(found[3])
        if number is not None:
            sums.setdefault(name, []).append(number)
    usage = _values(sums, _USAGE)
    return Reading(
        capacity=capacity,
        running=_total(sums, _RUNNING),
        waiting=_total(sums, _WAITING),
        preemptions=_total(sums, _PREEMPTIONS),
        generated=_total(sums, _GENERATED),
        usage=sum(share / len(usage) for share in usage) if usage else None,
    )


def _bare(name: str) -> str | None:
    bare = re.sub(r"^(?:ray_)?vllm[:_]", "", name)
    return None if bare == name else bare


def _capacity(labels: str) -> Capacity:
    values = dict(_LABEL.findall(labels))
    return Capacity(
        blocks=_whole(values, "num_gpu_blocks"),
        block_size=_whole(values, "block_size"),
        tokens=_whole(values, "kv_cache_size_tokens"),
    )


def _smaller(before: Capacity, found: Capacity) -> Capacity:
    """Of several engines the one that holds less: a limit is the same for all of them."""
    return found if before.blocks is None or (found.blocks or before.blocks) < before.blocks else before


def _whole(values: Mapping[str, str], name: str) -> int | None:
    number = whole(values.get(name, ""))
    return number or None


def _values(sums: Mapping[str, list[float]], names: tuple[str, ...]) -> list[float]:
    return next((sums[name] for name in names if name in sums), [])


def _total(sums: Mapping[str, list[float]], names: tuple[str, ...]) -> int | None:
    values = _values(sums, names)
    total = sum(values)
    return round(total) if values and abs(total) < float("inf") else None


def _float(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if abs(number) < float("inf") else None
