"""The checks of ServerConfig: types, then values; every wrong value of this section is printed."""

from dataclasses import dataclass
from typing import Final

from autotune.mindie_rules.checking.addresses import check_address
from autotune.mindie_rules.checking.certificates import certificates_readable, check_certificates
from autotune.mindie_rules.checking.console import (
    Console,
    as_bool,
    as_signed,
    as_text,
    as_unsigned,
    contains,
    elements,
    member,
)
from autotune.mindie_rules.checking.surroundings import Surroundings
from autotune.mindie_rules.checking.types import Kind, check_strings, check_types, optional, required
from autotune.mindie_rules.json_text import JsonValue

_SPECS: Final = (
    *required(Kind.STRING, "ipAddress"),
    *optional(Kind.STRING, "managementIpAddress"),
    *required(Kind.INT32, "port"),
    *optional(Kind.INT32, "managementPort"),
    *required(Kind.UINT32, "maxLinkNum"),
    *required(Kind.BOOL, "httpsEnabled"),
    *optional(Kind.STRING, "tlsCert", "tlsCrlPath"),
    *optional(Kind.ARRAY, "tlsCrlFiles"),
    *optional(Kind.STRING, "tlsCaPath"),
    *optional(Kind.ARRAY, "tlsCaFile"),
    *optional(Kind.STRING, "tlsPk", "managementTlsCert", "managementTlsCrlPath"),
    *optional(Kind.ARRAY, "managementTlsCrlFiles", "managementTlsCaFile"),
    *optional(Kind.STRING, "managementTlsPk", "metricsTlsCert", "metricsTlsCrlPath"),
    *optional(Kind.ARRAY, "metricsTlsCrlFiles", "metricsTlsCaFile"),
    *optional(Kind.STRING, "metricsTlsPk"),
    *optional(Kind.BOOL, "fullTextEnabled"),
    *optional(Kind.UINT32, "npuUsageThreshold"),
    *required(Kind.STRING, "inferMode"),
    *required(Kind.BOOL, "allowAllZeroIpListening"),
    *optional(Kind.STRING, "openAiSupport"),
    *required(Kind.INT32, "metricsPort", "tokenTimeout", "e2eTimeout"),
    *optional(Kind.UINT32, "maxRequestLength"),
    *optional(Kind.BOOL, "distDPServerEnabled"),
    *optional(Kind.UINT32, "maxJsonDepth"),
    *optional(Kind.BOOL, "layerwiseDisaggregated"),
    *optional(Kind.STRING, "layerwiseDisaggregatedRoleType", "layerwiseDisaggregatedMasterIpAddress"),
    *optional(Kind.ARRAY, "layerwiseDisaggregatedSlaveIpAddress"),
    *optional(Kind.INT32, "layerwiseDisaggregatedDataPort"),
    *optional(Kind.ARRAY, "layerwiseDisaggregatedCrtlPort"),
)
LINKS_HIGH: Final = 4096
_PORTS: Final = (1024, 65535)


@dataclass(frozen=True, kw_only=True, slots=True)
class Server:
    """ServerConfig as the checker has read it."""

    section: JsonValue
    decoded: bool
    """False when a list holds what is no string; found out after everything has been read."""

    def number(self, key: str) -> int:
        """A number whose type was checked."""
        return as_signed(member(self.section, key))

    def text(self, key: str) -> str:
        """A string whose type was checked; empty where it is left out."""
        value = member(self.section, key)
        return value if isinstance(value, str) else ""

    def flag(self, key: str) -> bool:
        """A bool whose type was checked; False where it is left out."""
        return member(self.section, key) is True

    @property
    def management_port(self) -> int:
        """Port of the management interface."""
        return self.number("managementPort" if contains(self.section, "managementPort") else "port")

    @property
    def management_address(self) -> str:
        """Address of the management interface."""
        return self.text(
            "managementIpAddress" if contains(self.section, "managementIpAddress") else "ipAddress"
        )

    @property
    def planes_apart(self) -> bool:
        """Whether management and metrics have certificates of their own."""
        return not (
            self.management_address == self.text("ipAddress")
            and self.management_port == self.number("port") == self.number("metricsPort")
        )


def read_server(console: Console, section: JsonValue) -> Server | None:
    """Read ServerConfig; None when it is refused. Raises Thrown."""
    if not check_types(console, section, _SPECS):
        return None
    as_bool(member(section, "distDPServerEnabled"))
    good = _read_limits(console, section)
    server = Server(section=section, decoded=True)
    decoded = _read_inter_communication(console, section) if _inter_communication(section) else True
    if server.flag("httpsEnabled"):
        decoded = certificates_readable(console, section, planes_apart=server.planes_apart) and decoded
    if server.flag("layerwiseDisaggregated"):
        decoded = _read_layerwise(console, section) and decoded
    return Server(section=section, decoded=decoded) if good else None


