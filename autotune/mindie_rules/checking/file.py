"""The checks of config.json as a file: size, owner, mode, in this order."""

from dataclasses import dataclass
from typing import Final

from autotune.mindie_rules.checking.console import Console

MODE: Final = 0o640
SIZE_HIGH: Final = 10 * 1024 * 1024
_RIGHTS: Final = ((6, "Owner permission"), (3, "Owner group permission"), (0, "Other group permission"))
_THREE_BITS: Final = 0o7


@dataclass(frozen=True, kw_only=True, slots=True)
class FileFacts:
    """What the checker sees of the file besides its text."""

    path: str = "/conf/config.json"
    mode: int = MODE
    owner_uid: int = 0
    process_uid: int = 0
    size: int | None = None
    """Bytes; None takes the length of the text in UTF-8."""
    is_link: bool = False
    """A link inside of the path that is left after the given path was resolved; a link given as the path is
    resolved first and accepted, so say False for it."""
    exists: bool = True

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rstrip("/").rsplit("/", 1)[-1]


def check_file(console: Console, facts: FileFacts, size: int) -> bool:
    """Check the file; the text is not looked at."""
    if facts.is_link:
        return console.refuse(f"The file: {facts.name} is a link.")
    if not facts.exists:
        return console.refuse(f"The input file: {facts.name} is not a regular file or not exists")
    if not 1 <= size <= SIZE_HIGH:
        console.complain(f"Input data size({size}) out of range[1,{SIZE_HIGH}].")
        return console.refuse(f"Read input file: {facts.name} failed, file is too large")
    if facts.owner_uid != facts.process_uid:
        return console.refuse(
            f"Check path: {facts.name} failed, by:owner id diff: current process user id is "
            f"{facts.process_uid}, file owner id is {facts.owner_uid}"
        )
    return _check_mode(console, facts)


def _check_mode(console: Console, facts: FileFacts) -> bool:
    for shift, who in _RIGHTS:
        has, may = facts.mode >> shift & _THREE_BITS, MODE >> shift & _THREE_BITS
        if has & ~may:
            return console.refuse(
                f"Check path: {facts.name} failed, by: Check {who} failed: {facts.path} "
                f"current permission is {has}, but required no greater than {may}. "
                f"Required permisssion is {MODE:o}, but got permission is {facts.mode & 0o777:o}"
            )
    return True
