"""NPU chips and the processes on them, as npu-smi tells of them. Memory is in MiB, which it calls MB."""

from dataclasses import dataclass

from autotune.foreign import real, whole


@dataclass(frozen=True, kw_only=True, slots=True)
class NpuChip:
    """One chip; a card (NPU id) may carry two."""

    npu_id: int
    chip_id: int
    phy_id: int | None = None
    """Physical number over all cards, where the table has it."""
    logic_id: int | None = None
    """What npuDeviceIds means."""
    name: str = ""
    """As printed, such as 910B4-1, which may be cut."""
    health: str = ""
    bus_id: str = ""
    power_watts: float | None = None
    temperature_celsius: int | None = None
    busy_percent: int | None = None
    memory_used: int | None = None
    memory_total: int | None = None
    memory_kind: str = ""
    """HBM, or DDR on chips without it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NpuProcess:
    """A process that holds memory of a chip."""

    npu_id: int
    chip_id: int
    pid: int
    name: str = ""
    memory: int | None = None
    pid_in_container: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class NpuTable:
    """The whole of `npu-smi info`."""

    version: str = ""
    chips: tuple[NpuChip, ...] = ()
    processes: tuple[NpuProcess, ...] = ()


def whole_number(text: str) -> int | None:
    """The number, or None for NA, `-` and other words."""
    return whole(text)


def real_number(text: str) -> float | None:
    """The number, or None for NA, `-` and other words."""
    return real(text)
