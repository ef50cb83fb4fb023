"""Checks of one launch's values, made before anything is started, in vLLM's own words."""

from autotune.engines.vllm.facts import ServerFacts
from autotune.errors import LaunchCause, LaunchFailed
from autotune.model.settings import Settings


def check_settings(settings: Settings, facts: ServerFacts) -> None:
    """Raise LaunchFailed(CONFIG) for values that vLLM refuses. Source: vLLM's SchedulerConfig."""
    seqs = settings.max_batch_size
    if seqs < 1:
        raise _refused(f"max_num_seqs ({seqs}) must be greater than or equal to 1.")
    tokens = settings.max_num_batched_tokens
    tokens = facts.max_num_batched_tokens if tokens is None else tokens
    if tokens is None:
        return
    if tokens < seqs:
        raise _refused(
            f"max_num_batched_tokens ({tokens}) must be greater than or equal to max_num_seqs ({seqs})."
        )
    length = facts.max_model_len
    if facts.chunked_prefill is False and length is not None and tokens < length:
        raise _refused(
            f"max_num_batched_tokens ({tokens}) is smaller than max_model_len ({length}), "
            "and chunked prefill is off."
        )


def _refused(message: str) -> LaunchFailed:
    return LaunchFailed(LaunchCause.CONFIG, message, lines=(message,))
