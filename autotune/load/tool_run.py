"""ToolRun: one run of another program in its own directory, with a time limit, ended with all it started."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from autotune.model.change import ProcessStarted
from autotune.model.protocols import Clock, Journal
from autotune.process.child import start
from autotune.process.ending import end
from autotune.process.identity import Identity, boot_id
from autotune.process.output import CAP_BYTES, OutputReader, plain, tail
from autotune.process.tree import Tree

_LOOK_SECONDS = 0.1
_GRACE_SECONDS = 5.0
_SHOWN_LINES = 3
_OUTPUT = "output.txt"


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolEnd:
    """How a run ended. Seconds of the host's clock."""

    output: str
    """What it printed, both streams, without colours."""
    code: int | None
    """Exit code; None when it was ended before."""
    seconds: float
    why_ended: str = ""
    """Why it was ended before its own end."""
    last_lines: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolPlace:
    """Where runs take place."""

    directory: Path
    """Each run gets an empty one below it."""
    cpus: Collection[int]
    """CPUs that the service does not have; none is no binding."""
    journal: Journal
    clock: Clock

    def fresh(self) -> Path:
        """The next empty directory; those of earlier runs stay for whoever wants to look."""
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        number = 1 + sum(1 for _ in self.directory.iterdir())
        while True:
            place = self.directory / f"{number:03d}"
            try:
                place.mkdir(mode=0o750)
            except FileExistsError:
                number += 1
            else:
                return place


def run_tool(
    argv: tuple[str, ...],
    *,
    environment: Mapping[str, str],
    directory: Path,
    place: ToolPlace,
    seconds: float,
    look: Callable[[float], str | None],
) -> ToolEnd:
    """Run it to its end, at most so many seconds of the host's clock.

    `look` is called several times a second with the seconds that have passed; a text that it gives ends
    the run. The process is in the journal while it runs, and nothing of its tree outlives it.
    Raises LaunchFailed when it can't be started.
    """
    output = directory / _OUTPUT
    changes: list[ProcessStarted] = []

    def note(identity: Identity) -> None:
        change = ProcessStarted(
            pid=identity.pid, create_time=identity.create_time, boot_id=boot_id(), command=argv[0]
        )
        place.journal.record(change)
        changes.append(change)

    began = place.clock.now()
    try:
        child = start(
            argv, env=environment, cwd=directory, output=output, cpus=place.cpus or None, before_exec=note
        )
        reader, why = OutputReader(output), ""
        try:
            while (code := child.wait(_LOOK_SECONDS)) is None and not why:
                passed = place.clock.now() - began
                why = look(passed) or ("" if passed < seconds else f"took longer than {seconds:.0f} s")
                reader.cap()
        finally:
            end(Tree(child.identity), grace=_GRACE_SECONDS, clock=place.clock, child=child)
    finally:
        for change in changes:
            place.journal.settle(change)
    return ToolEnd(
        output=_text(output),
        code=None if why else code,
        seconds=place.clock.now() - began,
        why_ended=why,
        last_lines=tail(output, lines=_SHOWN_LINES),
    )


def _text(output: Path) -> str:
    with output.open("rb") as file:
        text = file.read(2 * CAP_BYTES).decode(errors="replace")
    return "\n".join(plain(line, characters=None) for line in text.splitlines())
