"""Trace: what the scheduler was asked and what it chose, for a replay; and how punctual the steps were."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, TextIO

from autotune.simulator.rounds import Idle, Round
from autotune.simulator.sequence import Sequence
from autotune.simulator.trace import Cancelled, Completed, Submitted, TraceEvent, asked, numbers_of
from autotune.simulator.trace_lines import line_of


class Trace:
    """One line for each call of the scheduler, in their order; without a file it does nothing.

    All calls are there, those for which there was nothing to do too, so that a replay in virtual time puts
    exactly these calls to a fresh scheduler.
    """

    def __init__(self, path: str = "") -> None:
        self._file: TextIO | None = Path(path).open("w", encoding="utf-8") if path else None  # noqa: SIM115

    @property
    def wanted(self) -> bool:
        """Whether there is a file."""
        return self._file is not None

    def submitted(self, sequence: Sequence, moment: float) -> None:
        """A request arrived."""
        self._add(Submitted(moment, sequence.number, sequence.prompt_tokens, sequence.output_tokens))

    def cancelled(self, sequence: Sequence) -> None:
        """A request was taken out."""
        self._add(Cancelled(sequence.number))

    def asked(self, answer: Round | Idle, moment: float) -> None:
        """The next round was asked for, and this was the answer."""
        if self.wanted:
            self._add(asked(answer, moment))

    def completed(self, finished: list[Sequence], moment: float) -> None:
        """The round is over, and these are finished."""
        if self.wanted:
            self._add(Completed(moment, numbers_of(finished)))

    def close(self) -> None:
        """Write what is left."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _add(self, event: TraceEvent) -> None:
        if self._file is not None:
            self._file.write(line_of(event) + "\n")


@dataclass(frozen=True, kw_only=True, slots=True)
class PunctualSecond:
    """The steps of one second of the host."""

    second: int
    """Since the service's clock began."""
    steps: int
    late_steps: int
    total_late: float
    """Seconds, summed up."""
    worst: float
    """Seconds."""
    tokens: int


class Punctuality:
    """How late the steps were done, second by second of the host."""

    LATE: Final = 0.002
    """Seconds from which a step counts as late."""

    def __init__(self) -> None:
        self._seconds: dict[int, list[float]] = {}

    def add(self, done: float, late: float, tokens: int) -> None:
        """Note a step that was done at `done`, this much after it was due; both in seconds of the host."""
        entry = self._seconds.setdefault(int(done), [0, 0, 0.0, 0.0, 0])
        entry[0] += 1
        entry[1] += late > self.LATE
        entry[2] += late
        entry[3] = max(entry[3], late)
        entry[4] += tokens

    def seconds(self) -> list[PunctualSecond]:
        """The seconds in which steps were done, in order."""
        return [
            PunctualSecond(
                second=second,
                steps=int(entry[0]),
                late_steps=int(entry[1]),
                total_late=entry[2],
                worst=entry[3],
                tokens=int(entry[4]),
            )
            for second, entry in sorted(self._seconds.items())
        ]

    def write(self, path: str) -> None:
        """Write the seconds as JSON."""
        lines = [asdict(second) for second in self.seconds()]
        Path(path).write_text(json.dumps(lines) + "\n", encoding="utf-8")
