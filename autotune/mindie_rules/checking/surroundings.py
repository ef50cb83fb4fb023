"""What the checker looks at besides config.json, as the caller sees it: weights, certificates, rank table."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, unique


@unique
class PathKind(Enum):
    """What stands at a path."""

    FILE = "file"
    FOLDER = "folder"
    ABSENT = "absent"


def _usable(_path: str) -> bool:
    return True


@dataclass(frozen=True, kw_only=True, slots=True)
class Surroundings:
    """The host around the file; what is not told is taken for right."""

    home: str = ""
    """Install directory; certificate paths are relative to it."""
    weights_usable: Callable[[str], bool] = _usable
    """Whether a modelWeightPath is a folder of mode 750 at most that holds a readable config.json."""
    path_kind: Callable[[str], PathKind] | None = None
    """What stands at a certificate's path; None passes over the certificates."""
    rank_table_usable: bool = True
    """Whether RANK_TABLE_FILE leads to a rank table; only several nodes need one."""
