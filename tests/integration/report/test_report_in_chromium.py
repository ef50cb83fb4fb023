"""The page in a real browser; skipped where none is installed, an error in continuous integration."""

import os

import pytest

from autotune.report.html import page
from autotune.report.sections import build
from autotune.report.texts.languages import language

from ...unit.report import example_campaigns as examples  # noqa: TID252 - no second copy
from ...unit.report.stored_campaigns import NAMES, stored  # noqa: TID252 - no second copy
from .chromium import Chromium, find_chromium

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("one browser with all pages")]
REAL = [f"real {name}" for name in NAMES]
EVERY = [(name, code) for name in REAL for code in ("en", "zh")]
VIEWS = [
    (1280, False, "screen"),
    (1280, True, "screen"),
    (390, False, "screen"),
    (390, True, "screen"),
    (690, False, "print"),  # the width of A4 between its margins
]
CONTRAST = """
(() => {
  const brush = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const rgba = (colour) => {
    brush.clearRect(0, 0, 1, 1); brush.fillStyle = colour; brush.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = brush.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, under) => [0, 1, 2].map((i) => top[i] * top[3] + under[i] * (1 - top[3])).concat(1);
  const ground = (node) => {
    const layers = [];
    for (let at = node; at; at = at.parentElement) layers.push(rgba(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((under, top) => over(top, under), [255, 255, 255, 1]);
  };
  const light = (colour) => {
    const linear = (v) => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
    const [r, g, b] = colour.map((v) => linear(v / 255));
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const ratio = (a, b) => (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
  const weak = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    const unseen = !node.checkVisibility() || node.closest(".tip, script, style");
    if (!walker.currentNode.data.trim() || unseen) continue;
    const style = getComputedStyle(node);
    const under = ground(node);
    const ink = over(rgba(node.closest("svg") ? style.fill : style.color), under);
    const found = ratio(light(ink), light(under));
    if (found < 4.5) weak.push([walker.currentNode.data.trim().slice(0, 40), found.toFixed(2)]);
  }
  return weak;
})()
"""
OVERFLOW = """
[...document.querySelectorAll("body *")]
  .filter((node) => !node.closest(".scroll, pre, svg") && node.getBoundingClientRect().right > innerWidth + 1)
  .map((node) => node.outerHTML.slice(0, 80))
"""


