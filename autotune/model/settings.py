"""Settings: the values that one launch of the service is started with."""

from dataclasses import dataclass, fields

from autotune.errors import UsageError

Value = int | bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """The knobs of one launch. None means: leave what the service's own configuration says.

    `max_batch_size` is MindIE's maxBatchSize and vLLM's --max-num-seqs.
    Times are whole milliseconds, as MindIE takes them.
    """

    max_batch_size: int
    max_prefill_batch_size: int | None = None
    max_prefill_tokens: int | None = None
    prefill_time_ms_per_req: int | None = None
    decode_time_ms_per_req: int | None = None
    support_select_batch: bool | None = None
    max_queue_delay_microseconds: int | None = None
    max_num_batched_tokens: int | None = None
    max_link_num: int | None = None
    """Connections that MindIE takes at once; raised on request, so that the clients can fill the batch."""

    def as_dict(self) -> dict[str, Value]:
        """The values that are set, for JSON."""
        pairs = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {name: value for name, value in pairs if value is not None}

    @classmethod
    def from_dict(cls, values: dict[str, Value]) -> "Settings":
        """Read back what `as_dict` wrote. Raises UsageError for an unknown name."""
        known = {field.name for field in fields(cls)}
        unknown = sorted(set(values) - known)
        if unknown or "max_batch_size" not in values:
            raise UsageError(f"not settings: {', '.join(unknown) or 'max_batch_size is missing'}")
        return cls(**values)  # type: ignore[arg-type]
