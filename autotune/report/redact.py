"""Redact: a campaign without hosts, addresses, paths and users, for reports that leave the house.

The same name becomes the same stand-in everywhere, so that what belongs together still does.
"""

import dataclasses
import ipaddress
import re
from typing import Any, TypeVar

from autotune.model.campaign import Campaign
from autotune.model.settings import Settings

T = TypeVar("T")
ADDRESS = re.compile(
    r"(?<![\w.:])(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7})(?![\w.])"
)
PATH = re.compile(r"(?<![\w/.<])/(?!/)[^\s\"'`,;:(){}\[\]<>|]+")
USER = re.compile(r"\b[\w.+-]+(?=@[\w.-]+)")
HARDWARE_ADDRESS = re.compile(r"(?<![\w:])(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}(?![\w:])")
URL_HOST = re.compile(r"(?<=://)(?:[^\s/@\"']+@)?([A-Za-z][\w.-]*)")
LOGIN_HOST = re.compile(r"\b[\w.+-]+@([A-Za-z][\w.-]*\w)")
HOME = re.compile(r"(?<![\w.])/(?:home|Users)/([\w.-]+)")
LOOPBACK_NAMES = frozenset({"localhost"})


def redacted(campaign: Campaign) -> Campaign:
    """The same campaign with every text redacted; figures and settings stay."""
    return _Stand(campaign).of(campaign)


class _Stand:
    """Hands out stand-ins, the same one for the same name."""

    def __init__(self, campaign: Campaign) -> None:
        text = repr(campaign)
        named = {launch.host for launch in campaign.launches}
        named |= {*URL_HOST.findall(text), *LOGIN_HOST.findall(text)}
        self._hosts = _longest_first(named - LOOPBACK_NAMES - {""})
        self._users = _longest_first(set(HOME.findall(text)) - {""})
        self._numbers: dict[tuple[str, str], int] = {}

    def of(self, value: T) -> T:
        """`value` with every text in it redacted."""
        redacted_value: Any = value
        if isinstance(value, Settings):
            return value
        if isinstance(value, str):
            redacted_value = self._text(value)
        elif isinstance(value, tuple):
            redacted_value = tuple(map(self.of, value))
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            named = {field.name: self.of(getattr(value, field.name)) for field in dataclasses.fields(value)}
            redacted_value = dataclasses.replace(value, **named)
        return redacted_value  # type: ignore[no-any-return]  # rebuilt with the type it had

    def _text(self, text: str) -> str:
        for host in self._hosts:
            text = re.sub(rf"(?<![\w-]){re.escape(host)}(?![\w-])", self._stand_in("host", host), text)
        text = USER.sub("user", text)
        text = HARDWARE_ADDRESS.sub(lambda found: self._stand_in("address", found.group()), text)
        text = ADDRESS.sub(self._address, text)
        text = PATH.sub(_path, text)
        for user in self._users:
            text = re.sub(rf"(?<![\w-]){re.escape(user)}(?![\w-])", self._stand_in("user", user), text)
        return text

    def _address(self, found: re.Match[str]) -> str:
        try:
            address = ipaddress.ip_address(found.group())
        except ValueError:
            return found.group()
        if address.is_loopback or address.is_unspecified:
            return found.group()
        return self._stand_in("address", found.group())

    def _stand_in(self, kind: str, name: str) -> str:
        known = sum(other == kind for other, _ in self._numbers)
        return f"{kind}-{self._numbers.setdefault((kind, name), known + 1)}"


def _path(found: re.Match[str]) -> str:
    """The last part of a path says what it is; where it lies says whose it is."""
    path = found.group().rstrip("/.")
    if path.count("/") < 2:  # noqa: PLR2004 - /a alone tells nothing
        return found.group()
    return f"/…/{path.rsplit('/', 1)[-1]}"


def _longest_first(names: set[str]) -> list[str]:
    """So that a name within another is not replaced first."""
    return sorted(names, key=lambda name: (-len(name), name))
