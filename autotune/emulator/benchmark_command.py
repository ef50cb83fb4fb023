"""The stand-in `benchmark` of an emulated install: loads the service and prints as the vendor's tool does.

It knows the flags of mindiebenchmark that a controller uses: --TestType, --Http, --ModelName, --DatasetPath,
--DatasetType, --Concurrency, --MaxOutputLen, --RequestCount, --WarmupSize, --SavePath and --TaskKind; any
other is taken with its value and has no effect. Tables come to the screen only with MINDIE_LOG_TO_STDOUT
naming the benchmark; the exit code is 0 even when every request failed.
"""

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

import uvloop

from autotune.emulator.benchmark_client import send_all
from autotune.emulator.benchmark_flags import read_flags
from autotune.emulator.benchmark_numbers import summary
from autotune.emulator.default_config import known_version
from autotune.emulator.lifecycle import complain, say
from autotune.emulator.marker import read_marker
from autotune.errors import UsageError
from autotune.mindie_rules import benchmark_output
from autotune.mindie_rules.benchmark_output import BenchmarkRun, Generation
from autotune.mindie_rules.bounds import Version, parse_version

_FOLDER_MODE: Final = 0o750
_FILE_MODE: Final = 0o640


def main(install: Path, argv: Sequence[str], environment: Mapping[str, str] = os.environ) -> int:
    """Run the benchmark; 0 unless it could not begin."""
    try:
        flags = read_flags(argv)
        emulation = read_marker(install)
    except UsageError as error:
        complain(error.message)
        return 1
    shown = _shown(environment)
    if not shown:
        say(benchmark_output.QUIET_HINT)
    say(benchmark_output.RUNNING)
    sent = uvloop.run(send_all(flags, emulation.time_scale))
    now = datetime.now().astimezone()
    run = summary(flags, sent, now.strftime("%Y-%m-%d %H:%M:%S"))
    generation = generation_of(known_version(emulation.version))
    if shown:
        _show(run, generation, now)
    _save(Path(flags.save_path), run, generation, now)
    say(benchmark_output.COMPLETED)
    return 0


def _shown(environment: Mapping[str, str]) -> bool:
    """Whether MINDIE_LOG_TO_STDOUT names the benchmark: `benchmark:1; client:1`, or is plainly true."""
    value = environment.get("MINDIE_LOG_TO_STDOUT", "")
    parts = {part.strip().lower() for part in value.split(";")}
    return bool(parts & {"1", "true", "benchmark:1", "benchmark:true"})


def generation_of(version: Version) -> Generation:
    """How this version's output looks."""
    for generation, first in ((Generation.V2, "2.1.RC1"), (Generation.V1, "1.0.RC3")):
        begin = parse_version(first)
        if begin is not None and version >= begin:
            return generation
    return Generation.RC2


def _show(run: BenchmarkRun, generation: Generation, now: datetime) -> None:
    zone = now.strftime("%z")
    moment = f"{now.strftime('%Y-%m-%d %H:%M:%S')}.{now.microsecond // 1000:03d}{zone[:3]}:{zone[3:]}"
    head = f"[{moment}] [{os.getpid()}] [{os.getpid()}] [benchmark]"
    if run.common.failed and not run.common.returned:
        complain(f"{head} [ERROR] [benchmark.py:301] {benchmark_output.ALL_FAILED}")
    say(benchmark_output.print_tables(run, generation, prefix=f"{head} [INFO] [output.py:115]").rstrip())


def _save(folder: Path, run: BenchmarkRun, generation: Generation, now: datetime) -> None:
    """Write the CSV files; the folder is made where it is missing."""
    folder.mkdir(parents=True, exist_ok=True, mode=_FOLDER_MODE)
    stamp = f"{now.strftime('%Y%m%d%H%M%S')}{now.microsecond // 1000:03d}"
    texts = {
        "perf": benchmark_output.print_performance_csv(run.performance, generation),
        "common": benchmark_output.print_common_csv(run.common, generation),
    }
    for name, text in texts.items():
        path = folder / f"result_{name}_{stamp}.csv"
        path.write_text(text, encoding="utf-8")
        path.chmod(_FILE_MODE)
