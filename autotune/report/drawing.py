"""Drawing: a Plot as inline SVG whose text is text, coloured by the page's style sheet.

Marks are drawn first; on top lies one transparent target a mark that shows its tip on hover or focus, so
that no mark ever covers a tip.
"""

from dataclasses import dataclass
from unicodedata import east_asian_width

from autotune.report.evidence import PointKind
from autotune.report.markup import Markup, element, join
from autotune.report.placing import Box, beside, free_spot
from autotune.report.plot import Band, Mark, Plot, Scale, Ticks, ticks

MOST_FOCUSABLE = 40
TIP_LINE = 17.0
LABEL_LINE = 14.0
LEFT = 56.0
RIGHT = 16.0
TEXT_SIZE = 12.0
NAME_HEIGHT = 13.0
NAME_WIDTH = 1.14
"""Names are bold and a little larger than other texts."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Canvas:
    """The size of a drawing in its own units, and where the axes are in it."""

    width: float
    height: float
    x: Scale
    y: Scale
    x_ticks: Ticks
    y_ticks: Ticks
    x_label: tuple[str, ...]
    """In as many lines as it needs."""

    @property
    def left(self) -> float:
        """Where the y axis stands."""
        return self.x.start

    @property
    def right(self) -> float:
        """Where the x axis ends."""
        return self.x.end

    @property
    def top(self) -> float:
        """Upper edge of the plotting area."""
        return self.y.end

    @property
    def bottom(self) -> float:
        """Where the x axis lies."""
        return self.y.start


def canvas(plot: Plot, *, width: float, height: float) -> Canvas:
    """Axes that hold the whole plot; fewer ticks where there is less room."""
    (x_low, x_high), (y_low, y_high) = plot.x_range, plot.y_range
    lines = broken(plot.x_label, width - LEFT - RIGHT)
    bottom = height - 34.0 - LABEL_LINE * len(lines)
    return Canvas(
        width=width,
        height=height,
        x=Scale(low=x_low, high=x_high, start=LEFT, end=width - RIGHT),
        y=Scale(low=y_low, high=y_high, start=bottom, end=40.0),
        x_ticks=ticks(x_low, x_high, round(width / 95)),
        y_ticks=ticks(y_low, y_high, round(height / 55)),
        x_label=lines,
    )


def svg(plot: Plot, *, width: float, height: float, class_: str) -> Markup:
    """The chart. Without colours of its own: those are classes of the page."""
    area = canvas(plot, width=width, height=height)
    return element(
        "svg",
        element("title", plot.title),
        element("desc", plot.description),
        _background(plot, area),
        _axes(plot, area),
        *(_trace(trace.kind, trace.points, area) for trace in plot.traces),
        *(_cross(cross.x, area) for cross in plot.crosses),
        *(_mark(mark, area) for mark in plot.marks),
        _names(plot, area),
        _targets(plot, area),
        class_=f"chart {class_}",
        viewBox=f"0 0 {width:g} {height:g}",
        role="group",
        aria_label=plot.title,
    )


def swatch(kind: PointKind) -> Markup:
    """The mark of a kind by itself, for a legend."""
    return _swatch(_shape(kind, 8, 8))


def swatch_of(name: str) -> Markup:
    """The sign `cross`, `flag`, `band` or `knee` by itself, for a legend."""
    signs = {
        "cross": lambda: _cross_sign(8, 8),
        "flag": lambda: _flag(8, 3),
        "band": lambda: element("rect", x=0, y=0, width=16, height=16, class_="band"),
        "knee": lambda: element("rect", x=0, y=0, width=16, height=16, class_="knee"),
    }
    return _swatch(signs[name]())


def _swatch(content: Markup) -> Markup:
    return element("svg", content, class_="swatch", viewBox="0 0 16 16", aria_hidden="true")


def _background(plot: Plot, area: Canvas) -> Markup:
    shades = (_shade(plot.band, "band", area), _shade(plot.knee, "knee", area))
    return join(*shades, *(_rule(rule.name, rule.x, rule.y, area) for rule in plot.rules))


def _shade(band: Band | None, class_: str, area: Canvas) -> Markup | None:
    if band is None:
        return None
    start, width = area.x(band.low), area.x(band.high) - area.x(band.low)
    return element("rect", x=start, y=area.top, width=width, height=area.bottom - area.top, class_=class_)


def _rule(name: str, x: float | None, y: float | None, area: Canvas) -> Markup:
    if x is not None:
        place = area.x(x)
        return join(
            element("line", x1=place, x2=place, y1=area.top, y2=area.bottom, class_="rule"),
            element("text", name, x=place, y=area.top - 6, class_="hint", text_anchor="middle"),
        )
    level = area.y(y if y is not None else 0.0)
    return join(
        element("line", x1=area.left, x2=area.right, y1=level, y2=level, class_="rule limit"),
        element("text", name, x=area.right, y=level - 5, class_="hint", text_anchor="end"),
    )


def _axes(plot: Plot, area: Canvas) -> Markup:
    parts = []
    for value, text in zip(area.x_ticks.values, area.x_ticks.texts(), strict=True):
        place = area.x(value)
        parts.append(element("line", x1=place, x2=place, y1=area.bottom, y2=area.bottom + 5, class_="axis"))
        parts.append(element("text", text, x=place, y=area.bottom + 19, text_anchor="middle"))
    for value, text in zip(area.y_ticks.values, area.y_ticks.texts(), strict=True):
        level = area.y(value)
        parts.append(element("line", x1=area.left, x2=area.right, y1=level, y2=level, class_="grid"))
        parts.append(element("text", text, x=area.left - 8, y=level + 4, text_anchor="end"))
    middle = (area.left + area.right) / 2
    parts += [
        element("line", x1=area.left, x2=area.right, y1=area.bottom, y2=area.bottom, class_="axis"),
        *(
            element(
                "text",
                line,
                x=middle,
                y=area.bottom + 40 + LABEL_LINE * at,
                class_="label",
                text_anchor="middle",
            )
            for at, line in enumerate(area.x_label)
        ),
        element("text", plot.y_label, x=4, y=14, class_="label"),
    ]
    return join(*parts)


def _trace(kind: PointKind, points: tuple[tuple[float, float], ...], area: Canvas) -> Markup:
    steps = " L".join(f"{area.x(x):.1f} {area.y(y):.1f}" for x, y in points)
    return element("path", d=f"M{steps}", class_=f"trace {kind.value}")


def _cross(x: float, area: Canvas) -> Markup:
    return _cross_sign(area.x(x), area.bottom - 12)


def _cross_sign(x: float, y: float) -> Markup:
    path = f"M{x - 5:.1f} {y - 5:.1f} l10 10 M{x + 5:.1f} {y - 5:.1f} l-10 10"
    return element("path", d=path, class_="cross")


def _flag(x: float, y: float) -> Markup:
    return element("path", d=f"M{x:.1f} {y:.1f} l5 9 h-10 z", class_="flag")


def _mark(mark: Mark, area: Canvas) -> Markup:
    x, y = area.x(mark.x), area.y(mark.y)
    parts = [_interval(mark, x, area)]
    if mark.best:
        parts.append(element("circle", cx=x, cy=y, r=10, class_="ring"))
    parts.append(_shape(mark.kind, x, y))
    if mark.flagged:
        parts.append(_flag(x, _flag_top(mark, area)))
    return join(*parts)


def _interval(mark: Mark, x: float, area: Canvas) -> Markup | None:
    """The 95 % interval; an end that lies outside the chart has no cap."""
    if mark.low is None or mark.high is None:
        return None
    bar = f"M{x:.1f} {area.y(mark.low):.1f} V{area.y(mark.high):.1f}"
    for end in (mark.low, mark.high):
        if area.y.low <= end <= area.y.high:
            bar += f" M{x - 4:.1f} {area.y(end):.1f} h8"
    return element("path", d=bar, class_=f"bar {mark.kind.value}")


def _flag_top(mark: Mark, area: Canvas) -> float:
    """Below the interval; below the mark itself where the interval leaves the chart."""
    below = area.y(mark.y) + 8 if mark.low is None else area.y(mark.low) + 6
    return below if below < area.bottom - 28 else min(area.y(mark.y) + 9, area.bottom - 28)


def _shape(kind: PointKind, x: float, y: float) -> Markup:
    class_ = f"mark {kind.value}"
    if kind is PointKind.SWEEP:
        return element("circle", cx=x, cy=y, r=3.5, class_=class_)
    if kind is PointKind.CANDIDATE:
        return element("circle", cx=x, cy=y, r=5.5, class_=class_)
    if kind is PointKind.INCUMBENT:
        return element("rect", x=x - 5, y=y - 5, width=10, height=10, class_=class_)
    return element("path", d=f"M{x:.1f} {y - 7:.1f} l7 7 l-7 7 l-7 -7 z", class_=class_)


def _names(plot: Plot, area: Canvas) -> Markup:
    """The names of marks, the best one's first, where they cover no mark and no other name."""
    room = Box(left=area.left, top=area.top - 2, right=area.right, bottom=area.bottom)
    taken = [_mark_box(mark, area) for mark in plot.marks]
    taken += [_rule_box(rule.name, rule.x, rule.y, area) for rule in plot.rules]
    texts = []
    for mark in sorted((mark for mark in plot.marks if mark.name), key=lambda mark: not mark.best):
        width = NAME_WIDTH * text_width(mark.name) + 4
        spots = beside(_mark_box(mark, area), width=width, height=NAME_HEIGHT, area=room)
        spot = free_spot(spots, taken, room)
        taken.append(spot.box)
        texts.append(element("text", mark.name, x=spot.x, y=spot.y, class_="name", text_anchor=spot.anchor))
    return join(*texts)