def _read_limits(console: Console, section: JsonValue) -> bool:
    good = True
    if contains(section, "maxRequestLength"):
        length = as_unsigned(member(section, "maxRequestLength"))
        good = console.bounds("serverConfig.maxRequestLength", length, 1, 100) and good
    if contains(section, "maxJsonDepth"):
        depth = as_unsigned(member(section, "maxJsonDepth"))
        good = console.bounds("serverConfig.maxJsonDepth", depth, 10, 100) and good
    health = member(section, "HealthCheckConfig")
    if contains(health, "npuUsageThreshold"):
        threshold = as_unsigned(member(health, "npuUsageThreshold"))
        name = "serverConfig.HealthCheckConfig.npuUsageThreshold"
        good = console.bounds(name, threshold, 0, 100) and good
    _inter_communication(section)
    if contains(section, "interCommPort"):
        port = as_signed(member(section, "interCommPort"))
        good = console.bounds("serverConfig.interCommPort", port, *_PORTS) and good
    return good


def _inter_communication(section: JsonValue) -> bool:
    """Whether traffic between P and D is encrypted; the default is yes. Raises Thrown."""
    if not contains(section, "interCommTLSEnabled"):
        return True
    return as_bool(member(section, "interCommTLSEnabled"))


def _read_inter_communication(console: Console, section: JsonValue) -> bool:
    keys = ("interCommTlsCert", "interCommTlsCaPath", "interCommTlsCaFiles", "interCommPk")
    for key in (*keys, "interCommTlsCrlPath", "interCommTlsCrlFiles"):
        value = member(section, key)
        if not contains(section, key):
            continue
        if not key.endswith("Files"):
            as_text(value)
        elif not check_strings(console, value):
            return console.refuse(f"{key} init error")
    return True


def _read_layerwise(console: Console, section: JsonValue) -> bool:
    addresses = member(section, "layerwiseDisaggregatedSlaveIpAddress")
    ports = member(section, "layerwiseDisaggregatedCrtlPort")
    if not check_strings(console, addresses):
        return False
    numbers = all(isinstance(port, int) and not isinstance(port, bool) for port in elements(ports))
    return numbers or console.refuse("Type of element in json array does not match integer")


def check_server(
    console: Console, server: Server, surroundings: Surroundings, *, links_high: int = LINKS_HIGH
) -> bool:
    """Check the values; every fault is printed."""
    modes = {"standard", "dmi"}
    all_zero = server.flag("allowAllZeroIpListening")
    results = [
        server.text("inferMode") in modes or console.refuse("The inferMode should be standard or dmi"),
        check_address(console, server.text("ipAddress"), "ipAddress", all_zero=all_zero),
        check_address(console, server.management_address, "managementIpAddress", all_zero=all_zero),
        console.bounds("serverConfig.port", server.number("port"), *_PORTS),
        console.bounds("serverConfig.managementPort", server.management_port, *_PORTS),
        console.bounds("serverConfig.metricsPort", server.number("metricsPort"), *_PORTS),
        console.bounds(
            "serverConfig.maxLinkNum", as_unsigned(member(server.section, "maxLinkNum")), 1, links_high
        ),
        console.bounds("serverConfig.tokenTimeout", server.number("tokenTimeout"), 1, 3600),
        console.bounds("serverConfig.e2eTimeout", server.number("e2eTimeout"), 1, 65535),
    ]
    if server.flag("httpsEnabled"):
        planes = server.planes_apart
        results.append(check_certificates(console, server.section, surroundings, planes_apart=planes))
    if server.flag("layerwiseDisaggregated"):
        results.append(_check_layerwise(console, server))
    return all(results)


def _check_layerwise(console: Console, server: Server) -> bool:
    role = server.text("layerwiseDisaggregatedRoleType")
    master = server.text("layerwiseDisaggregatedMasterIpAddress")
    slaves = elements(member(server.section, "layerwiseDisaggregatedSlaveIpAddress"))
    ports = elements(member(server.section, "layerwiseDisaggregatedCrtlPort"))
    data_port = server.number("layerwiseDisaggregatedDataPort")
    results = [
        role in {"master", "slave"},
        check_address(console, master, "layerwiseDisaggregatedMasterIpAddress", all_zero=False),
        *(
            check_address(console, str(slave), "layerwiseDisaggregatedSlaveIpAddress", all_zero=False)
            for slave in slaves
        ),
        console.bounds("serverConfig.layerwiseDisaggregatedDataPort", data_port, *_PORTS),
        *(
            console.bounds("serverConfig.layerwiseDisaggregatedCrtlPort", as_signed(port), *_PORTS)
            for port in ports
        ),
    ]
    return all(results)
