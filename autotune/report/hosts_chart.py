"""Hosts chart: what was found and what is best on each of many hosts, as one picture."""

import io
from typing import Any

from autotune.report.chart import COLOURS, chinese_fonts
from autotune.report.collected import Collection, HostReport, Side, names
from autotune.report.evidence import PointKind
from autotune.report.safe_text import plot_label

ROW_INCHES = 0.34
MOST_INCHES = 60.0
FOUND, BEST = COLOURS[PointKind.INCUMBENT], COLOURS[PointKind.CANDIDATE]


def hosts_picture(collection: Collection) -> bytes:
    """PNG with a row a host: the setting found as a square, the best one as a dot, with their intervals."""
    import matplotlib as mpl

    with mpl.rc_context({"font.family": ["DejaVu Sans", *chinese_fonts()], "axes.unicode_minus": False}):
        figure = _figure(collection.hosts)
        png = io.BytesIO()
        figure.savefig(png, format="png", dpi=144, metadata={"Software": None})
    return png.getvalue()


def _figure(hosts: tuple[HostReport, ...]) -> Any:
    from matplotlib.figure import Figure

    height = min(1.6 + ROW_INCHES * len(hosts), MOST_INCHES)
    figure = Figure(figsize=(9.0, height), layout="constrained")
    axes = figure.add_subplot()
    places = range(len(hosts))
    for place, report in zip(places, hosts, strict=True):
        if report.incumbent and report.best:
            ends = [report.incumbent.tokens_per_second, report.best.tokens_per_second]
            axes.plot(ends, [place, place], color="#d0d7de", linewidth=2, zorder=1)
    _draw(axes, [report.incumbent for report in hosts], "s", FOUND, "found on the host")
    _draw(axes, [report.best for report in hosts], "o", BEST, "best")
    axes.set_yticks(places, _labels(hosts))
    axes.set_ylim(len(hosts) - 0.5, -0.5)
    axes.set_xlabel("output tokens/s")
    axes.grid(visible=True, axis="x", color="#d0d7de", linewidth=0.6)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False, fontsize="small")
    return figure


def _labels(hosts: tuple[HostReport, ...]) -> list[str]:
    """What stands beside each row; what was emulated or rehearsed is named so."""
    shown = zip(names(hosts), hosts, strict=True)
    return [plot_label(name) + (" (emulated)" if report.emulated else "") for name, report in shown]


def _draw(axes: Any, sides: list[Side | None], shape: str, colour: str, label: str) -> None:
    known = [(place, side) for place, side in enumerate(sides) if side is not None]
    if not known:
        return
    axes.errorbar(
        [side.tokens_per_second for _, side in known],
        [place for place, _ in known],
        xerr=[(side.half_width or 0.0) * side.tokens_per_second for _, side in known],
        fmt=shape,
        color=colour,
        markersize=5,
        capsize=2,
        linewidth=1,
        label=label,
    )
    for place, side in known:
        axes.annotate(
            str(side.max_batch_size),
            (side.tokens_per_second, place),
            xytext=(0, 6),
            textcoords="offset points",
            ha="center",
            fontsize="x-small",
            color=colour,
        )
