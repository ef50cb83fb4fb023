"""Tls: the certificates that every engine's control plane is given."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True, slots=True)
class Tls:
    """PEM files for a service with httpsEnabled; they serve all of its planes."""

    ca: Path
    """One authority or several; the system's own are not trusted."""
    cert: Path | None = None
    key: Path | None = None
    password_file: Path | None = None
    """Holds the password of an encrypted key, in its first line."""
