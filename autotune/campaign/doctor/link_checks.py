"""Links: whether the service takes as many connections as the clients open, and limits can be filled."""

from autotune.campaign.concurrency import HEADROOM
from autotune.campaign.doctor.check import Check, advice, error, fine
from autotune.mindie_rules.bounds import link_bounds
from autotune.profile.schema import WorkloadSection

_WITHOUT_LIMIT = 1000
_OVERFLOW = 3
"""The service queues twice maxLinkNum more, then closes connections without an answer."""


def wanted_concurrency(workload: WorkloadSection, max_link_num: int | None) -> int:
    """How many clients a campaign may open at once; before any start the most that it could."""
    if isinstance(workload.concurrency, int):
        return workload.concurrency
    return max_link_num or _WITHOUT_LIMIT


def link_check(
    workload: WorkloadSection,
    *,
    max_link_num: int | None,
    max_batch_size: int | None,
    version: str = "",
    raised: bool = False,
) -> Check:
    """Hold maxLinkNum against the clients and against maxBatchSize."""
    name, clients = "links", wanted_concurrency(workload, max_link_num)
    if max_link_num is None:
        return fine(name, f"{clients} clients; this service names no limit")
    if clients > max_link_num and raised and link_bounds(version).holds(clients):
        return fine(name, f"{clients} clients; maxLinkNum {max_link_num} is raised to that in every launch")
    if clients > max_link_num:
        drop = "closes the rest unanswered" if clients > _OVERFLOW * max_link_num else "lets the rest wait"
        fact = f"{clients} clients, and the service takes maxLinkNum {max_link_num} at once and {drop}"
        mend = f"--set workload.concurrency={max_link_num}, or --set engine.raise_max_link_num=true"
        return error(name, fact, mend)
    if not link_bounds(version).holds(max_link_num):
        fact = f"maxLinkNum {max_link_num} is above {link_bounds(version).high}, the most of this version"
        return error(name, fact, f"set maxLinkNum to {link_bounds(version).high}")
    if max_batch_size is not None and clients < HEADROOM * max_batch_size:
        fact = (
            f"{clients} clients do not fill maxBatchSize {max_batch_size}: "
            f"{HEADROOM:g} times as many are needed to see its effect"
        )
        return advice(name, fact, f"raise maxLinkNum to {round(HEADROOM * max_batch_size)} at least")
    return fine(name, f"{clients} clients, maxLinkNum {max_link_num}")
