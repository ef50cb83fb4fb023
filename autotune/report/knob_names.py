"""Knob names: our names of settings as each engine writes them."""

from autotune.model.settings import Settings, Value
from autotune.report.safe_text import one_line

MINDIE = {
    "max_batch_size": "maxBatchSize",
    "max_prefill_batch_size": "maxPrefillBatchSize",
    "max_prefill_tokens": "maxPrefillTokens",
    "prefill_time_ms_per_req": "prefillTimeMsPerReq",
    "decode_time_ms_per_req": "decodeTimeMsPerReq",
    "support_select_batch": "supportSelectBatch",
    "max_queue_delay_microseconds": "maxQueueDelayMicroseconds",
    "max_num_batched_tokens": "max_num_batched_tokens",
    "max_link_num": "maxLinkNum",
}
VLLM = {"max_batch_size": "--max-num-seqs", "max_num_batched_tokens": "--max-num-batched-tokens"}


def knob_name(name: str, engine_kind: str) -> str:
    """The engine's name of the setting that we call `name`."""
    if engine_kind == "vllm":
        return VLLM.get(name, f"--{name.replace('_', '-')}")
    return MINDIE.get(name, name)


def engine_text(kind: str, version: str) -> str:
    """The engine with its version, where that says more than its kind."""
    return kind if version in {"", kind} else f"{kind} {one_line(version)}"


def value_text(value: Value) -> str:
    """A value as the engine's own file writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def settings_text(settings: Settings, engine_kind: str) -> str:
    """All values that are set, with the engine's names."""
    values = settings.as_dict()
    return ", ".join(f"{knob_name(name, engine_kind)} {value_text(value)}" for name, value in values.items())


def changed(before: Settings, after: Settings) -> tuple[tuple[str, Value | None, Value], ...]:
    """Name, old and new value of every setting that `after` gives another value than `before`."""
    old, new = before.as_dict(), after.as_dict()
    return tuple((name, old.get(name), value) for name, value in new.items() if old.get(name) != value)