@pytest.fixture(scope="module")
def browser():
    program = find_chromium()
    if program is None:
        words = "no chromium on this machine: apt-get install chromium fonts-noto-cjk"
        if os.environ.get("CI"):
            pytest.fail(words)
        pytest.skip(words)
    with Chromium(program) as opened:
        yield opened


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Report pages by campaign and language."""
    root = tmp_path_factory.mktemp("pages")
    campaigns = {
        "guide": examples.guide(),
        "failures": examples.with_failures(),
        "interrupted": examples.interrupted(),
        "hostile": examples.hostile(),
        **{f"real {name}": stored(name) for name in NAMES},
    }
    places = {(name, code): root / f"{name}-{code}.html" for name in campaigns for code in ("en", "zh")}
    for (name, code), place in places.items():
        words = language(code)
        place.write_text(page(build(campaigns[name], words), campaigns[name], words), encoding="utf-8")
    return places


@pytest.mark.parametrize(
    ("name", "code"), [("failures", "en"), ("interrupted", "zh"), ("hostile", "en"), *EVERY[:-1]]
)
def test_the_page_is_quiet_fits_and_can_be_read_in_every_view(browser, pages, name, code):
    for width, dark, media in VIEWS:
        view = f"{width} pixels, dark {dark}, {media}"
        browser.open(pages[name, code], width=width, dark=dark, media=media)
        assert browser.complaints() == [], view
        assert browser.requests() == [pages[name, code].as_uri()], view
        assert browser.evaluate("document.documentElement.scrollWidth <= innerWidth"), view
        if media == "screen":
            assert browser.evaluate(OVERFLOW) == [], view
        assert browser.evaluate(CONTRAST) == [], view


def test_the_contrast_check_sees_a_weak_colour(browser, pages):
    browser.open(pages["guide", "en"])
    browser.evaluate("document.querySelector('h1').attributeStyleMap.set('color', '#bbbbbb')")
    assert len(browser.evaluate(CONTRAST)) == 1


@pytest.mark.parametrize("width", [1280, 390])
def test_hovering_or_focusing_a_mark_tells_its_figures(browser, pages, width):
    browser.open(pages["guide", "en"], width=width)
    tips = "[...document.querySelectorAll('.tip')]"
    is_shown = "(tip) => getComputedStyle(tip).display !== 'none'"
    shown = f"{tips}.filter({is_shown}).map((tip) => tip.textContent)"
    spot = f"[...document.querySelectorAll('svg.{'wide' if width > 640 else 'narrow'} .spot')][2]"
    assert browser.evaluate(shown) == []
    browser.evaluate(f"{spot}.scrollIntoView({{block: 'center'}})")
    box = f"{spot}.querySelector('.target').getBoundingClientRect()"
    x, y = browser.evaluate(
        f"(() => {{ const b = {box}; return [b.x + b.width / 2, b.y + b.height / 2]; }})()"
    )
    browser.move_mouse(x, y)
    (tip,) = browser.evaluate(shown)
    assert "2,520.6 tokens/s ± 1.0 %" in tip
    browser.move_mouse(1, 1)
    assert browser.evaluate(shown) == []
    browser.evaluate(f"{spot}.focus()")
    (focused,) = browser.evaluate(shown)
    assert focused == tip


def test_a_tip_stays_inside_its_chart(browser, pages):
    for width in (1280, 390):
        browser.open(pages["failures", "zh"], width=width)
        outside = browser.evaluate("""
          [...document.querySelectorAll(".spot")].filter((spot) => {
            if (!spot.closest("svg").checkVisibility()) return false;
            spot.focus();
            const tip = spot.querySelector("rect").getBoundingClientRect();
            const chart = spot.closest("svg").getBoundingClientRect();
            const inside = [...spot.querySelectorAll("text")].every((text) => {
              const box = text.getBoundingClientRect();
              return box.left >= tip.left && box.right <= tip.right + 1;
            });
            const wide = tip.left < chart.left - 1 || tip.right > chart.right + 1;
            return !inside || wide || tip.top < chart.top - 1;
          }).length""")
        assert outside == 0


def column(browser, title):
    """Texts of a column of the launches table, by the start of its title."""
    return browser.evaluate(f"""
      (() => {{
        const table = document.querySelector("#launches table");
        const heads = [...table.tHead.rows[0].cells];
        const at = heads.findIndex((head) => head.textContent.startsWith("{title}"));
        return [...table.tBodies[0].rows].map((row) => row.cells[at].textContent);
      }})()""")


def test_a_click_sorts_by_number_and_another_turns_it_round(browser, pages):
    browser.open(pages["failures", "en"])
    head = "[...document.querySelectorAll('#launches th')].find((th) => th.textContent === 'maxBatchSize')"
    before = column(browser, "maxBatchSize")
    browser.evaluate(f"{head}.click()")
    up = column(browser, "maxBatchSize")
    assert up == sorted(before, key=int) != before
    assert browser.evaluate(f"{head}.getAttribute('aria-sort')") == "ascending"
    browser.evaluate(f"{head}.dispatchEvent(new KeyboardEvent('keydown', {{key: 'Enter'}}))")
    assert [int(text) for text in column(browser, "maxBatchSize")] == sorted(map(int, before), reverse=True)


def test_launches_without_a_reading_sort_last(browser, pages):
    browser.open(pages["failures", "en"])
    heads = "[...document.querySelectorAll('#launches th')]"
    browser.evaluate(f"{heads}.find((th) => th.textContent.startsWith('tokens')).click()")
    readings = column(browser, "tokens/s")
    assert readings[0].startswith("2,845.3")
    assert {"out of memory", "port in use", "stalled", "6 levels"} == set(readings[-4:])


def test_without_script_everything_but_sorting_is_there(browser, pages):
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(pages["guide", "en"])
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)
    assert browser.evaluate("document.querySelectorAll('#launches table.sortable tbody tr').length") == 5
    assert browser.evaluate("document.querySelector('p.screen').checkVisibility()") is False


def test_the_policy_stops_a_script_that_is_put_in(browser, pages):
    browser.open(pages["guide", "en"])
    browser.evaluate("""
      (() => {
        const bad = document.createElement("script");
        bad.textContent = "window.owned = true";
        document.body.append(bad);
      })()""")
    assert browser.evaluate("window.owned === undefined")
    assert any("Content Security Policy" in str(text) for text in browser.complaints())


def test_what_is_folded_on_the_screen_is_printed(browser, pages):
    height = "document.querySelector('#profile pre').getBoundingClientRect().height"
    browser.open(pages["guide", "en"])
    assert browser.evaluate(f"document.querySelector('#profile pre').checkVisibility() ? {height} : 0") == 0
    browser.open(pages["guide", "en"], media="print")
    assert browser.evaluate(height) > 100


def test_hostile_texts_open_no_dialog(browser, pages):
    browser.open(pages["hostile", "en"])
    assert not [event for event in browser.events if event["method"] == "Page.javascriptDialogOpening"]
    assert browser.evaluate("document.scripts.length") == 1


OVERLAP = """
[...document.querySelectorAll("svg.chart")].filter((chart) => chart.checkVisibility()).flatMap((chart) => {
  const texts = [...chart.querySelectorAll(":scope > text")];
  const boxes = texts.map((text) => [text, text.getBoundingClientRect()]);
  return boxes.flatMap(([text, a], at) => boxes.slice(at + 1)
    .filter(([, b]) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
                    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3)
    .map(([other]) => `${text.textContent} over ${other.textContent}`));
})
"""


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("code", ["en", "zh"])
@pytest.mark.parametrize("name", REAL)
def test_no_text_of_a_chart_covers_another_or_leaves_it(browser, pages, name, code, width):
    browser.open(pages[name, code], width=width)
    assert browser.evaluate(OVERLAP) == []
    outside = browser.evaluate("""
      [...document.querySelectorAll("svg.chart > text")].filter((text) => {
        if (!text.checkVisibility()) return false;
        const box = text.getBoundingClientRect(), chart = text.closest("svg").getBoundingClientRect();
        return box.left < chart.left - 2 || box.right > chart.right + 2;
      }).map((text) => text.textContent)""")
    assert outside == []


def test_what_the_search_predicted_is_on_the_page_of_a_scout(browser, pages):
    browser.open(pages["failures", "en"])
    assert browser.evaluate("document.querySelectorAll('#predicted tbody tr').length") == 2


@pytest.mark.parametrize("name", REAL)
def test_a_keyboard_reaches_marks_tables_and_folds(browser, pages, name):
    browser.open(pages[name, "en"])
    for kind in (".spot[tabindex='0']", "th[tabindex='0']", ".scroll[tabindex='0']", "summary"):
        assert browser.evaluate(f'document.querySelectorAll("{kind}").length') > 0, kind
    unnamed = "[...document.querySelectorAll('svg[role], [role=region], [role=img]')]"
    assert browser.evaluate(f"{unnamed}.filter((node) => !node.getAttribute('aria-label')).length") == 0
