"""Commands: what to type to apply a run's result and to do the run again."""

from shlex import quote

from autotune.model.campaign import Campaign
from autotune.report.safe_text import one_line

PROFILE_FILE = "profile.yaml"


def commands(campaign: Campaign) -> tuple[str, ...]:
    """What to type, with the run's own name."""
    run, strategy = quote(one_line(campaign.run)), quote(one_line(campaign.strategy))
    apply = (f"autotune apply {run}",) if campaign.config_diff and not campaign.applied else ()
    again = f"autotune tune {PROFILE_FILE} --strategy {strategy}"
    return (*apply, again, f"autotune report {run}")
