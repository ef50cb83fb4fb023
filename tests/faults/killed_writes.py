"""Edits and restores a configuration, and dies at every single write to the disk in turn, each in a fork.

python -m tests.faults.killed_writes FOLDER in-place|renamed: prints how many instants were tried, and ends
with 1 where `recover` did not put the file back.
"""

import errno
import os
import signal
import sys
from itertools import count
from pathlib import Path

from autotune.campaign.guards import this_run
from autotune.campaign.recover import recover
from autotune.engines.mindie import config_file
from autotune.store.journal import FileJournal
from autotune.store.state import StateDirectory

BEFORE = '{"BackendConfig": {"maxBatchSize": 200}}\n' + " " * 9000
AFTER = '{"BackendConfig": {"maxBatchSize": 435, "more": true}}\n' + " " * 100
EXPECTED = {"config.json", "state", "lock", "backups"}
WRITES = ("fsync", "replace", "pwrite", "ftruncate", "posix_fallocate", "unlink")


def die_at(step: int) -> None:
    """Kill this process right before its write number `step`."""
    seen = count(1)

    def counted(call):
        def write(*words, **names):
            if next(seen) == step:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*words, **names)

        return write

    for name in WRITES:
        setattr(os, name, counted(getattr(os, name)))


def refuse_renames() -> None:
    """As a bind-mounted file does."""
    real = os.replace

    def replace(source, target):
        if Path(target).name == "config.json":
            raise OSError(errno.EBUSY, "Device or resource busy")
        return real(source, target)

    os.replace = replace


def edit_and_restore(config: Path, state: StateDirectory) -> None:
    journal = FileJournal(state.journal, this_run("r"))
    change = config_file.replace(config, AFTER, journal, state.root / "backups")
    assert config.read_text() == AFTER
    config_file.restore(change, journal=journal)


def main() -> int:
    folder, how = Path(sys.argv[1]), sys.argv[2]
    config, state = folder / "config.json", StateDirectory(root=folder / "state")
    state.root.mkdir(mode=0o700)
    config.write_text(BEFORE)
    config.chmod(0o640)
    if how == "in-place":
        refuse_renames()
    for step in count(1):
        pid = os.fork()
        if pid == 0:
            die_at(step)
            edit_and_restore(config, state)
            os._exit(0)
        _, status = os.waitpid(pid, 0)
        recover(state)
        left = sorted(path.name for place in (folder, state.root) for path in place.iterdir())
        allowed = EXPECTED | ({".journal.json.new"} if os.WIFSIGNALED(status) else set())
        if config.read_text() != BEFORE or not set(left) <= allowed:
            print(f"dead before write {step}: {left} {config.read_text()[:80]!r}")
            return 1
        if not os.WIFSIGNALED(status):
            print(step - 1)
            return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
