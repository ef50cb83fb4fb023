"""The EMULATED file of an emulated install: that it is one, how fast it runs, and what goes wrong in it."""

import json
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final

from autotune.emulator.faults import Faults, read_faults
from autotune.errors import UsageError
from autotune.foreign import json_value

FILE_NAME: Final = "EMULATED"
STATE_NAME: Final = "EMULATED.state"


@dataclass(frozen=True, kw_only=True, slots=True)
class Emulation:
    """How an install behaves, beside its config.json. Durations are seconds of the service's own clock."""

    time_scale: float = 1.0
    """The service runs this many times faster than what it stands in for."""
    version: str = "3.0"
    """MindIE's version: 1.0.RC2, 1.0.0, 2.0, 2.3, 3.0 and so on; the layout of config.json follows it too."""
    model: str = "llama3-8b"
    """Name of the preset that gives step times and reply lengths."""
    blocks: int = 2176
    """npuBlockNum: the first number of k_caches[0].shape."""
    seed: int = 1
    noise: float | None = None
    """Relative standard deviation of the time of a step, without the slow wander; None takes the preset's."""
    start_seconds: float = 20.0
    """How long loading the model takes."""
    mean_output_tokens: float | None = None
    """Mean of the reply lengths where a request does not ask for an exact number; None takes the preset's."""
    trace: str = ""
    """A file that gets one JSON line for every arrival, round and cancellation; empty for none."""
    statistics: str = ""
    """A file that gets the lateness of the steps as JSON when the service ends; empty for none."""
    faults: Faults = field(default_factory=Faults)

    def __post_init__(self) -> None:
        if not 0 < self.time_scale <= 1000:  # noqa: PLR2004 - a step of 50 ms would last 50 microseconds
            raise UsageError(f"time_scale must lie in (0, 1000]: {self.time_scale}")
        if self.blocks < 2:  # noqa: PLR2004 - one block is kept back by the service
            raise UsageError(f"blocks must be at least 2: {self.blocks}")


def write_marker(install: Path, emulation: Emulation) -> Path:
    """Write the marker of an install and return its path."""
    path = install / FILE_NAME
    path.write_text(json.dumps(asdict(emulation), indent=4) + "\n", encoding="utf-8")
    return path


def read_marker(install: Path) -> Emulation:
    """How the install behaves. Raises UsageError when the marker is missing or wrong."""
    path = install / FILE_NAME
    try:
        values = json_value(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: {error}", hint="make the install again") from error
    if not isinstance(values, dict):
        raise UsageError(f"{path}: not a JSON object", hint="make the install again")
    return _emulation(path, values)


def _emulation(path: Path, values: dict[str, Any]) -> Emulation:
    known = {each.name for each in fields(Emulation)} - {"faults"}
    unknown = sorted(set(values) - known - {"faults"})
    if unknown:
        raise UsageError(
            f"{path}: unknown: {', '.join(unknown)}", hint=f"known are {', '.join(sorted(known))}"
        )
    faults = read_faults(values.get("faults", {}))
    try:
        return replace(Emulation(**{name: values[name] for name in known if name in values}), faults=faults)
    except TypeError as error:
        raise UsageError(f"{path}: {error}", hint="make the install again") from error


def count_launch(install: Path) -> int:
    """The number of this launch of the install, 1 for the first; kept beside the marker.

    An install that cannot be written counts every launch as its second.
    """
    path = install / STATE_NAME
    try:
        number = json.loads(path.read_text(encoding="utf-8"))["launches"] + 1
    except (OSError, ValueError, KeyError, TypeError):
        number = 1
    try:
        path.write_text(json.dumps({"launches": number}) + "\n", encoding="utf-8")
    except OSError:
        return 2
    return int(number)


class FaultWatch:
    """The faults of an install as they are now: the marker is read again when it has changed."""

    def __init__(self, install: Path, faults: Faults) -> None:
        self._install = install
        self._stamp = self._stamp_now()
        self.now = faults

    def refresh(self) -> bool:
        """Read the marker again if it changed; a marker that cannot be read leaves all as it is."""
        stamp = self._stamp_now()
        if stamp == self._stamp:
            return False
        try:
            self.now = read_marker(self._install).faults
        except UsageError:
            return False
        self._stamp = stamp
        return True

    def _stamp_now(self) -> tuple[int, int]:
        try:
            facts = (self._install / FILE_NAME).stat()
        except OSError:
            return (0, 0)
        return (facts.st_mtime_ns, facts.st_size)
