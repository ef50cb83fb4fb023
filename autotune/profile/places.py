"""Paths of a profile: `~` expands, what is relative belongs to the profile's folder."""

import os
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, ValidationInfo


def resolve(text: str, folder: Path) -> Path:
    """The path that `text` means in a profile that lies in `folder`."""
    return Path(os.path.normpath(folder / Path(text).expanduser()))


def _resolve(value: object, info: ValidationInfo) -> object:
    """Resolve against the `folder` of the validation context; without one the path stays as written."""
    if isinstance(value, Path):
        value = str(value)
    if not isinstance(value, str):
        return value
    if not value.strip() or "\0" in value:
        raise ValueError("a path is not empty")
    folder = (info.context or {}).get("folder")
    try:
        return resolve(value, folder) if folder is not None else Path(value).expanduser()
    except RuntimeError as error:
        raise ValueError(f"{value!r}: {error}") from error


ProfilePath = Annotated[Path, BeforeValidator(_resolve)]
"""A path as a profile gives it."""
