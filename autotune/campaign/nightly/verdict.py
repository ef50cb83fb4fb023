"""Verdict of a night: from its launches and what the strategy found in them, with the evidence."""

from autotune.campaign.nightly.outcome import NightVerdict
from autotune.model.campaign import Campaign
from autotune.model.launch import History
from autotune.model.move import VerdictCode
from autotune.search.night import Findings, NightStrategy
from autotune.search.night_memory import Memory


def verdict_of(campaign: Campaign, findings: Findings, *, applied: bool) -> NightVerdict:
    """What a finished night says."""
    verdict = campaign.verdict
    if verdict is None or verdict.code in {VerdictCode.NOT_MEASURABLE, VerdictCode.LIMIT_UNMET}:
        return NightVerdict.NOT_MEASURABLE
    if verdict.code is VerdictCode.IMPROVED:
        return NightVerdict.IMPROVED_APPLIED if applied else NightVerdict.IMPROVED_NOT_APPLIED
    departure = findings.departure
    if departure is not None and departure.slower and findings.settled:
        return NightVerdict.SLOWER
    drifted = departure is not None and departure.faster and findings.settled
    return NightVerdict.DRIFTED if drifted or findings.blocks_moved else NightVerdict.HOLDS


def evidence_of(
    campaign: Campaign, strategy: NightStrategy, findings: Findings, memory: Memory
) -> tuple[str, ...]:
    """Lines that a person can check: levels, limits, blocks, neighbours, the test of the gain."""
    lines = [f"{memory.runs} earlier runs of this fingerprint"]
    departure = findings.departure
    readings = len(findings.incumbent.readings)
    if departure is not None:
        lines.append(
            f"the served setting reads {departure.change:+.1%} against its earlier nights "
            f"({readings} launches, {departure.deviations:+.1f} of at most ±{departure.limit:.1f} deviations)"
        )
    elif readings:
        lines.append(f"the served setting was read in {readings} launches; no earlier night to compare with")
    if findings.incumbent.fruitless:
        lines.append(f"{findings.incumbent.fruitless} launches of the served setting gave no reading")
    if findings.blocks_moved:
        lines.append(f"{findings.blocks} KV blocks instead of {memory.blocks}")
    if findings.neighbour is not None:
        lines.append(f"maxBatchSize {findings.neighbour} beside it reads better than it should")
    return (*lines, *_gain(campaign, strategy))


def _gain(campaign: Campaign, strategy: NightStrategy) -> tuple[str, ...]:
    verdict = campaign.verdict
    if verdict is None:
        return ()
    lines = [verdict.reason] if verdict.reason else []
    history = History(launches=campaign.launches)
    tried = {launch.settings for launch in campaign.launches if launch.purpose.value == "confirmation"}
    for settings in tried:
        weighed = strategy.weighed(history, settings)
        if weighed is not None and settings != campaign.description.incumbent:
            lines.append(
                f"maxBatchSize {settings.max_batch_size}: {weighed.gain:+.1%}, log likelihood ratio "
                f"{weighed.log_ratio:+.1f} (a gain from {weighed.upper:+.1f} on, none from "
                f"{weighed.lower:+.1f} down)"
            )
    return tuple(lines)