def _mark_box(mark: Mark, area: Canvas) -> Box:
    x, y = area.x(mark.x), area.y(mark.y)
    reach = 11.0 if mark.best else 6.0
    top = y if mark.high is None else area.y(mark.high)
    bottom = y if mark.low is None else area.y(mark.low)
    bottom = max(bottom, _flag_top(mark, area) + 9) if mark.flagged else bottom
    return Box(left=x - reach, top=min(top, y - reach), right=x + reach, bottom=max(bottom, y + reach))


def _rule_box(name: str, x: float | None, y: float | None, area: Canvas) -> Box:
    width = text_width(name)
    if x is not None:
        place = area.x(x)
        return Box(left=place - width / 2, top=area.top - 18, right=place + width / 2, bottom=area.top - 2)
    level = area.y(y if y is not None else 0.0)
    return Box(left=area.right - width, top=level - 17, right=area.right, bottom=level + 1)


def _targets(plot: Plot, area: Canvas) -> Markup:
    focusable = len(plot.marks) + len(plot.crosses) <= MOST_FOCUSABLE
    spots = [(area.x(mark.x), area.y(mark.y), mark.tip) for mark in plot.marks]
    spots += [(area.x(cross.x), area.bottom - 12, cross.tip) for cross in plot.crosses]
    return join(*(_target(x, y, tip, area, focusable=focusable) for x, y, tip in spots if tip))


