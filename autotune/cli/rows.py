"""One row a launch, as the terminal shows it: cells with intervals rather than bare numbers."""

from autotune.events import LevelProgress, Phase
from autotune.model.launch import LaunchRecord, Outcome
from autotune.model.measurement import Distribution, Measurement
from autotune.model.settings import Settings

COLUMNS = ("#", "purpose", "max batch", "prefill", "output token/s", "vs incumbent", "TTFT", "TPOT", "time")
WIDTHS = (3, 12, 9, 7, 18, 12, 9, 8, 7)


def duration(seconds: float) -> str:
    """`1:05` or `2:03:10`."""
    whole = round(max(0.0, seconds))
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


def rate(tokens_per_second: float, half_width: float | None) -> str:
    """`2845.3 ± 0.9 %`; without an interval an ellipsis says that it is not final."""
    if half_width is None:
        return f"{tokens_per_second:.1f} …"
    return f"{tokens_per_second:.1f} ± {100 * half_width:.1f} %"


def milliseconds(distribution: Distribution) -> str:
    """Mean of a latency, in the unit that reads best."""
    if distribution.mean is None:
        return "-"
    if distribution.mean >= 10_000:  # noqa: PLR2004 - from ten seconds on, seconds read better
        return f"{distribution.mean / 1000:.1f} s"
    return f"{distribution.mean:.0f} ms"


def against(level: Measurement, incumbent: Measurement | None) -> str:
    """`+4.7 %` against the incumbent's reading; not a verdict."""
    if incumbent is None or incumbent is level:
        return "-"
    return f"{100 * (level.tokens_per_second / incumbent.tokens_per_second - 1):+.1f} %"


def launch_cells(record: LaunchRecord, incumbent: Measurement | None) -> tuple[str, ...]:
    """The final row of a launch."""
    head = _head(record.number, record.purpose.value, record.settings)
    if record.outcome is Outcome.FAILED:
        first = record.detail.splitlines()[0] if record.detail else ""
        cause = record.cause.value if record.cause else "failed"
        return (*head, f"failed: {cause}", first, "", "", duration(record.seconds.total))
    level = record.last
    if level is None:
        reason = record.levels[-1] if record.levels else None
        text = f"invalid: {reason.reason.value}" if reason and not isinstance(reason, Measurement) else "-"
        return (*head, text, "", "", "", duration(record.seconds.total))
    cells = (
        rate(level.tokens_per_second, level.half_width),
        against(level, incumbent),
        milliseconds(level.ttft_ms),
        milliseconds(level.tpot_ms),
    )
    return (*head, *cells, duration(record.seconds.total))


def live_cells(
    number: int, purpose: str, settings: Settings, phase: Phase, progress: LevelProgress | None, spent: float
) -> tuple[str, ...]:
    """The row of the launch that runs now."""
    head = _head(number, purpose, settings)
    if progress is None or progress.tokens_per_second is None:
        return (*head, phase.value, "", "", "", duration(spent))
    left = f"{duration(progress.seconds_left)} left" if progress.seconds_left is not None else ""
    reading = rate(progress.tokens_per_second, progress.half_width)
    return (*head, reading, phase.value, left, "", duration(spent))


def plain(cells: tuple[str, ...]) -> str:
    """One line for a log; columns line up while they fit."""
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, WIDTHS, strict=True)).rstrip()


def _head(number: int, purpose: str, settings: Settings) -> tuple[str, str, str, str]:
    prefill = settings.max_prefill_batch_size
    return (
        str(number),
        purpose,
        str(settings.max_batch_size),
        "-" if prefill is None else str(prefill),
    )
