"""The objective, search and measuring sections: what is sought, how far, how exactly."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from autotune.model.limit import Limit
from autotune.profile.limits import parse_limit
from autotune.profile.section import Count, Duration, Fraction, Section, Whole, not_empty

Knob = Literal[
    "max_batch_size",
    "max_prefill_batch_size",
    "max_prefill_tokens",
    "prefill_time_ms_per_req",
    "decode_time_ms_per_req",
    "support_select_batch",
    "max_queue_delay_microseconds",
    "max_num_batched_tokens",
]


def _limit(value: object) -> object:
    if isinstance(value, Limit):
        return value
    if not isinstance(value, str):
        raise ValueError(f'{value!r} is not a limit; quote it: "tpot:mean<=50ms"')  # noqa: TRY004 - pydantic takes ValueError
    return parse_limit(value)


class ObjectiveSection(Section):
    """What is maximised under which hard limits."""

    maximise: Literal["output_tokens_per_second"] = "output_tokens_per_second"
    limits: tuple[Annotated[Limit, BeforeValidator(_limit)], ...] = ()


class SearchSection(Section):
    """How the search goes and what it may cost."""

    strategy: Literal["scout", "guide", "grid", "multi"] = "scout"
    step: Whole = 100
    max_launches: Whole = 12
    knobs: Annotated[tuple[Knob, ...], AfterValidator(not_empty)] = ("max_batch_size",)
    seed: Count = 1
    grid: tuple[Whole, ...] = ()
    """The values that strategy grid tries; steps over the bracket when empty."""
    max_prefill_batch_size: Whole | Literal["half"] = "half"
    """Half of max_batch_size, or one number that all candidates keep."""
    max_prefill_tokens: Whole | Literal["product", "held"] = "product"
    """Prefill batch x mean input, the value found on the host, or one number."""

    @model_validator(mode="after")
    def _knobs_once(self) -> "SearchSection":
        if len(set(self.knobs)) != len(self.knobs):
            raise ValueError("a knob is named twice")
        return self


class MeasuringSection(Section):
    """How exactly levels are measured; half-widths are fractions, the cap is in seconds."""

    scout_half_width: Annotated[Fraction, Field(gt=0, le=0.5)] = 0.02
    final_half_width: Annotated[Fraction, Field(gt=0, le=0.5)] = 0.01
    level_cap: Duration = 600.0