def _target(x: float, y: float, tip: tuple[str, ...], area: Canvas, *, focusable: bool) -> Markup:
    return element(
        "g",
        element("circle", cx=x, cy=y, r=11, class_="target"),
        _tip(x, y, tip, area),
        class_="spot",
        tabindex=0 if focusable else None,
        role="img",
        aria_label="; ".join(tip),
    )


def _tip(x: float, y: float, lines: tuple[str, ...], area: Canvas) -> Markup:
    width = max(map(text_width, lines)) + 20
    height = TIP_LINE * len(lines) + 12
    left = min(max(x - width / 2, 2.0), area.width - width - 2)
    over = y - height - 14
    top = over if over > 0 else min(y + 14, area.height - height - 2)
    texts = (
        element("text", line, x=left + 10, y=top + 20 + TIP_LINE * place) for place, line in enumerate(lines)
    )
    return element(
        "g", element("rect", x=left, y=top, width=width, height=height, rx=5), *texts, class_="tip"
    )


def broken(text: str, width: float) -> tuple[str, ...]:
    """A label in one line, or broken before its remark in brackets where it is wider than that."""
    head, bracket, tail = text.partition("（") if "（" in text else text.partition(" (")
    if text_width(text) <= width or not bracket:
        return (text,)
    return head, f"{bracket}{tail}".strip()


def text_width(text: str) -> float:
    """About how wide a text of the chart is, in its units."""
    if text.isascii():
        return 0.56 * TEXT_SIZE * len(text)
    wide = sum(east_asian_width(sign) in {"W", "F"} for sign in text)
    return 0.56 * TEXT_SIZE * (len(text) - wide) + 1.04 * TEXT_SIZE * wide
