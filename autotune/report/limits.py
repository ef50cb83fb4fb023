"""Limits: the limits and the ceiling as the profile gives them, read from the text that was stored."""

import yaml

from autotune.model.campaign import Campaign
from autotune.model.limit import Limit
from autotune.profile.limits import parse_limit


def profile_limits(campaign: Campaign) -> tuple[Limit, ...]:
    """The limits of the profile; none where its text has none or cannot be read."""
    try:
        document = yaml.safe_load(campaign.profile_text)
        texts = document["objective"]["limits"]
        return tuple(parse_limit(text) for text in texts)
    except (yaml.YAMLError, KeyError, TypeError, ValueError):
        return ()


def profile_ceiling(campaign: Campaign) -> float | None:
    """Tokens a second of the bare model in a static test, where `report.ceiling` gives them."""
    try:
        given = yaml.safe_load(campaign.profile_text)["report"]["ceiling"]
    except (yaml.YAMLError, KeyError, TypeError):
        return None
    return float(given) if isinstance(given, int | float) and given > 0 else None
