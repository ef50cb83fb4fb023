"""Host settings: which of the wished ones can be had on this host by this user."""

from pathlib import Path

from autotune.campaign.doctor.check import Check, advice, fine
from autotune.host.host_settings import HostWish, plan
from autotune.host.setting import SettingOutcome, SettingResult, summary
from autotune.profile.schema import HostSection


def gather_settings(section: HostSection, root: Path = Path("/")) -> tuple[SettingResult, ...]:
    """What applying would do; nothing is written."""
    wish = HostWish(
        governor=section.governor,
        transparent_hugepages=section.transparent_hugepages,
        always_with_large_pages=section.always_with_large_pages,
    )
    return plan(wish, root)


def host_check(results: tuple[SettingResult, ...]) -> Check:
    """A campaign goes on without a setting that cannot be had, so nothing here is an error."""
    if not results:
        return fine("host settings", "none wished")
    missing = [result for result in results if result.outcome is SettingOutcome.DENIED]
    if missing:
        mend = missing[0].advice or "run as root: sudo autotune tune PROFILE"
        return advice("host settings", "; ".join(summary(missing)), mend)
    return fine("host settings", "; ".join(dict.fromkeys(map(_said, results))))


def _said(result: SettingResult) -> str:
    if result.outcome is SettingOutcome.APPLIED:
        return f"{result.name}: {result.before}, {result.wanted} for the time of the trials"
    if result.outcome is SettingOutcome.UNCHANGED:
        return f"{result.name}: {result.before} already"
    return f"{result.name}: left alone, {result.reason or result.outcome.value}"
