"""Winner text: what a configuration or script says with a winner in it, every other byte as it is."""

import os
from dataclasses import dataclass
from pathlib import Path

from autotune.engines.mindie.config_file import read as read_config
from autotune.engines.mindie.config_text import settings_of
from autotune.engines.mindie.description import CHIP
from autotune.engines.mindie.trial import edited
from autotune.engines.vllm.winner import Edit as ScriptEdit
from autotune.engines.vllm.winner import edit_script, read_text
from autotune.errors import NotRestored
from autotune.model.campaign import Campaign
from autotune.model.settings import Settings
from autotune.store.digest import sha256_of

CONFIG_SHA256 = "config sha256"
"""Fact of a campaign: what the file was when the campaign began."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WinnerText:
    """The file's text with the winner."""

    text: str
    changes: bool
    """False when the file holds the winner already."""
    notes: tuple[str, ...] = ()
    """What else a person should know."""


def winner_text(campaign: Campaign, winner: Settings, path: Path) -> WinnerText:
    """Make the text of the service's own file.

    Raises NotRestored when somebody else has changed the values since the run, Refused when it can't be read.
    """
    if campaign.description.kind == "vllm":
        return _script(campaign, winner, path)
    return _config(campaign, winner, path)


def _config(campaign: Campaign, winner: Settings, path: Path) -> WinnerText:
    found = read_config(path)
    text = edited(found.config, winner, version=campaign.description.version, chip=_fact(campaign, CHIP))
    if text == found.text:
        return WinnerText(text=text, changes=False)
    if settings_of(found.config) != campaign.description.incumbent:
        raise _changed_since(campaign, path)
    known = _sha256_then(campaign)
    notes = () if known in {None, found.sha256} else (_otherwise_changed(path),)
    return WinnerText(text=text, changes=True, notes=notes)


def _script(campaign: Campaign, winner: Settings, path: Path) -> WinnerText:
    text = read_text(path)
    edit: ScriptEdit = edit_script(text, winner, os.environ, gears=_fact(campaign, "gears"))
    if edit.text == text:
        return WinnerText(text=text, changes=False)
    known = _sha256_then(campaign)
    same = known == sha256_of(text) if known else edit.found == campaign.description.incumbent.max_batch_size
    if not same and edit.found not in {None, campaign.description.incumbent.max_batch_size}:
        raise _changed_since(campaign, path)
    return WinnerText(
        text=edit.text, changes=True, notes=(*edit.notes, *(() if same else (_otherwise_changed(path),)))
    )


def _fact(campaign: Campaign, name: str) -> str:
    return next((fact.value for fact in campaign.description.facts if fact.name == name), "")


def _changed_since(campaign: Campaign, path: Path) -> NotRestored:
    return NotRestored(
        f"{path} no longer holds the values that run {campaign.run} was proven against: "
        "somebody changed them since, and they stay",
        hint="autotune tune PROFILE proves a value for the configuration as it is now",
    )


def _otherwise_changed(path: Path) -> str:
    return f"{path} is not byte for byte what the run found: something beside the tuned values was changed"


def _sha256_then(campaign: Campaign) -> str | None:
    return next((fact.value for fact in campaign.environment if fact.name == CONFIG_SHA256), None)
