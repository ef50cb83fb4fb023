"""How a campaign ended: the campaign with its verdict, and the exit code that says the same."""

from dataclasses import dataclass, replace

from autotune.campaign.verdict import cut_short, verdict_of
from autotune.errors import DeadlineReached, Interrupted, NotMeasurable
from autotune.model.campaign import Campaign
from autotune.model.move import Finish, VerdictCode


@dataclass(frozen=True, kw_only=True, slots=True)
class Ending:
    """The final campaign and its exit code."""

    campaign: Campaign
    exit_code: int


def ended(
    campaign: Campaign,
    finish: Finish | None,
    stop: KeyboardInterrupt | DeadlineReached | None,
    *,
    wall: float,
) -> Ending:
    """Give the campaign its verdict. Reached only when everything was put back."""
    final = replace(campaign, ended_wall=wall, restored=True)
    if finish is not None:
        code = NotMeasurable.exit_code if finish.code is VerdictCode.NOT_MEASURABLE else 0
        return Ending(campaign=replace(final, verdict=verdict_of(final.launches, finish)), exit_code=code)
    if isinstance(stop, DeadlineReached):
        reason, code = stop.message, DeadlineReached.exit_code
    else:
        reason, code = "interrupted", Interrupted.exit_code
    return Ending(campaign=replace(final, verdict=cut_short(final.launches, reason)), exit_code=code)
