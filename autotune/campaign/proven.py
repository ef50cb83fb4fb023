"""Proven: under which host settings a winner was measured, and whether the service will run under them."""

from autotune.model.campaign import Campaign
from autotune.model.service import Fact

HOST_SETTINGS = ("governor", "transparent_hugepages", "stopped_services")
AFTERWARDS = "host settings afterwards"
"""Fact of a campaign: what became of the host settings at its end."""
KEPT, PUT_BACK = "kept as in the trials, until the next boot", "put back after the trials"


def afterwards(settings: tuple[Fact, ...], *, kept: bool) -> tuple[Fact, ...]:
    """The fact for the report; none where no host setting was changed."""
    if not any(_was_changed(fact) for fact in settings):
        return ()
    return (Fact(name=AFTERWARDS, value=KEPT if kept else PUT_BACK),)


def conditions(campaign: Campaign) -> tuple[str, ...]:
    """What to say when the winner is put in place; empty when no host setting is known."""
    settings = tuple(fact for fact in campaign.environment if fact.name in HOST_SETTINGS)
    if not settings:
        return ()
    proven = f"proven with {'; '.join(f'{fact.name} {fact.value}' for fact in settings)}"
    if not any(_was_changed(fact) for fact in settings):
        return (proven,)
    ending = next((fact.value for fact in campaign.environment if fact.name == AFTERWARDS), PUT_BACK)
    if ending == KEPT:
        return (f"{proven}; these host settings stay until the next boot",)
    advice = "autotune host apply sets them, host.keep: true keeps them with the winner"
    return (
        f"{proven}; these host settings were put back after the trials",
        f"so the service does not run under what the winner was proven in: {advice}",
    )


def _was_changed(fact: Fact) -> bool:
    return fact.name in HOST_SETTINGS and ", applied" in fact.value
