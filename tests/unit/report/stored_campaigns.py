"""Campaigns as runs stored them: the emulated daemon, vLLM on CPU, failures, and limits in a rehearsal."""

import json
from functools import cache
from pathlib import Path

from autotune.model.campaign import Campaign
from autotune.store.codec import decode

FOLDER = Path(__file__).resolve().parents[2] / "golden" / "campaigns"
NAMES = ("emulated_mindie", "vllm_cpu", "failures", "limits_rehearsed")


@cache
def stored(name):
    """One stored campaign."""
    return decode(json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8")), Campaign)
