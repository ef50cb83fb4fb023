"""Certificates: whether our clients and a service with TLS would trust each other on loopback."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from autotune.campaign.doctor.check import Check, advice, error, fine
from autotune.campaign.sides.tls import tls_of
from autotune.engines.mindie.addresses import addresses_of
from autotune.engines.mindie.config_text import ConfigText
from autotune.engines.mindie.trial import LOOPBACK, MANAGEMENT_LOOPBACK
from autotune.engines.tls import client_context
from autotune.errors import Refused
from autotune.host.short_command import ask
from autotune.mindie_rules.fields import Field
from autotune.mindie_rules.json_text import JsonValue
from autotune.profile.schema import TlsSection

_SECONDS = 5.0
_WEEK = 7 * 86400
_ADDRESS = re.compile(r"IP Address:([0-9A-Fa-f:.]+)")
_ENCRYPTED = ("BEGIN ENCRYPTED PRIVATE KEY", "Proc-Type: 4,ENCRYPTED")
_PLANES = (("tlsCert", "tlsPk"), ("managementTlsCert", "managementTlsPk"))
_HINT = "add to the profile: workload: {tls: {ca: ca.pem, cert: client.pem, key: client.key}}"


def certificate_check(
    config: ConfigText,
    home: Path,
    section: TlsSection | None,
    *,
    private: bool,
    environment: Mapping[str, str],
) -> tuple[Check, ...]:
    """Nothing without TLS; `private` says that trials listen on loopback addresses."""
    if not config.flag(Field.HTTPS_ENABLED):
        return ()
    files = tls_of(section)
    if files is None or files.cert is None:
        return (error("certificates", "the service asks its clients for a certificate", _HINT),)
    try:
        client_context(files)
    except Refused as refused:
        return (error("certificates", refused.message, refused.hint),)
    found = addresses_of(config.document.value, environment)
    hosts = (LOOPBACK, MANAGEMENT_LOOPBACK) if private else (found.host, found.management_host)
    problems = tuple(_problems(config, home, hosts))
    return problems or (fine("certificates", "ours and those of the service can be used"),)


def _problems(config: ConfigText, home: Path, hosts: tuple[str, str]) -> Iterator[Check]:
    server = _server(config.document.value)
    for (cert, key), host in zip(_PLANES, hosts, strict=True):
        names = [server.get(each) for each in (cert, key)]
        if not all(isinstance(name, str) and name for name in names):
            continue
        yield from _certificate(home / str(names[0]), host)
        yield from _key(home / str(names[1]), server)


def _server(document: JsonValue) -> dict[str, JsonValue]:
    """The section that holds the certificates in either layout."""
    root = document if isinstance(document, dict) else {}
    other = root.get("OtherParam")
    for section in (root.get("ServerConfig"), other.get("ServeParam") if isinstance(other, dict) else None):
        if isinstance(section, dict):
            return section
    return {}


def _certificate(path: Path, host: str) -> Iterator[Check]:
    if not path.is_file():
        yield error("certificates", f"{path} of the service is missing", f"ls -l {path}")
        return
    names = ask(["openssl", "x509", "-in", str(path), "-noout", "-ext", "subjectAltName"], _SECONDS)
    if names.no_answer is None and host not in _ADDRESS.findall(names.output):
        yield error(
            "certificates",
            f"{path} does not carry the address {host}, so no client can trust the service there",
            f"issue it anew with subjectAltName=IP:{LOOPBACK},IP:{MANAGEMENT_LOOPBACK}",
        )
    for seconds, told in ((0, error), (_WEEK, advice)):
        end = ask(["openssl", "x509", "-in", str(path), "-noout", "-checkend", str(seconds)], _SECONDS)
        if end.code == 1:
            when = "has expired" if not seconds else "expires within a week"
            yield told("certificates", f"{path} {when}", f"openssl x509 -in {path} -noout -dates")
            return


def _key(path: Path, server: dict[str, JsonValue]) -> Iterator[Check]:
    """An encrypted key whose password is nowhere makes the daemon ask on a terminal that it has not."""
    try:
        text = path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return
    stored = any(server.get(name) for name in ("tlsPkPwd", "managementTlsPkPwd"))
    if any(mark in text for mark in _ENCRYPTED) and not stored:
        fact = f"the key {path} is encrypted and no password is stored: the daemon would ask on a terminal"
        yield advice("certificates", fact, "store it with MindIE's certificate tool (tlsPkPwd)")
