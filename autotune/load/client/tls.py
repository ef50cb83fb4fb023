"""TLS: the context of a private authority and a client certificate, with errors that name the file."""

import ssl
from dataclasses import dataclass
from pathlib import Path

from autotune.errors import UsageError


@dataclass(frozen=True, kw_only=True, slots=True)
class TlsFiles:
    """PEM files; None is not given."""

    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None
    password_file: Path | None = None
    """Holds the password of an encrypted key, in its first line."""


def context_of(files: TlsFiles) -> ssl.SSLContext:
    """A client context that always verifies. Raises UsageError when a file does not serve."""
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    if files.ca is not None:
        try:
            context.load_verify_locations(cafile=files.ca)
            context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # private authorities leave extensions out
        except (OSError, ssl.SSLError) as error:
            raise UsageError(
                f"the authority {files.ca} can't be used: {error}", hint="--ca takes PEM"
            ) from error
    if files.cert is not None:
        try:
            context.load_cert_chain(files.cert, files.key, password=lambda: _password(files))
        except (OSError, ssl.SSLError) as error:
            message = f"the client certificate {files.cert} with key {files.key} can't be used: {error}"
            raise UsageError(message, hint="--cert and --key take PEM files that belong together") from error
    elif files.key is not None:
        raise UsageError("a key without its certificate", hint="give --cert too")
    return context


def _password(files: TlsFiles) -> str:
    """Never asked on a terminal: a load worker has none."""
    if files.password_file is None:
        raise UsageError(
            f"the client key {files.key} is encrypted",
            hint="name its password in tls.password_file of a profile, or give a key without one",
        )
    lines = files.password_file.read_text(encoding="utf-8").splitlines()
    return lines[0] if lines else ""
