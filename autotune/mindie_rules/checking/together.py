"""The checks that hold between ScheduleConfig and a model; they come last, in every version."""

from autotune.mindie_rules.checking.console import Console
from autotune.mindie_rules.checking.schedule import Schedule


def check_together(
    console: Console, schedule: Schedule, *, cpu_mem_size: int, max_input_token_len: int
) -> bool:
    """Check what holds between ScheduleConfig and a model; every fault is printed."""
    results = [
        schedule.number("maxIterTimes") != 0
        or console.refuse("The value of ScheduleParam.maxIterTimes can not be 0."),
        schedule.number("maxPreemptCount") == 0
        or cpu_mem_size != 0
        or console.refuse("The value of modelParam.cpuMemSize can not be 0 when maxPreemptCount is not 0."),
        schedule.number("maxPrefillTokens") >= max_input_token_len
        or schedule.text("templateType") == "Mix"
        or console.refuse("The value of maxPrefillTokens should not be less than maxInputTokenLen."),
    ]
    return all(results)
