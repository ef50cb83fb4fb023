"""Addresses: where a service with this configuration listens, as a client on the same host reaches it."""

from dataclasses import dataclass

from autotune.mindie_rules.fields import Field, read_bool, read_int, read_text
from autotune.mindie_rules.json_text import JsonValue

_ANY = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - read from a configuration, never bound
DEFAULT_HOST, DEFAULT_MANAGEMENT_HOST = "127.0.0.1", "127.0.0.2"
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


def addresses_of(document: JsonValue) -> Addresses:
    """Read the addresses from a configuration; what it does not say is as the service's defaults are."""
    host = read_text(document, Field.IP_ADDRESS) or DEFAULT_HOST
    management = read_text(document, Field.MANAGEMENT_IP_ADDRESS) or DEFAULT_MANAGEMENT_HOST
    return Addresses(
        scheme="https" if read_bool(document, Field.HTTPS_ENABLED) else "http",
        host=_ANY.get(host, host),
        port=read_int(document, Field.PORT) or DEFAULT_PORT,
        management_host=_ANY.get(management, management),
        management_port=read_int(document, Field.MANAGEMENT_PORT) or DEFAULT_MANAGEMENT_PORT,
        metrics_port=read_int(document, Field.METRICS_PORT),
    )
