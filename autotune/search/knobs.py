"""Knobs: which further values are tuned around a winner, how far, and which failed starts rule out more."""

from dataclasses import replace

from autotune.errors import LaunchCause
from autotune.model.launch import History, LaunchRecord, Outcome
from autotune.model.proposal import Knob, Values
from autotune.model.settings import Settings
from autotune.search.space import Space

MINDIE_KNOBS = (
    "max_prefill_batch_size",
    "max_prefill_tokens",
    "prefill_time_ms_per_req",
    "decode_time_ms_per_req",
    "max_queue_delay_microseconds",
    "support_select_batch",
)
VLLM_KNOBS = ("max_num_batched_tokens",)
MEMORY_KNOBS = ("max_batch_size", "max_prefill_batch_size", "max_prefill_tokens", "max_num_batched_tokens")
"""More of one of these never takes less memory."""
_NEAR = 1.25
_LEAST_TOKENS = 1024
_MOST_TOKENS = 16384
_TIMES_MS = (10, 1000)
_DELAYS_US = (500, 20000)
"""prefillTimeMsPerReq, decodeTimeMsPerReq and maxQueueDelayMicroseconds as MindIE bounds them, and below what
a client would notice."""


def knobs_around(winner: Settings, space: Space, wanted: tuple[str, ...]) -> tuple[Knob, ...]:
    """The knobs asked for; all of the engine's own when only max_batch_size is named. Empty ranges go."""
    names = tuple(name for name in wanted if name != "max_batch_size")
    names = names or (MINDIE_KNOBS if space.tune_prefill else VLLM_KNOBS)
    size = winner.max_batch_size
    tokens = max(_LEAST_TOKENS, space.max_input_token_len if space.tune_prefill else size)
    ranges = {
        "max_prefill_batch_size": (max(1, size // 10), size),
        "max_prefill_tokens": (tokens, max(_MOST_TOKENS, tokens)),
        "prefill_time_ms_per_req": _TIMES_MS,
        "decode_time_ms_per_req": _TIMES_MS,
        "max_queue_delay_microseconds": _DELAYS_US,
        "max_num_batched_tokens": (tokens, max(_MOST_TOKENS, tokens)),
    }
    own = [Knob(name=name, low=ranges[name][0], high=ranges[name][1]) for name in names if name in ranges]
    flags = [Knob(name=name, flag=True) for name in names if name == "support_select_batch"]
    low, high = space.nearest(size / _NEAR), space.nearest(size * _NEAR)
    near = Knob(name="max_batch_size", low=low, high=high)
    return tuple(knob for knob in (near, *own, *flags) if knob.flag or knob.low < knob.high)


def settings_with(winner: Settings, values: Values, space: Space) -> Settings:
    """The winner with these values, brought in line with each other and with the space's grid."""
    changed = replace(winner, **dict(values))  # type: ignore[arg-type]  # names and kinds are the knobs' own
    size = space.nearest(changed.max_batch_size)
    prefill, tokens = changed.max_prefill_batch_size, changed.max_num_batched_tokens
    return replace(
        changed,
        max_batch_size=size,
        max_prefill_batch_size=None if prefill is None else min(prefill, size),
        max_num_batched_tokens=None if tokens is None else max(tokens, size),
    )


def values_of(settings: Settings, knobs: tuple[Knob, ...]) -> Values:
    """What the settings say of the knobs; those that they leave alone are left out."""
    known = settings.as_dict()
    return tuple((knob.name, known[knob.name]) for knob in knobs if knob.name in known)


def ruled_out(settings: Settings, history: History) -> bool:
    """A start for want of memory failed with at most as much of everything that takes memory."""
    failed = (launch for launch in history.launches if _lacked_memory(launch))
    return any(_takes_at_least(settings, launch.settings) for launch in failed)


def _lacked_memory(launch: LaunchRecord) -> bool:
    return launch.outcome is Outcome.FAILED and launch.cause is LaunchCause.MEMORY


def _takes_at_least(settings: Settings, other: Settings) -> bool:
    pairs = ((getattr(settings, name), getattr(other, name)) for name in MEMORY_KNOBS)
    return all(mine is None or its is None or mine >= its for mine, its in pairs)
