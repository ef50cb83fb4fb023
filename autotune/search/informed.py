"""Informed: the space once the incumbent is measured: real lengths, and times that all candidates share."""

from dataclasses import replace

from autotune.model.launch import History, LaunchRecord, Purpose
from autotune.model.measurement import Measurement
from autotune.model.settings import Settings
from autotune.search.space import Space
from autotune.sizing.bracket import request_blocks

LONGEST_TIME_MS = 1000
"""Largest prefillTimeMsPerReq and decodeTimeMsPerReq that MindIE takes (service parameter documentation)."""


def informed(space: Space, history: History) -> Space:
    """The space with what the first measured incumbent tells; the same from then on.

    Lengths that the profile only assumed become the measured means. Where `times_from_means` is set, all
    candidates share prefill_time_ms_per_req (mean time to the first token that did not queue) and
    decode_time_ms_per_req (mean time per output token).
    """
    launch = next((each for each in history.launches if _is_read(each, space)), None)
    if launch is None:
        return space
    return _with_times(_with_lengths(space, _compared(launch, space)), launch)


def without_queue(launch: LaunchRecord) -> Measurement | None:
    """A level in which every request could run at once."""
    fitting = (level for level in launch.measurements if level.concurrency <= launch.settings.max_batch_size)
    return next(fitting, None)


def _is_read(launch: LaunchRecord, space: Space) -> bool:
    return launch.purpose is Purpose.INCUMBENT and any(
        level.concurrency == space.concurrency for level in launch.measurements
    )


def _compared(launch: LaunchRecord, space: Space) -> Measurement:
    return next(level for level in launch.measurements if level.concurrency == space.concurrency)


def _with_lengths(space: Space, level: Measurement) -> Space:
    outputs = level.mean_output_tokens
    inputs = level.input_tokens / level.completed if level.completed else 0.0
    if not space.lengths_assumed or not outputs or not inputs:
        return space
    most = max(space.max_output_tokens or 0, round(outputs), 1)
    request = request_blocks(
        input_tokens=inputs, output_tokens=outputs, max_output_tokens=most, block_size=space.block_size
    )
    return replace(space, request=request, mean_input_tokens=inputs)


def _with_times(space: Space, launch: LaunchRecord) -> Space:
    if not space.times_from_means:
        return space
    alone, compared = without_queue(launch), _compared(launch, space)
    prefill = alone.ttft_ms.mean if alone is not None else None
    decode = compared.tpot_ms.mean
    if prefill is None or decode is None:
        return space
    shared = space.shared or Settings(max_batch_size=launch.settings.max_batch_size)
    times = replace(
        shared, prefill_time_ms_per_req=_whole_ms(prefill), decode_time_ms_per_req=_whole_ms(decode)
    )
    return replace(space, shared=times)


def _whole_ms(value: float) -> int:
    return min(max(round(value), 1), LONGEST_TIME_MS)
