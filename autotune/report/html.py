"""HTML: the report as one page that needs no network, no script and no file beside it.

A content security policy allows exactly the style sheet and the small sorting script that ship with this
module, by their hashes; without the script everything works but sorting.
"""

import base64
import hashlib
from importlib.resources import files

from autotune.model.campaign import Campaign
from autotune.report.answer import origin_note
from autotune.report.figures import moment
from autotune.report.html_parts import parts_markup, tied
from autotune.report.markup import Markup, element
from autotune.report.parts import Report, Section
from autotune.report.safe_text import one_line
from autotune.report.texts.words import Language

DOCTYPE = Markup("<!DOCTYPE html>\n")


def page(report: Report, campaign: Campaign, language: Language) -> str:
    """The whole page."""
    title = f"{language.headings.title}: {one_line(campaign.profile_name, 80)}"
    return DOCTYPE + element(
        "html",
        _head(title),
        element(
            "body",
            _header(report, campaign, language),
            element(
                "main",
                _tiles(report),
                _contents(report, language),
                *(_section(section, language) for section in report.sections),
            ),
            element("footer", report.closing),
            element("script", _asset("sort.js")),
        ),
        lang=language.code,
    )


def content_policy() -> str:
    """Nothing from anywhere but our own style sheet and script, known by their hashes."""
    style, script = _hash(_asset("page.css")), _hash(_asset("sort.js"))
    return (
        f"default-src 'none'; style-src '{style}'; script-src '{script}'; "
        "img-src 'none'; base-uri 'none'; form-action 'none'"
    )


def _asset(name: str) -> Markup:
    return Markup(files("autotune.report").joinpath("page", name).read_text(encoding="utf-8"))


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _head(title: str) -> Markup:
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=content_policy()),
        element("meta", name_="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name_="robots", content="noindex"),
        element("title", title),
        element("style", _asset("page.css")),
    )


def _header(report: Report, campaign: Campaign, language: Language) -> Markup:
    said, origin = report.answer, origin_note(campaign, language)
    places = (
        language.headings.title,
        one_line(campaign.profile_name, 80),
        one_line(campaign.description.model_name, 80),
        moment(campaign.ended_wall or campaign.started_wall),
    )
    badge = element("span", language.verdicts[said.code], class_=f"badge {said.code.value}")
    return element(
        "header",
        element("p", origin, class_="banner") if origin else None,
        element("p", language.answer.not_restored, class_="banner alarm") if _is_alarm(campaign) else None,
        element("div", badge, *(element("span", place) for place in places), class_="eyebrow"),
        element("h1", tied(said.sentence)),
        *(element("p", tied(text), class_="lead") for text in _details(report, campaign, language)),
        element("p", said.next_words, " ", element("code", said.next_command), class_="next")
        if said.next_command
        else None,
    )


def _is_alarm(campaign: Campaign) -> bool:
    return not (campaign.restored or campaign.applied or campaign.rehearsed)


def _details(report: Report, campaign: Campaign, language: Language) -> tuple[str, ...]:
    """The sentences after the answer that no banner shows already."""
    shown = {origin_note(campaign, language), language.answer.not_restored}
    return tuple(text for text in report.answer.details if text not in shown)


def _tiles(report: Report) -> Markup:
    tiles = (
        element(
            "div",
            element("dt", tile.label),
            element("dd", tile.value, class_="figure"),
            element("dd", tile.remark, class_="remark") if tile.remark else None,
            class_="tile",
        )
        for tile in report.tiles
    )
    return element("dl", *tiles, class_="tiles")


def _contents(report: Report, language: Language) -> Markup:
    links = (
        element("li", element("a", section.heading, href=f"#{section.name}")) for section in report.sections
    )
    return element("nav", element("ul", *links), aria_label=language.headings.title)


def _section(section: Section, language: Language) -> Markup:
    heading = element("h2", section.heading)
    parts = parts_markup(section.parts, language)
    if section.folded:
        return element("section", element("details", element("summary", heading), parts), id_=section.name)
    return element("section", heading, parts, id_=section.name)
