"""What the service would say of the scheduling values of a configuration of any layout and version.

Only what all versions check: types, bounds of the version, and what holds between the values. Fields that a
version does not have yet are left out.
"""

from collections.abc import Mapping
from typing import Final

from autotune.mindie_rules.bounds import batch_bounds
from autotune.mindie_rules.checking.console import Console, Thrown
from autotune.mindie_rules.checking.schedule import check_schedule, read_schedule
from autotune.mindie_rules.checking.together import check_together
from autotune.mindie_rules.fields import Field, layout_of, path_of, read_int, read_text, value_at
from autotune.mindie_rules.json_text import JsonValue

_UNSET: Final[Mapping[str, JsonValue]] = {
    "cacheBlockSize": 128,
    "maxPrefillTokens": 8192,
    "prefillTimeMsPerReq": 150,
    "prefillPolicyType": 0,
    "decodeTimeMsPerReq": 50,
    "decodePolicyType": 0,
    "maxBatchSize": 200,
    "maxIterTimes": 512,
    "maxPreemptCount": 0,
    "supportSelectBatch": False,
    "maxQueueDelayMicroseconds": 5000,
}
"""The service's own values, for what a layout or a P/D half leaves out."""


def schedule_faults(document: JsonValue, *, version: str = "", chip: str = "") -> tuple[str, ...]:
    """The lines with which the service would refuse these scheduling values; empty when it takes them.

    Raises Refused for anything that is not a configuration of MindIE.
    """
    console = Console()
    batch_high = batch_bounds(version, chip).high
    section = _section(document)
    try:
        schedule = read_schedule(console, section)
    except Thrown as thrown:
        return (thrown.line,)
    if schedule is not None:
        check_schedule(console, schedule, batch_high=batch_high)
        cpu_mem_size = read_int(document, Field.CPU_MEM_SIZE)
        check_together(
            console,
            schedule,
            cpu_mem_size=1 if cpu_mem_size is None else cpu_mem_size,
            max_input_token_len=read_int(document, Field.MAX_INPUT_TOKEN_LEN) or 0,
        )
    said = (*console.output, console.unfinished, *console.errors, *console.logged)
    return tuple(dict.fromkeys(line for line in said if line))


def _section(document: JsonValue) -> dict[str, JsonValue]:
    place = path_of(Field.MAX_BATCH_SIZE, layout_of(document))[:-1]
    own = value_at(document, place)
    section = {**_UNSET, **(own if isinstance(own, dict) else {})}
    section.setdefault("maxPrefillBatchSize", 0)
    kind = read_text(document, Field.TEMPLATE_TYPE)
    section["templateType"] = kind if kind in {"Standard", "Mix"} else "Standard"
    section["templateName"] = "Standard_LLM"  # older versions have other names
    return section
