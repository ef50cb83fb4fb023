"""Plan view: what will be done and touched and how long it takes, before anybody is asked."""

from collections.abc import Iterable

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from autotune import __version__
from autotune.cli.rows import duration
from autotune.model.campaign import Campaign, Forecast
from autotune.model.service import Fact
from autotune.report.safe_text import one_line

NAME_WIDTH = 9


def plan_lines(campaign: Campaign, facts: Iterable[Fact], forecast: Forecast) -> tuple[tuple[str, str], ...]:
    """Name and text of every line of the plan; the forecast is the last."""
    lines = [(one_line(fact.name), one_line(fact.value)) for fact in facts]
    if campaign.launches:
        lines.append(("resumes", f"after {len(campaign.launches)} finished launches"))
    virtual = " of virtual time" if campaign.rehearsed else ""
    launches = f"{forecast.launches_low} to {forecast.launches_high} launches"
    span = f"{duration(forecast.seconds_low)} to {duration(forecast.seconds_high)}"
    lines.append(("about", f"{launches}, {duration(forecast.seconds)}{virtual} ({span})"))
    return tuple(lines)


def show_plan(console: Console, campaign: Campaign, facts: Iterable[Fact], forecast: Forecast) -> None:
    """Print the plan; on a terminal long lines are broken under their own beginning."""
    lines = plan_lines(campaign, facts, forecast)
    title = f"autotune {__version__}  {one_line(campaign.run)}"
    if not console.is_terminal:
        rows = (f"  {name}{' ' * max(1, NAME_WIDTH - cell_len(name))}{value}" for name, value in lines)
        console.print(Text("\n".join((title, *rows))), soft_wrap=True)
        return
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(min_width=NAME_WIDTH - 1)
    grid.add_column(overflow="fold")
    for name, value in lines:
        style = "bold" if name == "about" else ""
        grid.add_row(Text(f"  {name}", style="dim"), Text(value, style=style))
    console.print(Text(title, style="bold"))
    console.print(grid)


def plan_document(campaign: Campaign, facts: Iterable[Fact], forecast: Forecast) -> dict[str, object]:
    """The same for programs."""
    lines: dict[str, list[str]] = {}
    for fact in facts:
        lines.setdefault(one_line(fact.name), []).append(one_line(fact.value))
    return {
        "schema_version": 1,
        "run": one_line(campaign.run),
        "plan": {name: "; ".join(values) for name, values in lines.items()},
        "forecast": {
            "launches_low": forecast.launches_low,
            "launches_high": forecast.launches_high,
            "seconds_low": forecast.seconds_low,
            "seconds": forecast.seconds,
            "seconds_high": forecast.seconds_high,
        },
    }
