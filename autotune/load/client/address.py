"""Address: where the requests go, taken apart and checked before anything is sent."""

import ipaddress
import socket
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from autotune.errors import UsageError

_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, kw_only=True, slots=True)
class Address:
    """A service's address; proxies of the environment play no part in it."""

    secure: bool
    host: str
    """A name or an address without brackets."""
    port: int
    path: str = ""
    """What stands before the api's own path, without a trailing slash."""

    @property
    def host_header(self) -> str:
        """As it stands in the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS["https" if self.secure else "http"] else f"{host}:{self.port}"


def read_address(url: str) -> Address:
    """Take a URL apart. Raises UsageError for anything that is no http or https address."""
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
    except ValueError as error:
        raise UsageError(f"{url!r} is no address: {error}", hint="--url http://127.0.0.1:1025") from error
    if parts.scheme not in _PORTS:
        raise UsageError(f"{parts.scheme}:// is no address of a service", hint="--url http://127.0.0.1:1025")
    if parts.username or parts.password:
        raise UsageError("a URL with a password in it would be shown in reports", hint="use --header instead")
    if parts.query or parts.fragment:
        raise UsageError(
            f"the URL {url} has a query or fragment", hint="give scheme, host, port and path only"
        )
    if not parts.hostname:
        raise UsageError(f"the URL {url!r} has no host", hint="--url http://127.0.0.1:1025")
    return Address(
        secure=parts.scheme == "https",
        host=parts.hostname,
        port=_port(parts, url),
        path=parts.path.rstrip("/"),
    )


def _port(parts: SplitResult, url: str) -> int:
    try:
        port = parts.port
    except ValueError as error:
        raise UsageError(f"the URL {url} has no usable port: {error}", hint="ports are 1 to 65535") from error
    if port == 0:
        raise UsageError(f"the URL {url} has port 0", hint="ports are 1 to 65535")
    return port or _PORTS[parts.scheme]


def resolved(address: Address) -> tuple[str, ...]:
    """IP addresses of the host, asked once, so that no name server stands in the measured path.

    Raises UsageError when the name has none.
    """
    try:
        return (str(ipaddress.ip_address(address.host.split("%", 1)[0])),)
    except ValueError:
        pass
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise UsageError(f"the host {address.host} has no address: {error}", hint="check the URL") from error
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))
