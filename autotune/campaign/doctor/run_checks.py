"""Runs: who may write the profile, who holds the lock, and what an earlier run has left."""

import fcntl
import json
import os
import shlex
import stat
from dataclasses import dataclass
from pathlib import Path

from autotune.campaign.doctor.check import Check, advice, error, fine
from autotune.errors import NotRestored, ProfileError
from autotune.store.journal import unfinished
from autotune.store.state import StateDirectory


@dataclass(frozen=True, kw_only=True, slots=True)
class RunFacts:
    """The profile's file and the state directory."""

    profile: Path
    untrusted: ProfileError | None
    """Why nobody should let this profile decide what runs."""
    state: StateDirectory
    state_owner: int | None
    """None when the directory is not there yet."""
    holder: str | None
    """Who holds the service's lock; None for nobody."""
    left: int | None
    """Changes that a run has not put back; None when its journal cannot be read."""
    left_run: str = ""
    by_hand: bool = False
    """Host settings that were applied by hand are still in force."""


def gather_runs(
    profile: Path, untrusted: ProfileError | None, state: StateDirectory, lock: Path | None
) -> RunFacts:
    """Look; the lock is only tried, and given back at once."""
    try:
        found = unfinished(state.journal)
        left, run = (len(found.changes), found.run) if found else (0, "")
    except NotRestored:
        left, run = None, ""
    return RunFacts(
        profile=profile,
        untrusted=untrusted,
        state=state,
        state_owner=_owner(state.root),
        holder=_holder(lock) if lock is not None else None,
        left=left,
        left_run=run,
        by_hand=(state.root / "host-journal.json").is_file(),
    )


def _owner(folder: Path) -> int | None:
    try:
        facts = folder.lstat()
    except OSError:
        return None
    return facts.st_uid if stat.S_ISDIR(facts.st_mode) else -1


def _holder(lock: Path) -> str | None:
    try:
        descriptor = os.open(lock, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return _named(os.pread(descriptor, 4096, 0))
    finally:
        os.close(descriptor)
    return None


def _named(raw: bytes) -> str:
    try:
        document = json.loads(raw)
        return f"process {document['pid']} ({document['purpose']}), since {document['started']}"
    except (ValueError, KeyError, TypeError):
        return "a process that has not said its name"


def run_checks(facts: RunFacts, *, uid: int) -> tuple[Check, ...]:
    """Locks, leftovers and the profile's ownership."""
    return _locks(facts, uid), _profile(facts)


def _locks(facts: RunFacts, uid: int) -> Check:
    state = f"--state {shlex.quote(str(facts.state.root))}"
    if facts.holder is not None:
        mend = "wait until it ends, or stop it with Ctrl-C or SIGTERM: it puts everything back"
        return error("locks", f"another run holds this service: {facts.holder}", mend)
    if facts.left is None:
        fact = f"the crash journal {facts.state.journal} cannot be read"
        return error("locks", fact, "compare the configuration with its backup, then remove the journal")
    if facts.left:
        fact = f"run {facts.left_run} ended without putting everything back ({facts.left} changes are open)"
        return error("locks", fact, f"autotune recover {state}")
    if facts.state_owner is not None and facts.state_owner != uid:
        fact = f"the state directory {facts.state.root} belongs to uid {facts.state_owner}, you are {uid}"
        return error("locks", fact, "give another with store.state in the profile, or run as its owner")
    if facts.by_hand:
        fact = "host settings that `autotune host apply` made are in force"
        return advice("locks", fact, f"autotune host restore {state}")
    return fine("locks", f"no other run, nothing left behind ({facts.state.root})")


def _profile(facts: RunFacts) -> Check:
    if facts.untrusted is not None:
        fault = facts.untrusted.faults[0].message
        return error("profile", f"{facts.profile} {fault}; it decides what runs as you", facts.untrusted.hint)
    return fine("profile", f"{facts.profile} is yours or root's, and nobody else can write it")
