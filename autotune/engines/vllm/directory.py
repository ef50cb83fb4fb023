"""Directory: the places of one launch, and the compiled graphs that launches with the same values share."""

from dataclasses import dataclass
from pathlib import Path

from autotune.errors import LaunchCause, LaunchFailed
from autotune.model.settings import Settings

_GRAPHS = ".torchair_cache"
"""What graph mode writes into the working directory; it must not outlive a change of parameters."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Directory:
    """Where one launch lives."""

    launch: Path

    @property
    def output(self) -> Path:
        """What the server prints."""
        return self.launch / "output.log"

    @property
    def cwd(self) -> Path:
        """Working directory of the server, of this launch alone."""
        return self.launch / "cwd"


def make_directory(work_dir: Path, settings: Settings) -> Directory:
    """Make the places of the next launch. Raises LaunchFailed(PERMISSION) when that can't be done."""
    number = 1 + sum(1 for _ in work_dir.glob("launch-*"))
    directory = Directory(launch=work_dir / f"launch-{number:03d}")
    graphs = _graphs(work_dir, settings)
    try:
        for path in (directory.launch, directory.cwd, graphs):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        (directory.cwd / _GRAPHS).symlink_to(graphs)
    except OSError as error:
        message = f"the working directory can't be written: {error.filename}: {error.strerror}"
        raise LaunchFailed(LaunchCause.PERMISSION, message, lines=(message,)) from error
    return directory


def is_compiled(work_dir: Path, settings: Settings) -> bool:
    """Whether an earlier start with the same values has left compiled graphs."""
    graphs = _graphs(work_dir, settings)
    return graphs.is_dir() and any(graphs.iterdir())


def _graphs(work_dir: Path, settings: Settings) -> Path:
    return work_dir / "graphs" / "-".join(str(value) for value in settings.as_dict().values())
