"""Chart: the curve as curve.png and curve.svg, drawn by matplotlib for papers and mails."""

import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from autotune.report.evidence import PointKind
from autotune.report.plot import Mark, Plot
from autotune.report.safe_text import plot_label

CHINESE_FONTS = (
    "Noto Sans CJK SC",
    "Source Han Sans SC",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "SimHei",
)
PIXELS_AN_INCH = 144
COLOURS = {
    PointKind.INCUMBENT: "#57606a",
    PointKind.CANDIDATE: "#0b5cad",
    PointKind.CONFIRMATION: "#0b5cad",
    PointKind.SWEEP: "#8250df",
}
SHAPES = {
    PointKind.INCUMBENT: "s",
    PointKind.CANDIDATE: "o",
    PointKind.CONFIRMATION: "D",
    PointKind.SWEEP: ".",
}


def chinese_fonts() -> tuple[str, ...]:
    """Fonts of this host with which matplotlib can write Chinese."""
    from matplotlib import font_manager

    installed = {font.name for font in font_manager.fontManager.ttflist}
    return tuple(name for name in CHINESE_FONTS if name in installed)


@dataclass(frozen=True, kw_only=True, slots=True)
class Legend:
    """What the signs of the chart are called."""

    kinds: Mapping[PointKind, str]
    flag: str
    """Of a mark at which the service preempted requests."""
    cross: str
    """Of a value that did not start or gave no reading."""


def images(plot: Plot, legend: Legend) -> tuple[bytes, bytes]:
    """PNG and SVG of the chart, the same bytes for the same plot."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    with mpl.rc_context(
        {
            "svg.fonttype": "none",
            "svg.hashsalt": "ascend-autotune",
            "font.family": ["DejaVu Sans", *chinese_fonts()],
            "axes.unicode_minus": False,
        }
    ):
        figure = _figure(plot, legend)
        png, svg = io.BytesIO(), io.BytesIO()
        # savefig() would draw each of the two twice
        pixels: Any = FigureCanvasAgg(figure)
        pixels.print_png(png, metadata={"Software": None})
        figure.set_layout_engine("none")  # the places stay as they were found for the first
        vectors: Any = FigureCanvasSVG(figure)
        vectors.print_svg(svg, metadata={"Date": None, "Creator": None})
    return png.getvalue(), svg.getvalue()


def _figure(plot: Plot, legend: Legend) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 4.6), dpi=PIXELS_AN_INCH, layout="constrained")
    axes = figure.add_subplot()
    _draw_background(axes, plot)
    for trace in plot.traces:
        xs, ys = zip(*trace.points, strict=True)
        axes.plot(xs, ys, color=COLOURS[trace.kind], linewidth=1.2, alpha=0.6, linestyle=_dashes(trace.kind))
    for kind in PointKind:
        _draw_kind(axes, kind, [mark for mark in plot.marks if mark.kind is kind], legend.kinds[kind])
    _draw_signs(axes, plot, legend)
    axes.set_xlim(*plot.x_range)
    axes.set_ylim(*plot.y_range)
    axes.set_xlabel(plot_label(plot.x_label))
    axes.set_ylabel(plot_label(plot.y_label))
    axes.grid(visible=True, axis="y", color="#d0d7de", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="best", frameon=False, fontsize="small")
    return figure


def _dashes(kind: PointKind) -> str:
    return "--" if kind is PointKind.SWEEP else "-"


def _draw_background(axes: Any, plot: Plot) -> None:
    if plot.band is not None:
        axes.axvspan(
            plot.band.low, plot.band.high, color="#0b5cad", alpha=0.06, label=plot_label(plot.band.name)
        )
    if plot.knee is not None:
        axes.axvspan(
            plot.knee.low, plot.knee.high, color="#b47000", alpha=0.08, label=plot_label(plot.knee.name)
        )
    for rule in plot.rules:
        style = {"color": "#57606a", "linewidth": 0.9, "linestyle": ":", "label": plot_label(rule.name)}
        if rule.x is not None:
            axes.axvline(rule.x, **style)
        else:
            axes.axhline(rule.y, **style | {"linestyle": "--"})


def _draw_kind(axes: Any, kind: PointKind, marks: list[Mark], name: str) -> None:
    if not marks:
        return
    below = [mark.y - (mark.y if mark.low is None else mark.low) for mark in marks]
    above = [(mark.y if mark.high is None else mark.high) - mark.y for mark in marks]
    axes.errorbar(
        [mark.x for mark in marks],
        [mark.y for mark in marks],
        yerr=[below, above],
        fmt=SHAPES[kind],
        color=COLOURS[kind],
        markerfacecolor="white" if kind is PointKind.CONFIRMATION else COLOURS[kind],
        capsize=3,
        linewidth=1,
        label=plot_label(name),
    )


def _draw_signs(axes: Any, plot: Plot, legend: Legend) -> None:
    floor = plot.y_range[0]
    if plot.crosses:
        places, name = [cross.x for cross in plot.crosses], plot_label(legend.cross)
        axes.plot(places, [floor] * len(places), "x", color="#b42318", ms=9, clip_on=False, label=name)
    flagged = [mark for mark in plot.marks if mark.flagged]
    if flagged:
        lows = [mark.y if mark.low is None else mark.low for mark in flagged]
        below = [max(low - 0.035 * (plot.y_range[1] - floor), floor) for low in lows]
        axes.plot(
            [mark.x for mark in flagged],
            below,
            "^",
            color="#8a5300",
            markersize=6,
            label=plot_label(legend.flag),
        )
    middle = sum(plot.x_range) / 2
    for mark in plot.marks:
        if mark.name:
            _annotate(axes, mark, is_left=mark.x < middle)


def _annotate(axes: Any, mark: Mark, *, is_left: bool) -> None:
    """The best mark's name above it, any other's beside its mark, towards the middle of the chart."""
    place = (0, 8) if mark.best else (9 if is_left else -9, -4)
    sideways = "left" if is_left else "right"
    axes.annotate(
        plot_label(mark.name),
        (mark.x, mark.high if mark.best and mark.high is not None else mark.y),
        xytext=place,
        textcoords="offset points",
        ha="center" if mark.best else sideways,
        fontsize="small",
        fontweight="bold" if mark.best else "normal",
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 1},
    )
