"""Limits: what the campaign's profile allows at most, read from the text it was stored with."""

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
