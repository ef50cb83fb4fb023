"""Files as MindIE leaves them in /dev/shm; they carry the install's mark, so that no others are meant."""

import contextlib
import hashlib
import os
import re
from pathlib import Path
from typing import Final

SHARED_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - shared memory, not a temporary file
_SIZE: Final = 4096
_MODE: Final = 0o600


class SharedFiles:
    """The shared-memory files of one install."""

    def __init__(self, install: Path, *, folder: Path = SHARED_MEMORY) -> None:
        self._mark = hashlib.sha256(str(install).encode()).hexdigest()[:8]
        self._folder = folder
        self._held: list[int] = []
        """Open for as long as the process lives, so that everybody sees that the files are in use."""
        self._pattern = re.compile(
            rf"(?:emulated_{self._mark}_(\d+)_llm_backend_\d+"
            rf"|llm_tokenizer_shared_memory_emulated_{self._mark}_(\d+)_\d+)"
        )

    def create(self, *, ranks: int, tokenizers: int) -> None:
        """Make the files of this process; a folder that cannot be written goes without."""
        pid = os.getpid()
        names = [f"emulated_{self._mark}_{pid}_llm_backend_{rank}" for rank in range(ranks)]
        names += [
            f"llm_tokenizer_shared_memory_emulated_{self._mark}_{pid}_{number}"
            for number in range(tokenizers)
        ]
        with contextlib.suppress(OSError):
            for name in names:
                descriptor = os.open(self._folder / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _MODE)
                self._held.append(descriptor)
                os.write(descriptor, bytes(_SIZE))

    def remove_own(self) -> None:
        """Remove the files of this process, as a clean stop does."""
        for path, pid in self._found():
            if pid == os.getpid():
                path.unlink(missing_ok=True)
        while self._held:
            os.close(self._held.pop())

    def leftovers(self) -> tuple[Path, ...]:
        """Files of earlier processes of this install."""
        return tuple(path for path, pid in self._found() if pid != os.getpid())

    def _found(self) -> list[tuple[Path, int]]:
        try:
            entries = list(self._folder.iterdir())
        except OSError:
            return []
        found = []
        for path in entries:
            match = self._pattern.fullmatch(path.name)
            if match:
                found.append((path, int(match[1] or match[2])))
        return found
