"""The host, report, nightly and store sections: what surrounds a campaign."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from autotune.profile.places import ProfilePath
from autotune.profile.secret import SecretReference, url_holds_secret
from autotune.profile.section import Flag, Section, TextOrSecret

_CPUS = re.compile(r"odd-numa-node|node\d+|\d+(-\d+)?(,\d+(-\d+)?)*")
_WINDOW = re.compile(r"([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)")


def _cpu_list(value: object) -> object:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if isinstance(value, str) and not _CPUS.fullmatch(value):
        raise ValueError(f"{value!r} is not odd-numa-node, a node like node3, or a list like 24-47,72-95")
    return value


def _window(value: str) -> str:
    match = _WINDOW.fullmatch(value)
    if match is None:
        raise ValueError(f'{value!r} is not a window; write it like "02:00-05:00"')
    if match.group(1, 2) == match.group(3, 4):
        raise ValueError(f"{value!r} is empty")
    return value


def _without_secret(value: str | SecretReference | None) -> str | SecretReference | None:
    if isinstance(value, str) and url_holds_secret(value):
        raise ValueError("the URL holds a secret; write {env: NAME} or {file: PATH} instead")
    return value


Url = Annotated[TextOrSecret | None, AfterValidator(_without_secret)]


class HostSection(Section):
    """Host settings during trials; None leaves one alone."""

    governor: Annotated[str, Field(pattern=r"^[a-z_]+$")] | None = "performance"
    transparent_hugepages: Literal["always", "madvise", "never"] | None = "always"
    cpus: Annotated[str, BeforeValidator(_cpu_list)] | None = "odd-numa-node"
    memory: Literal["preferred", "bind"] | None = None
    """Memory of the NUMA node of the service's CPUs, set by numactl: preferred, or from nowhere else (bind),
    which may run out. Needs `cpus`."""
    stop_services: tuple[Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9@._-]*$")], ...] = ()
    """systemd services that work against the trials, such as irqbalance or tuned; started again after."""
    keep: Flag = False
    """Leave them as in the trials when a winner is applied."""
    always_with_large_pages: Flag = False
    """Consent to `always` on a kernel with 64 KiB pages, where one huge page is 512 MiB."""


class ReportSection(Section):
    """Where reports go and in which language."""

    directory: ProfilePath = Field(default="reports", validate_default=True)
    language: Literal["en", "zh"] = "en"
    ceiling: Annotated[float, Field(gt=0)] | None = None
    """Tokens a second of the bare model in a static test (run_pa, modeltest); the report compares with it."""


class NightlySection(Section):
    """The nightly job: when it may run, whether it applies a winner, whom it tells."""

    window: Annotated[str, AfterValidator(_window)] | None = "02:00-05:00"
    """Local time; may cross midnight. None is always open."""
    apply: Flag = False
    textfile: ProfilePath | None = None
    webhook: Url = None

    @property
    def window_minutes(self) -> tuple[int, int] | None:
        """Begin and end in minutes after midnight; the end is smaller when it crosses midnight."""
        if self.window is None:
            return None
        begin_hour, begin_minute, end_hour, end_minute = (int(part) for part in re.split("[:-]", self.window))
        return begin_hour * 60 + begin_minute, end_hour * 60 + end_minute


class StoreSection(Section):
    """Where studies are kept; None is a SQLite file in the state directory."""

    url: Url = None
    state: ProfilePath | None = None
