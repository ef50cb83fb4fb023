"""TLS of the three planes, from the certificates that config.json names; clients must show theirs."""

import ssl
from pathlib import Path

from autotune.errors import UsageError
from autotune.mindie_rules import fields as config_fields
from autotune.mindie_rules.json_text import JsonValue


def server_context(document: JsonValue, home: Path, prefix: str) -> ssl.SSLContext:
    """The context of a plane; `prefix` is empty, `management` or `metrics`.

    Raises UsageError when a certificate cannot be used.
    """
    section = _section(document)

    def key(name: str) -> str:
        return f"{prefix}{name[0].upper()}{name[1:]}" if prefix else name

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.verify_mode = ssl.CERT_REQUIRED
    try:
        context.load_cert_chain(home / _text(section, key("tlsCert")), home / _text(section, key("tlsPk")))
        for name in _names(section, key("tlsCaFile")):
            context.load_verify_locations(home / _text(section, "tlsCaPath") / name)
    except (OSError, ssl.SSLError) as error:
        raise UsageError(f"certificates of the {prefix or 'business'} port: {error}") from error
    return context


def _section(document: JsonValue) -> dict[str, JsonValue]:
    for path in (("ServerConfig",), ("OtherParam", "ServeParam")):
        value = config_fields.value_at(document, path)
        if isinstance(value, dict):
            return value
    return {}


def _text(section: dict[str, JsonValue], key: str) -> str:
    value = section.get(key)
    return value if isinstance(value, str) else ""


def _names(section: dict[str, JsonValue], key: str) -> list[str]:
    value = section.get(key)
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []
