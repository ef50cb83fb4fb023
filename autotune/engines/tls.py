"""Tls: the certificates that every engine's control plane is given, and the context made of them."""

import ssl
from dataclasses import dataclass
from pathlib import Path

from autotune.errors import Refused


@dataclass(frozen=True, kw_only=True, slots=True)
class Tls:
    """PEM files for a service with httpsEnabled; they serve all of its planes."""

    ca: Path
    """One authority or several; the system's own are not trusted."""
    cert: Path | None = None
    key: Path | None = None
    password_file: Path | None = None
    """Holds the password of an encrypted key, in its first line."""


def client_context(tls: Tls) -> ssl.SSLContext:
    """Make the context of a client that always verifies. Raises Refused when a file does not serve."""
    hint = "give PEM files that belong together; tls.password_file for an encrypted key"
    try:
        context = ssl.create_default_context(cafile=str(tls.ca))
        if tls.cert is not None:
            context.load_cert_chain(tls.cert, tls.key, password=lambda: _password(tls))
    except (OSError, ssl.SSLError) as error:
        files = ", ".join(str(path) for path in (tls.ca, tls.cert, tls.key) if path)
        raise Refused(f"the certificates {files} cannot be used: {error}", hint=hint) from error
    return context


def _password(tls: Tls) -> str:
    """Never asked on a terminal: a background process would wait there for ever."""
    if tls.password_file is None:
        raise Refused(f"the key {tls.key} is encrypted", hint="name its password in tls.password_file")
    lines = tls.password_file.read_text(encoding="utf-8").splitlines()
    return lines[0] if lines else ""
