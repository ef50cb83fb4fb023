"""Table: launches.csv, one row a level, for spreadsheets and notebooks."""

from autotune.model.campaign import Campaign
from autotune.model.launch import LaunchRecord
from autotune.model.measurement import Invalid, Level
from autotune.report.evidence import reasons
from autotune.report.safe_text import csv_cell

CsvValue = str | int | float | bool | None
SETTINGS = (
    "max_batch_size",
    "max_prefill_batch_size",
    "max_prefill_tokens",
    "prefill_time_ms_per_req",
    "decode_time_ms_per_req",
    "support_select_batch",
    "max_queue_delay_microseconds",
    "max_num_batched_tokens",
)


def launches_csv(campaign: Campaign) -> str:
    """Comma-separated text with a header; a launch without a level has one row with empty level columns."""
    import pandas as pd

    why = reasons(campaign)
    rows = [
        {**_launch(launch, why[launch.number]), **_level(level)}
        for launch in campaign.launches
        for level in launch.levels or (None,)
    ]
    columns = [*_launch_columns(), *_level(None)]
    frame = pd.DataFrame(rows, columns=columns, dtype=object)
    return frame.to_csv(index=False, lineterminator="\n")


def _launch_columns() -> list[str]:
    times = ["start_seconds", "warm_up_seconds", "measure_seconds", "stop_seconds"]
    return ["launch", "purpose", *SETTINGS, "outcome", "cause", "detail", "reason", "host", "blocks", *times]


def _launch(launch: LaunchRecord, reason: str) -> dict[str, CsvValue]:
    values = launch.settings.as_dict()
    return {
        "launch": launch.number,
        "purpose": launch.purpose.value,
        **{name: values.get(name) for name in SETTINGS},
        "outcome": launch.outcome.value,
        "cause": launch.cause.value if launch.cause else None,
        "detail": csv_cell(launch.detail),
        "reason": csv_cell(reason),
        "host": csv_cell(launch.host),
        "blocks": launch.blocks,
        "start_seconds": launch.seconds.start,
        "warm_up_seconds": launch.seconds.warm_up,
        "measure_seconds": launch.seconds.measure,
        "stop_seconds": launch.seconds.stop,
    }


def _level(level: Level | None) -> dict[str, CsvValue]:
    measured = None if isinstance(level, Invalid) else level
    invalid = level if isinstance(level, Invalid) else None
    return {
        "concurrency": level.concurrency if level else None,
        "invalid": invalid.reason.value if invalid else None,
        "invalid_detail": csv_cell(invalid.detail) if invalid else None,
        "tokens_per_second": measured.tokens_per_second if measured else None,
        "half_width": measured.half_width if measured else None,
        "whole_run_tokens_per_second": measured.whole_run_tokens_per_second if measured else None,
        "window_seconds": measured.seconds if measured else None,
        "requests": measured.requests if measured else None,
        "completed": measured.completed if measured else None,
        "failed": sum(failure.count for failure in measured.failed) if measured else None,
        "short_replies": measured.short_replies if measured else None,
        "running_mean": measured.running_mean if measured else None,
        "preemptions": measured.preemptions if measured else None,
        "ttft_mean_ms": measured.ttft_ms.mean if measured else None,
        "ttft_p99_ms": measured.ttft_ms.p99 if measured else None,
        "tpot_mean_ms": measured.tpot_ms.mean if measured else None,
        "tpot_p99_ms": measured.tpot_ms.p99 if measured else None,
        "e2e_mean_ms": measured.e2e_ms.mean if measured else None,
        "capped": measured.capped if measured else None,
        "assumed_noise": measured.assumed_noise if measured else None,
    }
