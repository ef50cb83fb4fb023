"""Winner: a proven --max-num-seqs spliced into the script that serves, or told for a bare command."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from autotune.engines.vllm.facts import GEARS_ENABLED, facts_of, gears_for
from autotune.engines.vllm.flags import Flag
from autotune.engines.vllm.serving import GEAR_LIST, CommandLine, read_file
from autotune.engines.vllm.trial import edited
from autotune.errors import Refused
from autotune.model.settings import Settings

_NAMES = {
    "max_batch_size": Flag.MAX_NUM_SEQS,
    "max_num_batched_tokens": Flag.MAX_NUM_BATCHED_TOKENS,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Edit:
    """A script with other values."""

    text: str
    found: int | None
    """--max-num-seqs before; None where the script does not say."""
    notes: tuple[str, ...] = ()


def read_text(path: Path) -> str:
    """The script with every byte kept. Raises Refused when it can't be read."""
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise Refused(
            f"{path}: {error.strerror}", hint="set engine.script to the run_vllm.sh that serves"
        ) from error


def edit_script(text: str, winner: Settings, environment: Mapping[str, str], *, gears: str = "") -> Edit:
    """Write the winner into a script; every other byte stays.

    `gears` is the gear list that the run found in the environment of the server; one that the script does not
    set itself is told, since the script can't be edited for it. Raises Refused for one that starts no server.
    """
    known = {**environment, **({GEARS_ENABLED: "1", GEAR_LIST: gears} if gears else {})}
    script = read_file(text, known)
    facts = facts_of(script, known)
    after = edited(script, winner, facts.settings(0), facts)
    assert not isinstance(after, CommandLine), "a file stays a file"
    notes: tuple[str, ...] = ()
    if facts.gears and GEAR_LIST not in script.assignments:
        notes = (
            f"set in the server's environment: {GEAR_LIST}={gears_for(facts.gears, winner.max_batch_size)}",
        )
    return Edit(text=after.text, found=facts.max_num_seqs, notes=notes)


def flags_to_set(winner: Settings) -> tuple[str, ...]:
    """What a person writes on a command line of their own."""
    values = winner.as_dict()
    return tuple(f"--{flag.value}={values[name]}" for name, flag in _NAMES.items() if name in values)
