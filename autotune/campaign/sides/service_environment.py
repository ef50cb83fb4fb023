"""What the service is started with: the captured environment, and the profile's single values over it."""

import os
from pathlib import Path

from autotune.errors import UsageError
from autotune.process.environment import read_captured
from autotune.profile.schema import Profile
from autotune.profile.secret import SecretReference


def environment_of(profile: Profile) -> dict[str, str]:
    """The captured environment, or this shell's own; single values of the profile win.

    Raises UsageError when the file or a secret can't be read, or the file holds nothing.
    """
    section = profile.engine.environment
    captured = dict(os.environ) if section.file is None else _captured(section.file)
    values = {
        name: value.read(os.environ) if isinstance(value, SecretReference) else value
        for name, value in section.values.items()
    }
    return captured | values


def _captured(path: Path) -> dict[str, str]:
    variables = read_captured(path)
    if not variables:
        raise UsageError(
            f"{path} holds no variable: no service could be started with it",
            hint=f"write it with: env -0 > {path}",
        )
    return variables
