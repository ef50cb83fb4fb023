"""CPU binding: whether vLLM on Ascend binds its own processes to CPUs, which a binding from outside loses to.

Source: vLLM Ascend documentation. From 0.18.0rc1 on it does so by default on Arm; `enable_cpu_binding` of
--additional-config says otherwise.
"""

import json
from collections.abc import Sequence

from autotune.engines.vllm.flags import Flag, text_of

_KEY = "enable_cpu_binding"
DEFAULT = "the engine's default: from 0.18.0rc1 on it binds its own processes on Arm"


def cpu_binding(arguments: Sequence[str], *, ascend: bool) -> str | None:
    """What the report says of it; None where it is not vLLM on Ascend and the command does not say."""
    try:
        document = json.loads(text_of(arguments, Flag.ADDITIONAL_CONFIG) or "{}")
    except ValueError:
        document = {}
    asked = document.get(_KEY) if isinstance(document, dict) else None
    if asked is None:
        return DEFAULT if ascend else None
    return f"{'on' if asked else 'off'} ({_KEY})"
