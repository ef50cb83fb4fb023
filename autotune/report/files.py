"""Files: writes everything that a finished campaign leaves for people and programs."""

import os
from dataclasses import dataclass
from pathlib import Path

from autotune.errors import Refused
from autotune.model.campaign import Campaign
from autotune.report.chart import Legend, chinese_fonts, images
from autotune.report.commands import state_option
from autotune.report.curve import curve_plot
from autotune.report.document import document_text, report_document
from autotune.report.html import page
from autotune.report.limits import profile_ceiling
from autotune.report.markdown import markdown_text
from autotune.report.redact import redacted
from autotune.report.reproduce import reproduce_text
from autotune.report.safe_text import patch
from autotune.report.sections import build
from autotune.report.table import launches_csv
from autotune.report.texts.english import ENGLISH
from autotune.report.texts.languages import language as language_of
from autotune.report.texts.words import Language

PRIVATE_FILE = 0o640
PRIVATE_DIRECTORY = 0o750
_ABOVE = 0o755


@dataclass(frozen=True, kw_only=True, slots=True)
class ReportFiles:
    """Where everything was written; the two charts are None when nothing was measured."""

    html: Path
    markdown: Path
    json: Path
    csv: Path
    diff: Path
    reproduce: Path
    png: Path | None
    svg: Path | None


def write_report(
    campaign: Campaign,
    directory: Path,
    *,
    language: str = "en",
    ceiling: float | None = None,
    redact: bool = False,
) -> ReportFiles:
    """Write all files into `directory`, which is created as 0750; files are 0640 and replaced if there.

    With `redact` hosts, addresses, paths and users are hidden everywhere. `ceiling` is the tokens a second of
    the bare model in a static test; without it the profile's own `report.ceiling` is taken.

    Raises UsageError for a language other than en or zh, Refused when the directory cannot be written.
    """
    words = language_of(language)
    if redact:
        campaign = redacted(campaign)
    ceiling = ceiling or profile_ceiling(campaign)
    report = build(campaign, words, ceiling=ceiling, is_redacted=redact)
    try:
        _make(directory)
        png, svg = _write_charts(campaign, directory, words, ceiling)
        return ReportFiles(
            html=_write(directory / "report.html", page(report, campaign, words)),
            markdown=_write(directory / "report.md", markdown_text(report, campaign, words)),
            json=_write(directory / "report.json", document_text(report_document(campaign, words))),
            csv=_write(directory / "launches.csv", launches_csv(campaign)),
            diff=_write(directory / "config.diff", patch(campaign.config_diff)),
            reproduce=_write(directory / "reproduce.md", reproduce_text(campaign, words)),
            png=png,
            svg=svg,
        )
    except OSError as error:
        again = f"autotune report {campaign.run} --output DIR{state_option(campaign)}"
        raise Refused(
            f"cannot write the report to {directory}: {error.strerror}",
            hint=f"nothing that was measured is lost: {again}",
        ) from error


def check_writable(directory: Path) -> None:
    """Raise Refused when a report could not be written there, before hours are spent on it."""
    there = next(place for place in (directory, *directory.absolute().parents) if place.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        reason = "it cannot be written" if there.is_dir() else "it is no directory"
        raise Refused(f"no report can be made at {directory}: {there}: {reason}", hint="--output DIR")


def _make(directory: Path) -> None:
    """Make it and what is missing above it; nobody else may write there, whatever the umask."""
    missing = [above for above in directory.parents if not above.exists()]
    for above in reversed(missing):
        above.mkdir(mode=_ABOVE, exist_ok=True)
    directory.mkdir(mode=PRIVATE_DIRECTORY, exist_ok=True)


def _write_charts(
    campaign: Campaign, directory: Path, words: Language, ceiling: float | None
) -> tuple[Path | None, Path | None]:
    """Charts in Chinese need a font of the host; without one their labels are English."""
    shown = words if words is ENGLISH or chinese_fonts() else ENGLISH
    plot = curve_plot(campaign, shown, ceiling)
    places = directory / "curve.png", directory / "curve.svg"
    if plot is None:
        for place in places:
            place.unlink(missing_ok=True)
        return None, None
    labels = shown.labels
    legend = Legend(kinds=shown.points, flag=labels.with_preemptions, cross=labels.failed_value)
    for place, content in zip(places, images(plot, legend), strict=True):
        _write_bytes(place, content)
    return places


def write_file(place: Path, content: bytes) -> Path:
    """Write a file of 0640, replacing what is there; its directory is made as 0750. Raises Refused."""
    try:
        place.parent.mkdir(mode=PRIVATE_DIRECTORY, parents=True, exist_ok=True)
        return _write_bytes(place, content)
    except OSError as error:
        raise Refused(
            f"cannot write {place}: {error.strerror}", hint="give another directory with --output"
        ) from error


def _write(place: Path, text: str) -> Path:
    return _write_bytes(place, text.encode("utf-8"))


def _write_bytes(place: Path, content: bytes) -> Path:
    place.unlink(missing_ok=True)
    place.touch(mode=PRIVATE_FILE)
    place.write_bytes(content)
    return place
