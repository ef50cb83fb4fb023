"""Proven: under which host settings a winner was measured, and whether the service will run under them."""

import re
from collections.abc import Mapping
from pathlib import Path

from autotune.host.governor import governors
from autotune.host.huge_pages import plan_huge_pages
from autotune.model.campaign import Campaign
from autotune.model.service import Fact

GOVERNOR, HUGE_PAGES = "governor", "transparent_hugepages"
HOST_SETTINGS = (GOVERNOR, HUGE_PAGES, "stopped_services")
AFTERWARDS = "host settings afterwards"
"""Fact of a campaign: what became of the host settings at its end."""
KEPT, PUT_BACK = "kept as in the trials, until the next boot", "put back after the trials"
_ADVICE = "autotune host apply sets them, host.keep: true keeps them with the winner"
_VALUE = re.compile(r"(?:\S+ -> )?([\w/]+), (?:applied|unchanged)\b")


def afterwards(settings: tuple[Fact, ...], *, kept: bool) -> tuple[Fact, ...]:
    """The fact for the report; none where no host setting was changed."""
    if not were_changed(settings):
        return ()
    return (Fact(name=AFTERWARDS, value=KEPT if kept else PUT_BACK),)


def conditions(campaign: Campaign, now: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """What to say when the winner is put in place; empty when no host setting is known.

    `now` are the host's settings of this moment; None where the campaign itself is only just ending.
    """
    settings = tuple(fact for fact in campaign.environment if fact.name in HOST_SETTINGS)
    if not settings:
        return ()
    proven = f"proven with {'; '.join(f'{fact.name} {fact.value}' for fact in settings)}"
    if now is not None:
        return (proven, *_against(settings, now))
    if not were_changed(settings):
        return (proven,)
    ending = next((fact.value for fact in campaign.environment if fact.name == AFTERWARDS), PUT_BACK)
    if ending == KEPT:
        return (f"{proven}; these host settings stay until the next boot",)
    return (
        f"{proven}; these host settings were put back after the trials",
        f"so the service does not run under what the winner was proven in: {_ADVICE}",
    )


def settings_now(root: Path = Path("/")) -> dict[str, str]:
    """Governor and huge pages of the host below `root`; several governors as `a/b`."""
    found = "/".join(sorted(set(governors(root).values())))
    pages = plan_huge_pages("always", root).before
    return {name: value for name, value in ((GOVERNOR, found), (HUGE_PAGES, pages)) if value}


def _against(settings: tuple[Fact, ...], now: Mapping[str, str]) -> tuple[str, ...]:
    known = [(fact.name, match[1]) for fact in settings if (match := _VALUE.match(fact.value))]
    others = [f"{name} {now[name]}" for name, value in known if name in now and now[name] != value]
    if not others:
        return ()
    return (f"this host is at {', '.join(others)} now, under which it was not proven: {_ADVICE}",)


def were_changed(settings: tuple[Fact, ...]) -> bool:
    """Whether the trials ran under host settings other than those that were found."""
    return any(_was_changed(fact) for fact in settings)


def _was_changed(fact: Fact) -> bool:
    return fact.name in HOST_SETTINGS and ", applied" in fact.value
