"""The checks of addresses that the server listens on."""

import ipaddress
from typing import Final

from autotune.mindie_rules.checking.console import Console

_IPV4_LENGTH: Final = 32
_IPV6_LENGTH: Final = 128


def check_address(console: Console, address: str, name: str, *, all_zero: bool) -> bool:
    """Check an IPv4 or IPv6 address; host names are refused. `all_zero` allows 0.0.0.0 and ::."""
    if not address:
        return console.refuse(f"Input {name} is empty")
    if ":" in address:
        return _check_ipv6(console, address, name, all_zero=all_zero)
    if "." in address:
        return _check_ipv4(console, address, name, all_zero=all_zero)
    return console.refuse(f"Input {name} [{address}] format is invalid (neither IPv4 nor IPv6)")


def _check_ipv4(console: Console, address: str, name: str, *, all_zero: bool) -> bool:
    if len(address.encode()) > _IPV4_LENGTH:
        return console.refuse(f"Input {name} format is invalid.")
    if (address == "0.0.0.0" and not all_zero) or not _is_ipv4(address):  # noqa: S104 - compared, not bound
        return console.refuse(f"Input {name} [{address}] is invalid")
    return True


def _check_ipv6(console: Console, address: str, name: str, *, all_zero: bool) -> bool:
    if len(address.encode()) > _IPV6_LENGTH:
        return console.refuse(f"Input {name} format is invalid.")
    bare = address[1:-1] if address.startswith("[") and address.endswith("]") else address
    if (bare == "::" and not all_zero) or not _is_ipv6(bare):
        return console.refuse(f"Input {name} [{address}] is invalid")
    return True


def _is_ipv4(address: str) -> bool:
    try:
        ipaddress.IPv4Address(address)
    except ValueError:
        return False
    return True


def _is_ipv6(address: str) -> bool:
    try:
        ipaddress.IPv6Address(address)
    except ValueError:
        return False
    return "%" not in address
