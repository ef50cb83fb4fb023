"""Commands: what to type to apply a run's result and to do the run again."""

from shlex import quote

from autotune.model.campaign import Campaign
from autotune.report.safe_text import one_line

PROFILE_FILE = "profile.yaml"
STATE_FACT = "state directory"
"""Name of the fact that tells where a run is kept, when that is not the tool's own place."""


def commands(campaign: Campaign) -> tuple[str, ...]:
    """What to type, with the run's own name: to do it again, to see it again, to put it in place."""
    run, strategy = quote(one_line(campaign.run)), quote(one_line(campaign.strategy))
    state = state_option(campaign)
    apply = (f"autotune apply {run}{state}",) if campaign.config_diff and not campaign.applied else ()
    again = f"autotune tune {PROFILE_FILE} --strategy {strategy}"
    return (again, f"autotune report {run}{state}", *apply)


def state_option(campaign: Campaign) -> str:
    """` --state DIR` where a command does not find the run without it, else nothing."""
    places = (fact.value for fact in campaign.environment if fact.name == STATE_FACT)
    return next((f" --state {quote(one_line(place))}" for place in places), "")
