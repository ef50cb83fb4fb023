"""By coverage: atheris in a process of its own, since it never comes back from a run.

Its seconds are those of CPU, counted from the first input, so that a busy machine does not shorten a run.
"""

import importlib.util
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.fuzz.outcome import Outcome
from tests.fuzz.target import Target

ROOT = Path(__file__).parents[2]
_START_SECONDS = 120
_NEVER = 1_000_000
"""Seconds for one input by wall time; `guided` looks at those of CPU."""
_PATIENCE = 40
"""Wall time for each second of CPU before a run is given up."""
_LONGEST_INPUT = 8192
_DONE = re.compile(r"Done (\d+) runs? in")
_EXECUTED = re.compile(r"stat::number_of_executed_units:\s*(\d+)")
_CPU = re.compile(r"CPU seconds: ([\d.]+)")
_EDGES = re.compile(r"cov: (\d+)")
_NONE = "atheris is not installed for this Python"
_LATE = "atheris did not come back: the machine is overloaded"


def run(target: Target, seconds: float, *, first_seed: int) -> Outcome:
    """Let the coverage lead for so many seconds of CPU; stop at the first input that breaks the law."""
    if importlib.util.find_spec("atheris") is None:
        return Outcome(skipped=_NONE)
    with tempfile.TemporaryDirectory(prefix="autotune-fuzz-") as folder:
        corpus, found, words = Path(folder, "corpus"), Path(folder, "found"), Path(folder, "words")
        corpus.mkdir()
        found.mkdir()
        for number, data in enumerate(target.seeds()):
            (corpus / f"{number:04}").write_bytes(data[:_LONGEST_INPUT])
        words.write_text("".join(f'"{_escaped(word)}"\n' for word in target.words), encoding="ascii")
        check = target.check
        argv = [sys.executable, "-m", "tests.fuzz.guided", check.__module__, check.__name__, str(seconds)]
        argv += [
            f"-seed={first_seed + 1}",
            f"-max_len={_LONGEST_INPUT}",
            "-print_final_stats=1",
            f"-timeout={_NEVER}",
            f"-report_slow_units={_NEVER}",
        ]
        argv += ["-rss_limit_mb=4096", f"-artifact_prefix={found}/", str(corpus)]
        argv += [f"-dict={words}"] if target.words else []
        try:
            done = subprocess.run(
                argv,
                cwd=ROOT,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=seconds * _PATIENCE + _START_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Outcome(skipped=_LATE)
        artifacts = sorted(found.iterdir())
        output = done.stdout + done.stderr
        return Outcome(
            inputs=_last(_EXECUTED, output) or _last(_DONE, output) or 0,
            seconds=float((_CPU.findall(output) or [0])[-1]),
            edges=_last(_EDGES, output),
            broken_by=artifacts[0].read_bytes() if artifacts else (b"" if done.returncode else None),
            traceback=_end_of(output) if done.returncode or artifacts else "",
        )


def _escaped(word: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word[:64])


def _last(pattern: re.Pattern[str], output: str) -> int | None:
    found = pattern.findall(output)
    return int(found[-1]) if found else None


def _end_of(output: str) -> str:
    at = output.find("Uncaught Python exception")
    return output[at:].partition("INFO: ")[0] if at >= 0 else output[-3000:]
