"""Secrets: references to where a secret is kept, never the secret itself."""

import re
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

from autotune.errors import UsageError
from autotune.profile.places import ProfilePath

_WORDS = {
    "authorization",
    "cookie",
    "token",
    "secret",
    "password",
    "passwd",
    "apikey",
    "credential",
    "credentials",
}
_KEY_KINDS = {"api", "access", "secret", "private", "auth"}
_USERINFO = re.compile(r"[a-z][a-z0-9+.-]*://[^/@\s]*:[^/@\s]+@", re.IGNORECASE)
_SECRET_QUERY = re.compile(r"[?&][^=&#]*(token|secret|password|passwd|key|sign)[^=&#]*=", re.IGNORECASE)


class SecretReference(BaseModel):
    """`{env: NAME}` or `{file: PATH}`: where the secret is read from when it is needed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    env: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = None
    file: ProfilePath | None = None

    @model_validator(mode="after")
    def _names_one_place(self) -> "SecretReference":
        if (self.env is None) == (self.file is None):
            raise ValueError("a secret is {env: NAME} or {file: PATH}, one of the two")
        return self

    def read(self, environment: Mapping[str, str]) -> str:
        """The secret, without the final newline of its file.

        Raises UsageError when the variable is not set or the file can't be read.
        """
        if self.file is not None:
            return _read_file(self.file)
        name = self.env or ""
        if name not in environment:
            raise UsageError(f"the environment variable {name} is not set", hint=f"export {name}=...")
        return environment[name]


def looks_secret(name: str) -> bool:
    """Whether a header or variable of this name usually holds a secret."""
    words = re.split(r"[^a-z0-9]+", name.lower())
    pairs = pairwise(words)
    return bool(_WORDS & set(words)) or any(
        first in _KEY_KINDS and second == "key" for first, second in pairs
    )


def url_holds_secret(url: str) -> bool:
    """Whether a URL carries a password or a token in itself."""
    return bool(_USERINFO.match(url) or _SECRET_QUERY.search(url))


def _read_file(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the secret in {path} can't be read: {error}", hint=f"ls -l {path}") from error
