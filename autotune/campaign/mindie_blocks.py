"""Blocks of a MindIE service before any start: by the formula, where its configuration fixes the memory."""

from pathlib import Path

from autotune.campaign.estimate import read_model
from autotune.engines.mindie.config_text import ConfigText
from autotune.errors import UsageError
from autotune.mindie_rules.fields import Field
from autotune.sizing.block_bytes import block_bytes
from autotune.sizing.memory import blocks_in
from autotune.units import GiB

_DEFAULT_BLOCK_SIZE = 128


def formula_blocks(config: ConfigText, model: Path | None) -> int | None:
    """KV blocks by npuMemSize and the model's own files; None where npuMemSize is -1 or no formula fits.

    Source: MindIE performance tuning guide, `Total Block Num`. What a start reports wins over it.
    """
    memory = config.number(Field.NPU_MEM_SIZE)
    weights = config.string(Field.MODEL_WEIGHT_PATH)
    path = model or (Path(weights) if weights else None)
    if memory is None or memory <= 0 or path is None:
        return None
    try:
        files = read_model(path)
        found = block_bytes(
            files.shape,
            block_size=config.number(Field.CACHE_BLOCK_SIZE) or _DEFAULT_BLOCK_SIZE,
            tensor_parallel=config.number(Field.TENSOR_PARALLEL) or config.number(Field.WORLD_SIZE) or 1,
            mtp_layers=1 if '"mtp' in (config.string(Field.PLUGIN_PARAMS) or "") else 0,
            cache_type=files.cache_type,
        )
        return blocks_in(memory * GiB, found.total)
    except UsageError:
        return None
