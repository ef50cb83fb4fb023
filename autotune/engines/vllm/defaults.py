"""Defaults: what the installed vLLM takes for --max-num-seqs when nobody says; asked of itself."""

import re
import shlex
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from autotune.engines.vllm.serving import Serving
from autotune.errors import LaunchFailed, Refused
from autotune.process.command import run
from autotune.process.environment import without_proxies
from autotune.process.output import tail

ASK_SECONDS = 180.0
_CODE = """
import sys
from vllm.engine.arg_utils import EngineArgs
try:
    from vllm.usage.usage_lib import UsageContext
    seqs = EngineArgs.get_batch_defaults(int(sys.argv[1]))[1][UsageContext.OPENAI_API_SERVER]
except (AttributeError, ImportError, KeyError):
    seqs = EngineArgs.max_num_seqs
print()
print("default max_num_seqs is", seqs)
"""
_ANSWER = re.compile(r"default max_num_seqs is (\d+)")
_LAST_LINES = 50
_PYTHON = re.compile(r"#!\s*(\S*python[\d.]*)\s*$")


def default_max_num_seqs(serving: Serving, environment: Mapping[str, str], *, ranks: int) -> int:
    """Ask vLLM, with the interpreter that the command uses; it starts no server and loads no model.

    Raises Refused when it does not say: the value found on a host is never guessed.
    """
    hint = "write the value that the server runs with now into the command: --max-num-seqs=N"
    python = interpreter_of(serving.words, environment)
    if python is None:
        raise Refused("the command does not say --max-num-seqs, nor which Python runs vLLM", hint=hint)
    with tempfile.TemporaryDirectory(prefix="autotune-vllm-") as directory:
        output = Path(directory) / "answer.log"
        try:
            run(
                (python, "-c", _CODE, str(ranks)),
                env=without_proxies(environment),
                output=output,
                seconds=ASK_SECONDS,
            )
        except LaunchFailed as failure:
            raise Refused(
                f"vLLM does not tell its default of --max-num-seqs: {failure.message[-300:]}", hint=hint
            ) from failure
        found = [match for line in tail(output, lines=_LAST_LINES) if (match := _ANSWER.search(line))]
    if not found:
        raise Refused("vLLM does not tell its default of --max-num-seqs", hint=hint)
    return int(found[-1][1])


def interpreter_of(words: tuple[str, ...], environment: Mapping[str, str]) -> str | None:
    """The Python that runs the server: the word before -m, or that of the `vllm` program's first line."""
    for index, word in enumerate(words):
        name = PurePosixPath(word).name
        if name == "vllm":
            return _first_line(shutil.which(word, path=environment.get("PATH")))
        if re.fullmatch(r"python[\d.]*", name):
            return word if index + 1 < len(words) else None
    return None


def _first_line(path: str | None) -> str | None:
    """The interpreter of a program."""
    if path is None:
        return None
    try:
        with Path(path).open(encoding="utf-8", errors="replace") as file:
            found = _PYTHON.match(file.readline())
    except OSError:
        return None
    return shlex.split(found[1])[0] if found else None
