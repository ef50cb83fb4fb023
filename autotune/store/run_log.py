"""Run log: a second copy of a campaign beside its database, one line a fact.

It is written before the database, and read only by `--resume`: a database that was cut, locked or on a full
disk lacks launches that had ended.
"""

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from autotune.model.campaign import Campaign, Decision
from autotune.model.launch import LaunchRecord
from autotune.store.codec import Json, Unreadable, decode, encode

FILE_NAME = "campaign.jsonl"
_CAMPAIGN, _LAUNCH, _DECISION = "campaign", "launch", "decision"


@dataclass(frozen=True, kw_only=True, slots=True)
class RunLog:
    """Appends to the log of one run. A line that cannot be written is left out: the database has it."""

    path: Path

    def campaign(self, campaign: Campaign) -> None:
        """The campaign as it stands, its launches and decisions left aside."""
        self._append(_CAMPAIGN, encode(replace(campaign, launches=(), decisions=()), Campaign))

    def launch(self, record: LaunchRecord) -> None:
        """A launch ended or failed."""
        self._append(_LAUNCH, encode(record, LaunchRecord))

    def decision(self, decision: Decision) -> None:
        """The strategy made one move."""
        self._append(_DECISION, encode(decision, Decision))

    def _append(self, kind: str, document: Json) -> None:
        line = "\n" + json.dumps({"kind": kind, "value": document}) + "\n"  # a cut line before it ends here
        with suppress(OSError):
            handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            try:
                os.write(handle, line.encode())
                os.fsync(handle)
            finally:
                os.close(handle)


@dataclass(kw_only=True, slots=True)
class _Read:
    campaign: Campaign | None = None
    launches: dict[int, LaunchRecord] = field(default_factory=dict)
    decisions: list[Decision] = field(default_factory=list)

    def take(self, entry: dict[str, Json]) -> None:
        match entry.get("kind"):
            case "campaign":
                self.campaign = decode(entry["value"], Campaign)
            case "launch":
                record = decode(entry["value"], LaunchRecord)
                self.launches[record.number] = record
            case "decision":
                self.decisions.append(decode(entry["value"], Decision))
            case _:
                return


def read_log(path: Path) -> Campaign | None:
    """The campaign that a log tells of, with the launches that ended; None when it tells of none.

    A line that a crash has cut is left out.
    """
    read = _Read()
    for entry in _entries(path):
        with suppress(Unreadable, KeyError):
            read.take(entry)
    if read.campaign is None:
        return None
    launches = tuple(read.launches[number] for number in sorted(read.launches))
    return replace(read.campaign, launches=launches, decisions=tuple(read.decisions))


def _entries(path: Path) -> Iterator[dict[str, Json]]:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        entry = _entry(line)
        if entry is not None:
            yield entry


def _entry(line: str) -> dict[str, Json] | None:
    try:
        document = json.loads(line)
    except ValueError:
        return None
    return document if isinstance(document, dict) else None
