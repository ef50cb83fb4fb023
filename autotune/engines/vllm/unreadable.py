"""Unreadable: commands whose words do not tell what this tool has to know, or that it can't work with."""

from typing import Final

from autotune.engines.vllm.flags import Flag, flag_name, has, number_of
from autotune.engines.vllm.serving import Serving
from autotune.errors import Refused

_SHORTEST: Final = len("max-num-s")
_NUMBERS: Final = (
    Flag.MAX_NUM_SEQS,
    Flag.MAX_NUM_BATCHED_TOKENS,
    Flag.MAX_MODEL_LEN,
    Flag.PORT,
    Flag.BLOCK_SIZE,
    Flag.NUM_GPU_BLOCKS_OVERRIDE,
    Flag.TENSOR_PARALLEL_SIZE,
    Flag.TENSOR_PARALLEL_SHORT,
    Flag.PIPELINE_PARALLEL_SIZE,
    Flag.NUM_SCHEDULER_STEPS,
    Flag.NNODES,
)


def refuse_unreadable(serving: Serving) -> None:
    """Raise Refused, with the line where there is one, and what mends it."""
    words = serving.arguments
    for flag in _NUMBERS:
        _check_number(serving, flag)
    _refuse_abbreviation(serving)
    if has(words, Flag.UDS):
        raise Refused(
            f"{serving.where(Flag.UDS)}the server listens on a Unix socket",
            hint="leave --uds away for the trials",
        )
    if has(words, Flag.HEADLESS) or (number_of(words, Flag.NNODES) or 1) > 1:
        raise Refused(
            f"{serving.where()}the command is one part of a server over several hosts",
            hint="tune a server on one host",
        )
    if has(words, Flag.MAX_NUM_SEQS):
        return
    if has(words, Flag.CONFIG):
        raise Refused(
            f"{serving.where(Flag.CONFIG)}--config names a file, whose max-num-seqs is not read",
            hint="write --max-num-seqs=N on the command line too; it outranks the file",
        )
    hidden = serving.hidden()
    if hidden:
        raise Refused(
            f"{hidden} may hold --max-num-seqs, and the script does not tell what it is",
            hint="write --max-num-seqs=N behind it; the last one counts",
        )


def _check_number(serving: Serving, flag: Flag) -> None:
    """Raise Refused, with the line, for a flag without a number."""
    try:
        number_of(serving.arguments, flag)
    except Refused as refused:
        raise Refused(f"{serving.where(flag)}{refused.message}", hint=refused.hint) from refused


def _refuse_abbreviation(serving: Serving) -> None:
    """Short flags: vLLM takes `--max-num-s` for --max-num-seqs; no other of its flags begins so."""
    whole = Flag.MAX_NUM_SEQS.value
    for word in serving.arguments:
        name = flag_name(word) or ""
        if _SHORTEST <= len(name) < len(whole) and whole.startswith(name):
            raise Refused(
                f"{serving.where()}--{name} is an abbreviation of --{whole}", hint=f"write it out: --{whole}"
            )
