"""Reading a profile: text and overrides -> LoadedProfile, or every fault at once."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from autotune.errors import Fault, ProfileError
from autotune.profile.document import read_document
from autotune.profile.faults import faults_of
from autotune.profile.overrides import override
from autotune.profile.schema import Profile
from autotune.profile.trust import read_trusted_text


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadedProfile:
    """A profile, and what it was read from."""

    profile: Profile
    text: str
    """As it stands in the file; secrets are references and never values."""
    path: Path
    overrides: tuple[str, ...] = ()
    """The `key.path=value` texts laid over it."""
    effective: str = ""
    """What counts, as YAML: the text itself, or with overrides the values that came of them."""


def read_profile(path: Path, overrides: Sequence[str] = (), *, caller: int | None = None) -> LoadedProfile:
    """Read a profile file that root or the caller (a uid, this process's own when None) owns alone.

    Raises ProfileError with all faults.
    """
    text = read_trusted_text(path, caller=os.geteuid() if caller is None else caller)
    return parse_profile(text, path=path, overrides=overrides)


def parse_profile(text: str, *, path: Path, overrides: Sequence[str] = ()) -> LoadedProfile:
    """Read a profile's text as if it stood at `path`, which gives its folder and default name.

    Raises ProfileError with all faults.
    """
    document = read_document(text)
    if document.faults and not document.values:
        raise ProfileError(str(path), document.faults)
    changed = override(document.values, overrides)
    values: dict[Any, Any] = {"name": path.stem, **changed.values}
    faults = document.faults + changed.faults
    try:
        profile = Profile.model_validate(values, context={"folder": path.absolute().parent})
    except ValidationError as error:
        found = faults_of(error, values=values, lines=document.lines, overridden=changed.places)
        raise ProfileError(str(path), _in_order(faults + found)) from error
    if faults:
        raise ProfileError(str(path), _in_order(faults))
    return LoadedProfile(
        profile=profile,
        text=text,
        path=path,
        overrides=tuple(overrides),
        effective=_effective(changed.values, overrides) if overrides else text,
    )


def _effective(values: dict[str, Any], overrides: Sequence[str]) -> str:
    """The overridden values, headed by the overrides; the comments of the file are not in it."""
    said = "".join(f"# --set {' '.join(one.split())}\n" for one in overrides)
    return said + yaml.safe_dump(values, sort_keys=False, allow_unicode=True)


def _in_order(faults: tuple[Fault, ...]) -> tuple[Fault, ...]:
    return tuple(sorted(faults, key=lambda fault: (fault.line is not None, fault.line or 0)))
