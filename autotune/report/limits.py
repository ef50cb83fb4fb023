"""Limits: limits, ceiling and language as the profile gives them, read from the text that was stored."""

import re
from functools import lru_cache
from typing import Any

import yaml

from autotune.model.campaign import Campaign
from autotune.model.limit import Limit
from autotune.profile.limits import parse_limit

STATIC_TEST = "static_test"
"""Name of the fact that holds the fastest case of a static test: `2345.6 token/s at batch 128`."""
_RATE = re.compile(r"\d+(?:\.\d+)?")


def profile_limits(campaign: Campaign) -> tuple[Limit, ...]:
    """The limits of the profile; none where its text has none or cannot be read."""
    try:
        document = _document(campaign.profile_text)
        texts = document["objective"]["limits"]
        return tuple(parse_limit(text) for text in texts)
    except (yaml.YAMLError, KeyError, TypeError, ValueError):
        return ()


def profile_language(campaign: Campaign) -> str:
    """The language that the profile wants reports in, `en` or `zh`."""
    try:
        given = _document(campaign.profile_text)["report"]["language"]
    except (yaml.YAMLError, KeyError, TypeError):
        return "en"
    return "zh" if given == "zh" else "en"


def profile_ceiling(campaign: Campaign) -> float | None:
    """Tokens a second of the bare model in a static test: `report.ceiling`, else the file that was read."""
    try:
        given = _document(campaign.profile_text)["report"]["ceiling"]
    except (yaml.YAMLError, KeyError, TypeError):
        given = None
    if isinstance(given, int | float) and given > 0:
        return float(given)
    told = next((fact.value for fact in campaign.environment if fact.name == STATIC_TEST), "")
    match = _RATE.match(told)
    return float(match[0]) if match else None


@lru_cache(maxsize=1)
def _document(text: str) -> Any:
    """The profile's text read, once for all that look into it. Raises YAMLError."""
    return yaml.safe_load(text)
