"""The daemon's look at its config.json: which file, what it is like, and whether it passes the checks."""

import json
import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from autotune.emulator.default_config import newest_config
from autotune.errors import Refused
from autotune.mindie_rules import fields as config_fields
from autotune.mindie_rules.bounds import Version, parse_version
from autotune.mindie_rules.checks import FileFacts, PathKind, Rejected, Surroundings, Verdict, check_config
from autotune.mindie_rules.fields import Field, Layout
from autotune.mindie_rules.json_text import JsonValue, KeyPath, MalformedJson, parse

_V2_3: Final = parse_version("2.3.RC1")
_V1_RC3: Final = parse_version("1.0.RC3")
_WEIGHTS_MODE: Final = 0o750
_OLD_SERVER: Final = ("ipAddress", "port", "maxLinkNum", "httpsEnabled")
_OLD_BACKEND: Final = (
    "backendName",
    "npuDeviceIds",
    "ModelDeployConfig",
    "ScheduleConfig",
)
_OLD_MODEL: Final = (
    "modelInstanceType",
    "modelName",
    "modelWeightPath",
    "worldSize",
    "cpuMemSize",
    "npuMemSize",
    "backendType",
)
"""Fields that every version asks for; the others came with 2.3 or later and are filled in for older files."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Checked:
    """The verdict on a file, and its content when it is JSON."""

    path: Path
    verdict: Verdict
    document: JsonValue = None

    @property
    def accepted(self) -> bool:
        """Whether the service starts with it."""
        return not isinstance(self.verdict, Rejected)


def config_path(arguments: Mapping[str, str], environment: Mapping[str, str], install: Path) -> Path:
    """The file that the daemon takes: --config-file, MIES_CONFIG_JSON_PATH, or the home's own."""
    given = arguments.get("--config-file") or environment.get("MIES_CONFIG_JSON_PATH")
    if given:
        return Path(given)
    return home(environment, install) / "conf" / "config.json"


def home(environment: Mapping[str, str], install: Path) -> Path:
    """The home of the service: MINDIE_LLM_HOME_PATH in 3.x, MIES_INSTALL_PATH before, else the install."""
    given = environment.get("MINDIE_LLM_HOME_PATH") or environment.get("MIES_INSTALL_PATH")
    return Path(given) if given else install


def check_file(path: Path, *, install: Path, version: str) -> Checked:
    """Check a configuration as the daemon of this version does when it starts."""
    resolved = path.resolve()
    facts, text = _facts(resolved)
    surroundings = Surroundings(home=str(install), weights_usable=_weights_usable, path_kind=_path_kind)
    try:
        document = parse(text).value
    except MalformedJson:
        document = None
    known = parse_version(version)
    if known is not None and _V2_3 is not None and known < _V2_3 and document is not None:
        text = json.dumps(modernised(document), ensure_ascii=False)
        version = "1.0.RC3" if _V1_RC3 is not None and known < _V1_RC3 else version
    verdict = check_config(text, facts, surroundings, version=version)
    return Checked(path=resolved, verdict=verdict, document=document)


def _facts(path: Path) -> tuple[FileFacts, str]:
    uid = os.getuid()
    absent = FileFacts(path=str(path), process_uid=uid, owner_uid=uid, exists=False, size=0), ""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return absent
        data = path.read_bytes()
    except OSError:
        return absent
    facts = FileFacts(
        path=str(path),
        mode=stat.S_IMODE(status.st_mode),
        owner_uid=status.st_uid,
        process_uid=uid,
        size=status.st_size,
    )
    return facts, data.decode("utf-8", "surrogateescape")


def _weights_usable(path: str) -> bool:
    """A folder of mode 750 at most, no link, whose config.json is so too and holds JSON."""
    folder = Path(path)
    own = folder / "config.json"
    try:
        modes = [stat.S_IMODE(place.stat().st_mode) for place in (folder, own)]
        parse(own.read_text(encoding="utf-8", errors="surrogateescape"))
    except (OSError, MalformedJson):
        return False
    links = folder.is_symlink() or own.is_symlink()
    return not links and all(mode & ~_WEIGHTS_MODE == 0 for mode in modes)


def _path_kind(path: str) -> PathKind:
    place = Path(path)
    if place.is_dir():
        return PathKind.FOLDER
    return PathKind.FILE if place.is_file() else PathKind.ABSENT


def modernised(document: JsonValue) -> JsonValue:
    """A file of an older version as the newest would write it, so that one checker serves all.

    What has no place there stays away; a document that is no configuration comes back as it is.
    """
    try:
        layout = config_fields.layout_of(document)
    except Refused:
        return document
    if layout is Layout.PD:
        return document
    result: dict[str, Any] = {"EnableDynamicAdjustTimeoutConfig": False}
    if layout is Layout.GEN2 and isinstance(document, dict):
        result |= json.loads(json.dumps(document))
    else:
        _carry_over(document, result)
    newest = json.loads(newest_config())
    for name, old in (("ServerConfig", _OLD_SERVER), ("BackendConfig", _OLD_BACKEND)):
        section = result.get(name)
        if isinstance(section, dict):
            result[name] = _completed(section, newest[name], old)
    models = config_fields.value_at(result, _MODELS)
    if isinstance(models, list):
        example = newest["BackendConfig"]["ModelDeployConfig"]["ModelConfig"][0]
        models[:] = [
            _completed(model, example, _OLD_MODEL) if isinstance(model, dict) else model for model in models
        ]
    return result


_MODELS: Final[KeyPath] = ("BackendConfig", "ModelDeployConfig", "ModelConfig")


def _completed(section: dict[str, Any], newest: dict[str, Any], old: Sequence[str]) -> dict[str, Any]:
    """The section with the newer fields that it leaves out."""
    return {key: value for key, value in newest.items() if key not in old} | section


def _carry_over(document: JsonValue, result: dict[str, Any]) -> None:
    """Copy every field of the oldest layout to its place in the newest."""
    result["ServerConfig"] = {"allowAllZeroIpListening": True} | dict(
        _section(document, "OtherParam", "ServeParam")
    )
    result["BackendConfig"] = {}
    for field in Field:
        place = config_fields.path_of(field, Layout.GEN1)
        if config_fields.has(document, place):
            _put(result, config_fields.path_of(field, Layout.GEN2), config_fields.value_at(document, place))
    schedule = result["BackendConfig"].setdefault("ScheduleConfig", {})
    if str(schedule.get("templateName", "")).startswith("Standard_"):
        schedule["templateName"] = "Standard_LLM"
    deploy = result["BackendConfig"].setdefault("ModelDeployConfig", {})
    length = deploy.get("maxSeqLen")
    deploy.setdefault("maxInputTokenLen", min(length, 2048) if isinstance(length, int) else 2048)
    deploy.setdefault("truncation", 0)
    backend = result["BackendConfig"]
    backend.setdefault("backendName", "mindieservice_llm_engine")
    backend.setdefault("interNodeTLSEnabled", False)


def _section(document: JsonValue, *path: str) -> Mapping[str, JsonValue]:
    value = config_fields.value_at(document, path)
    return value if isinstance(value, dict) else {}


def _put(result: dict[str, Any], path: KeyPath, value: JsonValue) -> None:
    node: Any = result
    for step, following in pairwise(path):
        fresh: Any = [{}] if isinstance(following, int) else {}
        node = node.setdefault(step, fresh) if isinstance(step, str) else node[step]
    node[path[-1]] = value


def older_than(version: Version | None, other: str) -> bool:
    """Whether a version comes before another; an unknown one does not."""
    bound = parse_version(other)
    return version is not None and bound is not None and version < bound
