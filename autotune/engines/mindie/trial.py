"""Trial: the configuration of one launch, made from the one found, and checked before anything is started."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from autotune.engines.mindie.addresses import Addresses, addresses_of
from autotune.engines.mindie.config_text import (
    ConfigText,
    Scalar,
    edit_fields,
    edit_settings,
    read_config_text,
    settings_of,
)
from autotune.errors import LaunchCause, LaunchFailed, Refused
from autotune.mindie_rules.fields import Field
from autotune.model.settings import Settings
from autotune.process.ports import choose_free

LOOPBACK, MANAGEMENT_LOOPBACK = "127.0.0.1", "127.0.0.2"


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """What one launch is started with."""

    settings: Settings
    """What the text says in the end, also where the launch left it as found."""
    text: str
    """The whole configuration; nothing but the named values differs from the one found."""
    addresses: Addresses
    model_name: str
    private_path: Path | None
    """Where the text goes when it is a private copy; None when it replaces the service's own file."""


def plan_trial(
    found: ConfigText,
    settings: Settings,
    *,
    version: str,
    chip: str,
    private_path: Path | None,
    model_name: str | None,
    environment: Mapping[str, str],
) -> Trial:
    """Make the configuration of a launch; a private copy gets free loopback ports.

    `environment` is the captured one; what it says of addresses counts for the service's own file only.
    Raises LaunchFailed(CONFIG), in the daemon's own words where it would refuse the values.
    """
    try:
        text = edited(found, settings, version=version, chip=chip)
    except Refused as refused:
        raise LaunchFailed(LaunchCause.CONFIG, refused.message, lines=(refused.message,)) from refused
    if private_path is not None:
        business, management, metrics = choose_free(3)
        text = edit_fields(text, private_fields(found, (business, management, metrics)))
    config = read_config_text(text)
    outside: Mapping[str, str] = environment if private_path is None else {}
    return Trial(
        settings=settings_of(config),
        text=text,
        addresses=addresses_of(config.document.value, outside),
        model_name=model_name or config.string(Field.MODEL_NAME) or "",
        private_path=private_path,
    )


def edited(found: ConfigText, settings: Settings, *, version: str, chip: str) -> str:
    """Write the settings into the text; what was found is never judged, since the service runs with it."""
    if settings == settings_of(found):
        return found.text
    return edit_settings(found.text, settings, version=version, chip=chip)


def private_fields(found: ConfigText, ports: tuple[int, int, int]) -> dict[Field, Scalar]:
    """Say what moves a private copy to loopback and to free ports, so that no traffic comes in.

    `ports` are business, management and metrics; a plane that the file does not name is left out.
    """
    business, management, metrics = ports
    wanted: dict[Field, Scalar] = {
        Field.IP_ADDRESS: LOOPBACK,
        Field.MANAGEMENT_IP_ADDRESS: MANAGEMENT_LOOPBACK,
        Field.PORT: business,
        Field.MANAGEMENT_PORT: management,
        Field.METRICS_PORT: metrics,
    }
    return {field: value for field, value in wanted.items() if found.has(field)}
