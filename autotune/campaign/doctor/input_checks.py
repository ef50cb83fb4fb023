"""Inputs: the data set that is sent, and the files of the model."""

import json
from dataclasses import dataclass
from pathlib import Path

from autotune.campaign.doctor.check import Check, advice, error, fine
from autotune.errors import AutotuneError, UsageError
from autotune.load.from_profile import workload_of
from autotune.profile.schema import WorkloadSection
from autotune.sizing.model_shape import read_shape
from autotune.units import GiB

WEIGHTS = (".safetensors", ".bin", ".pt", ".pth", ".ckpt")
MOST_RIGHTS = 0o750
"""MindIE refuses weights with wider ones."""
_POINTER = b"version https://git-lfs"


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelFacts:
    """The model's directory as found."""

    path: Path | None
    """None when neither the profile nor the service names one."""
    mode: int | None = None
    """None when there is no such directory."""
    config: str | None = None
    """What config.json says; None when it cannot be read."""
    weights_bytes: int = 0
    missing: tuple[str, ...] = ()
    """Files that the index of the weights names and that are not there."""
    pointers: tuple[str, ...] = ()
    """Weights that are Git LFS pointers."""


def gather_model(path: Path | None) -> ModelFacts:
    """Look at the files; weights are not read, but for their first bytes where they are tiny."""
    try:
        mode = path.stat().st_mode & 0o7777 if path is not None and path.is_dir() else None
        if path is None or mode is None:
            return ModelFacts(path=path)
        files = [file for file in sorted(path.iterdir()) if file.suffix in WEIGHTS and file.is_file()]
        return ModelFacts(
            path=path,
            mode=mode,
            config=_text(path / "config.json"),
            weights_bytes=sum(file.stat().st_size for file in files),
            missing=_missing(path),
            pointers=tuple(file.name for file in files if _is_pointer(file)),
        )
    except PermissionError:
        return ModelFacts(path=path)


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError:
        return None


def _missing(path: Path) -> tuple[str, ...]:
    names = {name for index in path.glob("*.index.json") for name in _named_parts(index)}
    return tuple(sorted(name for name in names if not (path / name).is_file()))


def _named_parts(index: Path) -> frozenset[str]:
    """Files that an index of weights names; none when it cannot be read."""
    try:
        return frozenset(map(str, json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
    except (OSError, ValueError, AttributeError, KeyError, TypeError):
        return frozenset()


def _is_pointer(file: Path) -> bool:
    if file.stat().st_size >= 1024:  # noqa: PLR2004 - a pointer has some 130 bytes
        return False
    return file.read_bytes().startswith(_POINTER)


def model_check(facts: ModelFacts, *, mindie: bool, emulated: bool) -> Check:
    """Whether the service can load the model."""
    name, path = "model files", facts.path
    if path is None:
        return advice(name, "nothing names the model's directory", "add to the profile: model: {path: DIR}")
    if facts.mode is None:
        mend = f"ls -ld {path}   and correct model.path, or modelWeightPath of the service"
        return error(name, f"there is no readable directory {path}", mend)
    if mindie and facts.mode & ~MOST_RIGHTS:
        fact = f"{path} has mode {facts.mode:o}; the service takes 750 at most"
        return error(name, fact, f"chmod -R o-rwx,g-w {path}")
    return _contents(facts, path, emulated=emulated)


def _contents(facts: ModelFacts, path: Path, *, emulated: bool) -> Check:
    name = "model files"
    if facts.config is None:
        return error(name, f"{path} holds no readable config.json", f"ls -l {path}/config.json")
    if facts.missing or facts.pointers:
        what = f"{facts.missing[0]} is missing" if facts.missing else f"{facts.pointers[0]} is a pointer"
        return error(name, f"the weights are not complete: {what}", f"git -C {path} lfs pull")
    if not facts.weights_bytes and not emulated:
        return error(name, f"{path} holds no weights ({', '.join(WEIGHTS)})", f"ls -l {path}")
    return _shape(facts, path)


def _shape(facts: ModelFacts, path: Path) -> Check:
    size = f", {facts.weights_bytes / GiB:.1f} GiB of weights" if facts.weights_bytes else ""
    try:
        document = json.loads(facts.config or "")
        shape = read_shape(document)
    except ValueError as fault:
        return error("model files", f"{path}/config.json is not JSON: {fault}", "download the file again")
    except (AutotuneError, AttributeError) as fault:
        fact = f"{path}{size}; no formula for its cache: {fault}"
        return advice("model files", fact, "autotune estimate --blocks N   with the service's own number")
    return fine("model files", f"{path}, {shape.cached_layers} layers with a cache{size}")


def dataset_check(section: WorkloadSection, concurrency: int) -> Check:
    """Read the data set as a campaign would."""
    try:
        workload = workload_of(section)
    except UsageError as fault:
        mend = fault.hint or "correct workload.dataset in the profile"
        return error("data set", fault.message, mend)
    count = len(workload)
    where = f" from {section.dataset.path}" if section.dataset.path else ""
    shown = f"{count} prompts of {section.dataset.type}{where}"
    if count < concurrency and section.dataset.path is not None:
        fact = f"{shown}: fewer than the {concurrency} clients, each is sent several times at once"
        return advice("data set", fact, "give a larger set, or: --set workload.dataset.type=synthetic")
    return fine("data set", shown)
