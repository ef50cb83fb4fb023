"""Campaigns as real runs stored them: the emulated daemon, vLLM on CPU, and a run with failures."""

import json
from functools import cache
from pathlib import Path

from autotune.model.campaign import Campaign
from autotune.store.codec import decode

FOLDER = Path(__file__).resolve().parents[2] / "golden" / "campaigns"
NAMES = ("emulated_mindie", "vllm_cpu", "failures")


@cache
def stored(name):
    """One stored campaign."""
    return decode(json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8")), Campaign)
