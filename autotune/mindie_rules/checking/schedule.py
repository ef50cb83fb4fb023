"""The checks of ScheduleConfig: types, then values; only the first wrong value of this section is printed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from autotune.mindie_rules.bounds import BATCH_HIGH, TOKENS_HIGH
from autotune.mindie_rules.checking.console import Console, as_unsigned, contains, member
from autotune.mindie_rules.checking.types import Kind, check_types, optional, required
from autotune.mindie_rules.json_text import JsonValue

_SPECS: Final = (
    *required(Kind.STRING, "templateName", "templateType"),
    *required(
        Kind.UINT32,
        "cacheBlockSize",
        "decodePolicyType",
        "decodeTimeMsPerReq",
        "maxBatchSize",
        "maxPreemptCount",
        "maxPrefillTokens",
        "maxIterTimes",
        "maxPrefillBatchSize",
        "maxQueueDelayMicroseconds",
        "prefillPolicyType",
        "prefillTimeMsPerReq",
    ),
    *required(Kind.BOOL, "supportSelectBatch"),
    *optional(Kind.UINT32, "stageSelectPolicy"),
    *optional(Kind.BOOL, "dynamicBatchSizeEnable", "enablePrefixCache", "enableSplit", "enablChunkedPrefill"),
    *optional(Kind.UINT32, "policyType"),
    *optional(Kind.BOOL, "splitType", "splitStartType"),
    *optional(Kind.UINT32, "splitChunkTokens", "splitStartBatchSize"),
    *optional(Kind.UINT32, "prefillExpectedTime", "decodeExpectedTime"),
    *optional(Kind.BOOL, "bufferResponseEnabled", "distributedEnable"),
    *optional(Kind.UINT32, "maxFirstTokenWaitTime", "maxN"),
    *optional(Kind.OBJECT, "layerwiseDisaggregated"),
)
_LAYERWISE_SPECS: Final = optional(Kind.BOOL, "nextPHeadPrior")
_CheckOf = Callable[[], bool]
_POLICIES: Final = range(4)
_MIX_POLICIES: Final = frozenset({0, 4, 5, 6, 7})
_UNSET_MAX_N: Final = 128
_POLICY_BITS: Final = 16
_CHUNKS: Final = (
    ("prefillChunkSize", 0),
    ("maxNumPartialPrefills", 64),
    ("maxLongPartialPrefills", 8),
    ("longPrefillTokenThreshold", 1024),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Schedule:
    """ScheduleConfig as the checker has read it."""

    section: JsonValue

    def number(self, key: str, unset: int = 0) -> int:
        """A number; `unset` where it is left out. Raises Thrown for what is none."""
        return as_unsigned(member(self.section, key)) if contains(self.section, key) else unset

    def text(self, key: str) -> str:
        """A string whose type was checked."""
        value = member(self.section, key)
        return value if isinstance(value, str) else ""

    @property
    def max_prefill_batch_size(self) -> int:
        """0 in the file means: the same as maxBatchSize."""
        return self.number("maxPrefillBatchSize") or self.number("maxBatchSize")

    @property
    def max_n(self) -> int:
        """Most sequences of one request."""
        return self.number("maxN", unset=min(_UNSET_MAX_N, self.number("maxBatchSize")))

    @property
    def stage_select_policy(self) -> int:
        """SupportSelectBatch forces 1; the number has 16 bits."""
        if member(self.section, "supportSelectBatch") is True:
            return 1
        return self.number("stageSelectPolicy") % 2**_POLICY_BITS

    @property
    def distributed(self) -> bool:
        """Whether several nodes share the work."""
        return member(self.section, "distributedEnable") is True


def read_schedule(console: Console, section: JsonValue) -> Schedule | None:
    """Read ScheduleConfig; None when it is refused. Raises Thrown."""
    if not check_types(console, section, _SPECS):
        return None
    layerwise = member(section, "layerwiseDisaggregated")
    if layerwise is not None and not check_types(console, layerwise, _LAYERWISE_SPECS):
        return None
    schedule = Schedule(section=section)
    for key, unset in _CHUNKS:
        schedule.number(key, unset)
    return schedule


def check_schedule(console: Console, schedule: Schedule, *, batch_high: int = BATCH_HIGH) -> bool:
    """Check the values up to the first fault. Some faults go to the log only and print nothing."""
    checks: tuple[_CheckOf, ...] = (
        lambda: _bounds(console, schedule, "cacheBlockSize", 1, 128),
        lambda: _policy(console, schedule, "decodePolicyType"),
        lambda: _bounds(console, schedule, "decodeTimeMsPerReq", 0, 1000),
        lambda: _bounds(console, schedule, "maxBatchSize", 1, batch_high),
        lambda: _preemptions(console, schedule),
        lambda: _bounds(console, schedule, "maxPrefillTokens", 1, TOKENS_HIGH),
        lambda: _prefill(console, schedule),
        lambda: _bounds(console, schedule, "maxQueueDelayMicroseconds", 500, 1000000),
        lambda: _bounds(console, schedule, "maxFirstTokenWaitTime", 0, 3600000, unset=2500),
        lambda: _policy(console, schedule, "prefillPolicyType"),
        lambda: _mix_policy(console, schedule),
        lambda: _bounds(console, schedule, "prefillTimeMsPerReq", 0, 1000),
        lambda: _chunks(console, schedule),
        lambda: _template(console, schedule),
        lambda: console.bounds("scheduleParam.stageSelectPolicy", schedule.stage_select_policy, 0, 2),
        lambda: _bounds(console, schedule, "prefillExpectedTime", 1, 10000, unset=1500),
        lambda: _bounds(console, schedule, "decodeExpectedTime", 1, 10000, unset=50),
        lambda: _sequences(console, schedule),
    )
    return all(check() for check in checks)


def _bounds(console: Console, schedule: Schedule, key: str, low: int, high: int, unset: int = 0) -> bool:
    return console.bounds(f"scheduleParam.{key}", schedule.number(key, unset), low, high)


def _policy(console: Console, schedule: Schedule, key: str) -> bool:
    policy = schedule.number(key)
    if policy in _POLICIES:
        return True
    expected = "is outside the expected schedule policy range: 0, 1, 2, 3"
    console.begin(f"scheduleParam.{key} [{policy}] {expected}")
    return False


def _mix_policy(console: Console, schedule: Schedule) -> bool:
    policy = schedule.number("policyType")
    return policy in _MIX_POLICIES or console.log(
        f"The scheduleParam.policyType [{policy}] is outside the expected range: 0 or 4~7."
    )


def _prefill(console: Console, schedule: Schedule) -> bool:
    most = schedule.number("maxBatchSize")
    return console.bounds("scheduleParam.maxPrefillBatchSize", schedule.max_prefill_batch_size, 1, most)


def _preemptions(console: Console, schedule: Schedule) -> bool:
    return schedule.number("maxPreemptCount") <= schedule.number("maxBatchSize") or console.log(
        "The maxPreemptCount cannot be set greater than maxBatchsize, please set 'maxPreemptCount' "
        "to be not greater than 'maxBatchsize' in config.json."
    )


def _sequences(console: Console, schedule: Schedule) -> bool:
    if not console.bounds("scheduleParam.maxN", schedule.max_n, 1, 8192):
        return False
    return schedule.max_n <= schedule.number("maxBatchSize") or console.log(
        "The maxN cannot be set greater than maxBatchSize, please set 'maxN' to be not greater than "
        "'maxBatchSize' in config.json."
    )


def _template(console: Console, schedule: Schedule) -> bool:
    kind, name = schedule.text("templateType"), schedule.text("templateName")
    if kind not in {"Standard", "Mix"}:
        return console.log(f"The templateType must be Standard or Mix, but is {kind}")
    return name == "Standard_LLM" or console.log(f"The templateName must be Standard_LLM, but is {name}")


def _chunks(console: Console, schedule: Schedule) -> bool:
    most = schedule.number("maxNumPartialPrefills", unset=64)
    most_long = schedule.number("maxLongPartialPrefills", unset=8)
    return (
        console.bounds("scheduleParam.maxNumPartialPrefills", most, 1, 64)
        and console.bounds("scheduleParam.maxLongPartialPrefills", most_long, 1, most)
        and _bounds(console, schedule, "longPrefillTokenThreshold", 1, 8192, unset=1024)
    )
