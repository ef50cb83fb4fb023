"""Policies: the rule sets that exist, and the scheduler of each."""

from typing import TypeAlias

from autotune.simulator.mindie import MindieScheduler
from autotune.simulator.rules import MindieRules
from autotune.simulator.scheduler import Scheduler
from autotune.simulator.vllm import VllmScheduler
from autotune.simulator.vllm_rules import VllmRules

Rules: TypeAlias = MindieRules | VllmRules


def make_scheduler(rules: Rules) -> Scheduler:
    """The scheduler that follows these rules."""
    if isinstance(rules, MindieRules):
        return MindieScheduler(rules)
    return VllmScheduler(rules)
