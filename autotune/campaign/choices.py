"""Choices: what the command line asks for, beside the profile."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True, slots=True)
class Choices:
    """How one campaign is run; what is tuned, and how it is searched, is in the profile."""

    deadline_seconds: float | None = None
    rehearse: bool = False
    resume: bool = False
    """Go on with a stored run instead of beginning one."""
    resume_run: str | None = None
    """Which one; None is the newest unfinished run of the profile."""
    night: bool = False
    """A nightly run, which is never gone on with: the next night measures anew."""
    apply: bool = False
    """Put a proven winner in place."""
    output: Path | None = None
    """Directory of the report."""
