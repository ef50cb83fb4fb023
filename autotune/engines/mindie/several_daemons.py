"""Several daemons: a service that is more than the one that this tool can start, and what to do there."""

from pathlib import Path
from typing import Final

from autotune.engines.mindie.config_text import ConfigText, read_config_text
from autotune.errors import Refused
from autotune.mindie_rules.fields import Field, Layout, dotted, path_of
from autotune.mindie_rules.json_text import place_at

DEPLOYMENT: Final = "user_config.json"
"""What MindIE Motor's deployer reads; it writes the config.json of every instance from it."""
_DISAGGREGATED: Final = "dmi"
"""Of inferMode, which is `standard` for a daemon that does prefill and decode.

Source: MindIE service parameter documentation."""
_BY_HAND: Final = (
    "redeploy, and measure each value at the coordinator: "
    "autotune load --url URL --api openai-chat --model NAME --concurrency N"
)
_SHARED: Final = (
    (Field.MULTI_NODES_INFER_ENABLED, "its model runs on several hosts"),
    (Field.DIST_DP_SERVER_ENABLED, "it is one of many daemons behind a coordinator"),
    (Field.LAYERWISE_DISAGGREGATED, "its layers run on several hosts"),
)


def refuse_several_daemons(path: Path, config: ConfigText) -> None:
    """Raise Refused, with the place, where readings of one daemon would say nothing of the service.

    The two halves of a P/D deployment, a model on several hosts: other programs start and join their daemons,
    on hosts that this one can neither journal nor put back.
    """
    if config.layout is Layout.PD:
        raise _deployment(path, config)
    if config.string(Field.INFER_MODE) == _DISAGGREGATED:
        raise Refused(
            f"{path}: {_told(config, Field.INFER_MODE)}: it is half of a P/D deployment, "
            "and answers nobody without the other half and its coordinator",
            hint=f"set {dotted(config.path(Field.MAX_BATCH_SIZE))} by hand on all instances of this half, "
            f"{_BY_HAND}",
        )
    for field, meaning in _SHARED:
        if config.flag(field):
            raise Refused(
                f"{path}: {_told(config, field)}: {meaning}, and a trial is one daemon on this host",
                hint=f"tune one daemon by itself: a config.json with {dotted(config.path(field))} false",
            )


def refuse_deployer(home: Path) -> None:
    """Raise Refused where the directory of a P/D deployer stands in for an install."""
    path = home / DEPLOYMENT
    if path.is_file() and not (home / "conf" / "config.json").exists():
        raise _deployment(path, _read(path))


def _read(path: Path) -> ConfigText | None:
    try:
        return read_config_text(path.read_text(encoding="utf-8", errors="surrogateescape"))
    except (OSError, Refused):
        return None


def _deployment(path: Path, config: ConfigText | None) -> Refused:
    key = dotted(path_of(Field.MAX_BATCH_SIZE, Layout.PD))
    where = key
    if config is not None and config.has(Field.MAX_BATCH_SIZE):
        where = _told(config, Field.MAX_BATCH_SIZE)
    return Refused(
        f"{path} is that of a P/D deployment, whose prefill and decode daemons its deployer starts on hosts "
        f"of its own; {where}",
        hint=f"set {key} by hand, {_BY_HAND}",
    )


def _told(config: ConfigText, field: Field) -> str:
    """A field with its value and its place."""
    path = config.path(field)
    span = config.document.spans[path]
    return f"{dotted(path)} is {config.text[span.start : span.end]} ({place_at(config.text, span.start)})"
