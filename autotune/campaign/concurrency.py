"""How many requests the clients keep open: one value for all launches that are compared."""

import math

from autotune.model.service import Description
from autotune.profile.schema import Profile

HEADROOM = 1.2
"""Above the largest limit compared, so that a queue always stands before the service."""
_WITHOUT_LIMIT = 1000
_INCUMBENTS = 4


def auto_concurrency(description: Description, high: int | None) -> int:
    """1.2 x the top of the bracket, at most maxLinkNum.

    `high` is None while no blocks are known: then maxLinkNum itself, as the vendor's guide does (1000);
    a service without such a limit gets 1.2 x four times its incumbent.
    """
    most = description.max_link_num
    if high is not None:
        wanted = math.ceil(HEADROOM * high)
    elif most is None:
        wanted = math.ceil(HEADROOM * _INCUMBENTS * description.incumbent.max_batch_size)
    else:
        wanted = max(most, 1)
    return wanted if most is None else min(wanted, most)


def raised_links(profile: Profile, found: int | None) -> int | None:
    """What maxLinkNum is raised to in every launch; None where it is not asked for or not needed."""
    wanted = profile.workload.concurrency
    if not profile.engine.raise_max_link_num or found is None or not isinstance(wanted, int):
        return None
    return wanted if wanted > found else None


def clipped(description: Description, high: int) -> bool:
    """Whether maxLinkNum keeps the top of the bracket from being filled."""
    most = description.max_link_num
    return most is not None and high > most
