"""The checks of the certificates of the three planes: business, management, metrics."""

from dataclasses import dataclass
from typing import Final

from autotune.mindie_rules.checking.console import Console, elements, member
from autotune.mindie_rules.checking.surroundings import PathKind, Surroundings
from autotune.mindie_rules.checking.types import check_strings
from autotune.mindie_rules.json_text import JsonValue

MOST_FILES: Final = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class _Plane:
    """Keys and message parts of one plane."""

    prefix: str
    """What its keys begin with; the rest of a key then begins with a capital letter."""
    shown: str
    """How its keys are shown in messages about paths."""
    size_end: str
    """How the message about too many authorities ends."""
    tells_missing: bool
    """Whether a missing authority has a message of its own."""
    stops: bool
    """Whether a missing revocation list keeps the lists after it from being checked."""

    def key(self, rest: str) -> str:
        """The key in the file."""
        return self.prefix + rest if self.prefix else rest[:1].lower() + rest[1:]


_BUSINESS: Final = _Plane(prefix="", shown="serverConfig_.", size_end=" .", tells_missing=False, stops=False)
_MANAGEMENT: Final = _Plane(
    prefix="management", shown="ServerConfig.", size_end=".", tells_missing=True, stops=False
)
_METRICS: Final = _Plane(
    prefix="metrics", shown="ServerConfig.", size_end=".", tells_missing=True, stops=True
)


def certificates_readable(console: Console, section: JsonValue, *, planes_apart: bool) -> bool:
    """Whether the lists of files hold strings only."""
    keys = ["tlsCaFile", "tlsCrlFiles"]
    if planes_apart:
        keys += ["managementTlsCrlFiles", "managementTlsCaFile", "metricsTlsCrlFiles", "metricsTlsCaFile"]
    for key in keys:
        if not check_strings(console, member(section, key)):
            return console.refuse(f"{key} init error")
    return True


def check_certificates(
    console: Console, section: JsonValue, surroundings: Surroundings, *, planes_apart: bool
) -> bool:
    """Check the certificates of every plane; every fault is printed."""
    if surroundings.path_kind is None:
        return True
    planes = (_BUSINESS, _MANAGEMENT, _METRICS) if planes_apart else (_BUSINESS,)
    results = [_Checker(console, section, surroundings, plane).check() for plane in planes]
    return all(results)


@dataclass(frozen=True, slots=True)
class _Checker:
    console: Console
    section: JsonValue
    surroundings: Surroundings
    plane: _Plane

    def check(self) -> bool:
        results = [
            self.file(self.path("TlsCert"), "TlsCert"),
            self.revocation_lists(),
            self.authority_count(),
            self.folder(self.home(self.text("tlsCaPath")), self.shown_folder("tlsCaPath")),
            *[self.authority(name) for name in self.files("TlsCaFile")],
            self.file(self.path("TlsPk"), "TlsPk"),
        ]
        return all(results)

    def revocation_lists(self) -> bool:
        folder, files = self.text(self.plane.key("TlsCrlPath")), self.files("TlsCrlFiles")
        if not folder or not files:
            return True
        name = self.plane.key("TlsCrlFiles")
        good = len(files) <= MOST_FILES or self.console.refuse(
            f"ERR: serverConfig_.{name} size must in [0, {MOST_FILES}] ."
        )
        good = self.folder(self.home(folder), self.shown_folder(self.plane.key("TlsCrlPath"))) and good
        for file in files:
            path = self.home(folder) + file
            if self.kind(path) is not PathKind.FILE:
                good = self.console.refuse(f"ERR: serverConfig_.{name} file not exit .")
            elif good or not self.plane.stops:
                good = self.file(path, "TlsCrlFiles") and good
        return good

    def authority_count(self) -> bool:
        count, name = len(self.files("TlsCaFile")), self.plane.key("TlsCaFile")
        end = self.plane.size_end
        return 1 <= count <= MOST_FILES or self.console.refuse(
            f"ERR: serverConfig_.{name} size must in [1, {MOST_FILES}]{end}"
        )

    def authority(self, file: str) -> bool:
        path = self.home(self.text("tlsCaPath")) + file
        if self.plane.tells_missing and self.kind(path) is not PathKind.FILE:
            return self.console.refuse(f"ERR: serverConfig_.{self.plane.key('TlsCaFile')} file not exit .")
        return self.file(path, "TlsCaFile")

    def file(self, path: str, rest: str) -> bool:
        if self.kind(path) is not PathKind.ABSENT:
            return True
        name = path.rstrip("/").rsplit("/", 1)[-1]
        return self.console.refuse(
            f"The {self.plane.shown}{self.plane.key(rest)} path is invalid by: "
            f"The input file: {name} is not a regular file or not exists"
        )

    def folder(self, path: str, shown: str) -> bool:
        return self.kind(path) is PathKind.FOLDER or self.console.refuse(
            f"The {shown} path is not a dir by: "
        )

    def shown_folder(self, key: str) -> str:
        return self.plane.shown + key

    def kind(self, path: str) -> PathKind:
        probe = self.surroundings.path_kind
        return PathKind.FILE if probe is None else probe(path)

    def path(self, rest: str) -> str:
        return self.home(self.text(self.plane.key(rest)))

    def home(self, relative: str) -> str:
        return f"{self.surroundings.home}/{relative}"

    def text(self, key: str) -> str:
        value = member(self.section, key)
        return value if isinstance(value, str) else ""

    def files(self, rest: str) -> list[str]:
        names = {str(name) for name in elements(member(self.section, self.plane.key(rest)))}
        return sorted(names)
