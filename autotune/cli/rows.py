"""One row a launch, as the terminal shows it: readings with intervals rather than bare numbers."""

from autotune.cli.layouts import Piece, Row
from autotune.errors import LaunchCause
from autotune.events import LevelProgress, Phase
from autotune.model.launch import LaunchRecord, Outcome, Purpose
from autotune.model.measurement import Distribution, Invalid, Measurement
from autotune.model.settings import Settings
from autotune.report.safe_text import one_line
from autotune.report.texts.english import ENGLISH

DETAIL = 160
"""Most signs of what a failed launch said."""

PURPOSES = {
    Purpose.INCUMBENT: "as found",
    Purpose.SCOUT: "sweep",
    Purpose.CANDIDATE: "candidate",
    Purpose.CONFIRMATION: "confirm",
}


def duration(seconds: float) -> str:
    """`1:05` or `2:03:10`."""
    whole = round(max(0.0, seconds))
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


def rate(tokens_per_second: float, half_width: float | None) -> str:
    """`2,845.3 ± 0.9 %`; without an interval an ellipsis says that it is not final."""
    if half_width is None:
        return f"{tokens_per_second:,.1f} …"
    return f"{tokens_per_second:,.1f} ± {100 * half_width:.1f} %"


def milliseconds(distribution: Distribution) -> str:
    """Mean of a latency, in the unit that reads best."""
    if distribution.mean is None:
        return "-"
    if distribution.mean >= 10_000:  # noqa: PLR2004 - from ten seconds on, seconds read better
        return f"{distribution.mean / 1000:.1f} s"
    return f"{distribution.mean:.0f} ms"


def launch_row(record: LaunchRecord, incumbent: LaunchRecord | None, reason: str = "") -> Row:
    """The row of a launch that is over, compared with the first launch of the setting found."""
    head, prefill = _head(record.number, record.purpose, record.settings)
    time = duration(record.seconds.total)
    message, short, style = _message(record)
    level = record.last
    if message or level is None:
        return Row(
            head=head,
            prefill=prefill,
            message=message,
            short_message=short,
            time=time,
            reason=one_line(reason),
            style=style,
            detail=one_line(record.detail, DETAIL) if record.outcome is Outcome.FAILED else "",
        )
    change, change_style = _against(record, level, incumbent)
    readings = (
        rate(level.tokens_per_second, level.half_width),
        change,
        milliseconds(level.ttft_ms),
        milliseconds(level.tpot_ms),
    )
    return Row(
        head=head,
        prefill=prefill,
        readings=readings,
        time=time,
        reason=one_line(reason),
        change_style=change_style,
    )


def live_row(
    number: int,
    purpose: Purpose,
    settings: Settings,
    *,
    phase: Phase,
    progress: LevelProgress | None,
    spent: float,
    time_scale: float = 1.0,
) -> Row:
    """The row of the launch that runs now. `spent` is in seconds of the host's clock."""
    head, prefill = _head(number, purpose, settings)
    message, at = phase.value, ""
    if progress is not None and progress.tokens_per_second is not None:
        at = f"at {progress.concurrency}: " if purpose is Purpose.SCOUT else ""
        message = rate(progress.tokens_per_second, progress.half_width)
        if progress.seconds_left is not None:
            message += f", {duration(progress.seconds_left / time_scale)} left"
    return Row(
        head=head,
        prefill=prefill,
        message=f"{at}{message}",
        short_message=message,
        time=duration(spent),
        style="cyan",
    )


def unfinished_row(number: int, purpose: Purpose, settings: Settings, *, why: str, spent: float) -> Row:
    """The row of a launch that was ended before its time."""
    head, prefill = _head(number, purpose, settings)
    return Row(
        head=head,
        prefill=prefill,
        message=f"not finished: {one_line(why)}",
        time=duration(spent),
        style="yellow",
    )


def _head(number: int, purpose: Purpose, settings: Settings) -> tuple[tuple[str, str, str], str]:
    prefill = settings.max_prefill_batch_size
    head = (str(number), PURPOSES[purpose], str(settings.max_batch_size))
    return head, "-" if prefill is None else str(prefill)


def _message(record: LaunchRecord) -> tuple[str, str, str]:
    """What stands in place of readings, the same shorter, and its style."""
    if record.outcome is Outcome.FAILED:
        return f"failed: {ENGLISH.causes[record.cause or LaunchCause.UNKNOWN]}", "", "red"
    if record.last is None:
        last = record.levels[-1] if record.levels else None
        words = ENGLISH.invalid[last.reason] if isinstance(last, Invalid) else "nothing measured"
        return f"does not count: {words}", words, "red"
    if record.purpose is Purpose.SCOUT:
        speeds = [level.tokens_per_second for level in record.measurements]
        levels = f"{len(record.levels)} levels, "
        full = f"{levels}{min(speeds):,.1f} to {max(speeds):,.1f} token/s"
        return full, f"{levels}to {max(speeds):,.1f}", ""
    return "", "", ""


def _against(record: LaunchRecord, level: Measurement, incumbent: LaunchRecord | None) -> Piece:
    """`+4.7 %` against the incumbent's reading, green or red beyond the interval; not a verdict."""
    base = incumbent.last if incumbent is not None else None
    if incumbent is None or base is None or not base.tokens_per_second:
        return "-", ""
    if record.settings == incumbent.settings:
        return "-", ""
    change = level.tokens_per_second / base.tokens_per_second - 1
    shown = f"{round(100 * change, 1) + 0.0:+.1f} %"
    if abs(change) <= level.half_width:
        return shown, ""
    return shown, "green" if change > 0 else "red"
