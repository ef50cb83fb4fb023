"""Addresses: where a service with this configuration listens, as a client on the same host reaches it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from autotune.mindie_rules.fields import (
    CONTAINER_IP,
    CONTAINER_MANAGEMENT_IP,
    Field,
    Layout,
    layout_of,
    read_bool,
    read_int,
    read_text,
)
from autotune.mindie_rules.json_text import JsonValue

_ANY = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - read from a configuration, never bound
_NOTHING: Final[Mapping[str, str]] = {}
DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT, DEFAULT_MANAGEMENT_PORT = 1025, 1026


@dataclass(frozen=True, kw_only=True, slots=True)
class Addresses:
    """The three planes of a service."""

    scheme: str
    host: str
    port: int
    management_host: str
    management_port: int
    metrics_port: int | None = None
    """None where the version has no metrics port of its own."""

    @property
    def business(self) -> str:
        """URL of the business interfaces, without a trailing slash."""
        return self._url(self.host, self.port)

    @property
    def management(self) -> str:
        """URL of the management interfaces."""
        return self._url(self.management_host, self.management_port)

    @property
    def metrics(self) -> str | None:
        """URL of the metrics interface."""
        return None if self.metrics_port is None else self._url(self.management_host, self.metrics_port)

    @property
    def ports(self) -> tuple[int, ...]:
        """All ports that the service binds, each once."""
        ports = (self.port, self.management_port, self.metrics_port)
        return tuple(dict.fromkeys(port for port in ports if port is not None))

    def _url(self, host: str, port: int) -> str:
        shown = f"[{host}]" if ":" in host else host
        return f"{self.scheme}://{shown}:{port}"


def addresses_of(document: JsonValue, environment: Mapping[str, str] = _NOTHING) -> Addresses:
    """Read the addresses from a configuration; what it does not say is as the service's defaults are.

    `environment` is what the service is started with: a container's addresses come before those of the file.
    Source: MindIE service parameter documentation, ipAddress and managementIpAddress.
    """
    host = environment.get(CONTAINER_IP) or read_text(document, Field.IP_ADDRESS) or DEFAULT_HOST
    named = environment.get(CONTAINER_MANAGEMENT_IP) or read_text(document, Field.MANAGEMENT_IP_ADDRESS)
    management = named or host
    port = read_int(document, Field.PORT) or DEFAULT_PORT
    return Addresses(
        scheme="https" if read_bool(document, Field.HTTPS_ENABLED) else "http",
        host=_ANY.get(host, host),
        port=port,
        management_host=_ANY.get(management, management),
        management_port=read_int(document, Field.MANAGEMENT_PORT) or _management_port(document, port),
        metrics_port=read_int(document, Field.METRICS_PORT),
    )


def _management_port(document: JsonValue, port: int) -> int:
    """Where the file names none: 1.0.RC1 has one plane for everything."""
    oldest = isinstance(document, dict) and layout_of(document) is Layout.GEN1
    return port if oldest else DEFAULT_MANAGEMENT_PORT
