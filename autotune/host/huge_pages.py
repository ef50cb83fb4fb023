"""Huge pages: transparent huge pages, which the vendor's guide sets to `always` for steadier repeats."""

from pathlib import Path

from autotune.host.setting import SettingOutcome, SettingResult
from autotune.host.sysfs_value import offered_values, read_value, read_words
from autotune.units import MiB

NAME = "transparent_hugepages"
_FOLDER = "sys/kernel/mm/transparent_hugepage"
_LARGE_HUGE_PAGE = 512 * MiB


def plan_huge_pages(wanted: str, root: Path, *, large_consent: bool = False) -> SettingResult:
    """The item; APPLIED means here: is to be written.

    With 64 KiB pages one huge page is 512 MiB, and `always` then needs consent: memory may balloon.
    """
    place = root / _FOLDER / "enabled"
    advice = f"echo {wanted} > /{_FOLDER}/enabled"
    before, offered = read_value(place), offered_values(place)
    outcome, reason = SettingOutcome.APPLIED, ""
    if before is None:
        outcome, reason = SettingOutcome.UNAVAILABLE, "this kernel has no transparent huge pages"
    elif before == wanted:
        outcome = SettingOutcome.UNCHANGED
    elif len(offered) > 1 and wanted not in offered:
        outcome, reason = SettingOutcome.UNAVAILABLE, f"the kernel offers {', '.join(offered)}"
    elif wanted == "always" and huge_page_bytes(root) >= _LARGE_HUGE_PAGE and not large_consent:
        outcome = SettingOutcome.UNAVAILABLE
        size = huge_page_bytes(root) // MiB
        reason = f"one huge page is {size} MiB here; consent with host.always_with_large_pages: true"
    return SettingResult(
        name=NAME,
        path=str(place) if before is not None else "",
        before=before,
        wanted=wanted,
        after=before,
        outcome=outcome,
        reason=reason or _overridden_sizes(wanted, root),
        advice=advice,
    )


def huge_page_bytes(root: Path) -> int:
    """Size of one transparent huge page; 0 when the kernel does not tell."""
    words = read_words(root / _FOLDER / "hpage_pmd_size")
    return int(words[0]) if words and words[0].isdecimal() else 0


def defrag(root: Path) -> str | None:
    """When the kernel compacts memory to make huge pages; shown, never changed."""
    return read_value(root / _FOLDER / "defrag")


def _overridden_sizes(wanted: str, root: Path) -> str:
    """Newer kernels have a switch for each size; one at `never` ignores the common one."""
    if wanted == "never":
        return ""
    main = huge_page_bytes(root) // 1024
    value = read_value(root / _FOLDER / f"hugepages-{main}kB" / "enabled") if main else None
    return f"but the size of {main} kB is set to never and ignores this" if value == "never" else ""
