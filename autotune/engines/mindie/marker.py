"""Marker: whether an install is an emulated one, and how fast its clock runs."""

from dataclasses import dataclass
from pathlib import Path

from autotune.errors import Refused
from autotune.foreign import json_value

FILE_NAME = "EMULATED"


@dataclass(frozen=True, kw_only=True, slots=True)
class Emulated:
    """What the marker file of an emulated install says."""

    time_scale: float
    """Seconds of the service's own clock in one second of the host."""
    version: str = ""
    """The version of MindIE that it stands in for."""


def read_marker(home: Path) -> Emulated | None:
    """Read the marker; None for a real install. Raises Refused when it is there and cannot be read."""
    path = home / FILE_NAME
    try:
        document = json_value(path.read_text(encoding="utf-8"))
        scale = float(document["time_scale"])
        if not 0 < scale < float("inf"):
            raise ValueError(f"time_scale {scale}")  # noqa: TRY301 - one refusal for all that is wrong
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise Refused(
            f"the marker of an emulated install cannot be read: {path}: {error}",
            hint="make the install anew with: autotune emulate --install DIR",
        ) from error
    return Emulated(time_scale=scale, version=str(document.get("version", "")))
