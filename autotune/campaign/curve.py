"""Curve: what the simulator predicts over the bracket, for `autotune estimate --curve`."""

from autotune.campaign.concurrency import HEADROOM
from autotune.campaign.estimate import Lengths
from autotune.model.bracket import Bracket
from autotune.model.settings import Settings
from autotune.simulator.curve import CurvePoint, CurveRequest, predict_curve, spread_between
from autotune.simulator.lengths import LengthShape, synthetic_lengths
from autotune.simulator.presets import preset
from autotune.sizing.bracket import prefill_batch

DEFAULT_PRESET = "llama3-8b"


def predicted_curve(bracket: Bracket, lengths: Lengths) -> tuple[CurvePoint, ...]:
    """Twelve sizes over the bracket with the step costs of the llama3-8b preset and the bracket's blocks.

    Raises UsageError when a request does not fit into the blocks.
    """
    chosen = preset(DEFAULT_PRESET).with_blocks(bracket.blocks)
    shape = LengthShape(
        input_tokens=lengths.input_tokens,
        output_tokens=lengths.output_tokens,
        max_output_tokens=lengths.max_output_tokens,
    )
    request = CurveRequest(
        rules=chosen.rules,
        cost=chosen.cost,
        lengths=synthetic_lengths(shape, seed=1),
        concurrency=max(1, round(HEADROOM * bracket.high)),
    )
    sizes = spread_between(bracket.low, bracket.high)
    return predict_curve(request, [_settings(size) for size in sizes])


def _settings(size: int) -> Settings:
    return Settings(
        max_batch_size=size, max_prefill_batch_size=prefill_batch(size), support_select_batch=True
    )
