"""Soak: one long campaign at many streams: memory, descriptors and readings of the tuner must not drift.

python -m tests.soak [--minutes 45] [--streams 1000] [--time-scale 3] [--level-seconds 240] [--output FILE]

The daemon is the emulated one. Ends with 1 when the memory of the tuner grows by more than 10 % after its
second launch, when descriptors pile up, when the readings drift beyond their interval, or when it fails.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TypeVar

import psutil

from autotune.cli.rows import PURPOSES
from autotune.emulator.install import InstallOptions, make_install
from autotune.model.launch import LaunchRecord
from autotune.process.ports import choose_free
from autotune.store.state import StateDirectory
from autotune.store.study import CampaignStore

REPOSITORY = Path(__file__).parents[2]
SAMPLE_SECONDS = 2.0
_ROW = re.compile(rf"^ *\d+ +({'|'.join(PURPOSES.values())}) ", re.MULTILINE)
Value = TypeVar("Value")
FILLED = 2
"""Launches that fill modules and pools."""
MOST_GROWTH = 0.10
WIDEST = 0.10
"""Readings less certain than that say nothing about drift."""
PROFILE = """\
name: soak
engine: {{home: {install}, config_mode: private, start_timeout: 120s}}
workload:
  dataset: {{type: synthetic, input_tokens: 64, output_tokens: {{mean: 128, max: 256}}}}
  max_output_tokens: 256
  concurrency: {streams}
search: {{max_launches: 1000}}
measuring: {{final_half_width: 1%, level_cap: {cap}s}}
host: {{governor: null, transparent_hugepages: null, cpus: null}}
store: {{state: {state}}}
report: {{directory: {reports}}}
"""


HEAD = """\
# Soak

Written by `make soak`: one emulated campaign of {options.minutes:g} minutes at {options.streams} streams, the
daemon {options.time_scale:g} times faster than real, {launches} launches of one setting.
"""


@dataclass(frozen=True)
class Sample:
    """The tuner at one moment."""

    seconds: float
    rss_mib: float
    descriptors: int
    launches: int


@dataclass(frozen=True)
class Result:
    """What came of it."""

    exit_code: int
    samples: tuple[Sample, ...]
    launches: tuple[LaunchRecord, ...]

    @property
    def steady(self) -> tuple[tuple[Sample, ...], ...]:
        """Samples by launch, from the third on: until then modules and pools are filled.

        By launch, so that every part that is compared has whole launches with all their phases.
        """
        whole = [sample for sample in self.samples if sample.launches >= FILLED]
        return tuple(tuple(launch) for _, launch in groupby(whole, lambda sample: sample.launches))

    @property
    def growth(self) -> float:
        """Mean memory of the last quarter of the launches over that of the first one, minus 1."""
        means = [statistics.fmean(sample.rss_mib for sample in launch) for launch in self.steady]
        first, last = _quarters(means)
        return statistics.fmean(last) / statistics.fmean(first) - 1

    @property
    def descriptors(self) -> tuple[int, int]:
        """Fewest open descriptors in the first and in the last quarter: what is never closed adds up."""
        first, last = _quarters([min(sample.descriptors for sample in launch) for launch in self.steady])
        return min(first), min(last)

    @property
    def readings(self) -> tuple[tuple[float, float], ...]:
        """Tokens a second and half-width of each launch."""
        levels = [launch.last for launch in self.launches]
        return tuple((level.tokens_per_second, level.half_width) for level in levels if level is not None)

    @property
    def drift(self) -> float:
        """Mean of the later half of the readings over that of the earlier half, minus 1."""
        values = [value for value, _ in self.readings]
        half = len(values) // 2
        return statistics.fmean(values[-half:]) / statistics.fmean(values[:half]) - 1

    @property
    def interval(self) -> float:
        """Half-width that a single reading claims, as a fraction."""
        return statistics.fmean(half_width for _, half_width in self.readings)

    def faults(self) -> list[str]:
        """What does not hold."""
        if self.exit_code or len(self.readings) < 4 or len(self.steady) < 2:
            return [f"the campaign ended with {self.exit_code} after {len(self.readings)} readings"]
        found = []
        if self.growth > MOST_GROWTH:
            found.append(f"memory grew by {self.growth:.1%}")
        if self.descriptors[1] > self.descriptors[0]:
            found.append(f"descriptors grew from {self.descriptors[0]} to {self.descriptors[1]}")
        if self.interval > WIDEST:
            found.append(f"an interval of {self.interval:.0%} shows no drift: the machine is too busy")
        if abs(self.drift) > self.interval:
            found.append(f"readings drift by {self.drift:+.1%}, beyond their interval of {self.interval:.1%}")
        return found


def _quarters(values: list[Value]) -> tuple[list[Value], list[Value]]:
    quarter = max(1, len(values) // 4)
    return values[:quarter], values[-quarter:]


def level_cap(minutes: float, time_scale: float) -> int:
    """Seconds of the service that a level may take: at most 240, and a soak has eight launches or more."""
    return round(min(240.0, 60 * minutes * time_scale / 12))


def soak(options: argparse.Namespace, folder: Path) -> Result:
    """Run the campaign and look at it."""
    port, management, metrics = choose_free(3)
    install = make_install(
        folder / "install",
        InstallOptions(
            time_scale=options.time_scale,
            port=port,
            management_port=management,
            metrics_port=metrics,
            noise=0.01,
        ),
    )
    state, profile = folder / "state", folder / "profile.yaml"
    profile.write_text(
        PROFILE.format(
            install=install,
            state=state,
            streams=options.streams,
            reports=folder / "reports",
            cap=options.level_seconds or level_cap(options.minutes, options.time_scale),
        )
    )
    profile.chmod(0o600)
    with (folder / "tuner.log").open("wb") as log:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "tests.soak.tuner", str(60 * options.minutes), str(options.streams)),
                *("tune", str(profile), "--yes"),
            ],
            stdout=log,
            stderr=log,
            cwd=REPOSITORY,
            env=os.environ,
        )
        samples = tuple(_samples(process, folder / "tuner.log", install))
    with CampaignStore(StateDirectory(root=state).database_url) as store:
        runs = store.runs()
        launches = store.load(runs[-1].run).launches if runs else ()
    return Result(exit_code=process.returncode, samples=samples, launches=launches)


def _samples(process: "subprocess.Popen[bytes]", log: Path, install: Path) -> list[Sample]:
    began, found = time.monotonic(), []
    tuner = psutil.Process(process.pid)
    while process.poll() is None:
        try:
            ours = [tuner, *(each for each in tuner.children(recursive=True) if not _is_of(each, install))]
            rss, descriptors = sum(each.memory_info().rss for each in ours), tuner.num_fds()
        except psutil.Error:
            continue  # a load process has just ended, or all of it
        rows = len(_ROW.findall(log.read_text(errors="replace")))
        sample = Sample(time.monotonic() - began, rss / 2**20, descriptors, rows)
        found.append(sample)
        time.sleep(SAMPLE_SECONDS)
    process.wait()
    # the end of a campaign draws its report, which is no part of the soak
    last = max((sample.launches for sample in found), default=0)
    return [sample for sample in found if sample.launches < last]


def _is_of(process: psutil.Process, install: Path) -> bool:
    """Whether a process belongs to the daemon and not to the load."""
    return str(install) in " ".join(process.cmdline())


def text(result: Result, options: argparse.Namespace, faults: list[str]) -> str:
    """The report in Markdown."""
    steady = result.steady
    lines = [
        HEAD.format(options=options, launches=len(result.readings)),
        f"**{'; '.join(faults) if faults else 'Nothing grew and nothing drifted.'}**",
        "",
        "| what | figure | most |",
        "|---|---:|---:|",
    ]
    if len(steady) > 1 and len(result.readings) > 1:
        memory = [sample.rss_mib for launch in steady for sample in launch]
        first, last = result.descriptors
        lines += [
            f"| memory of tuner and load, last quarter over first | {result.growth:+.1%} | +10 % |",
            f"| memory, least and most (MiB) | {min(memory):.0f} to {max(memory):.0f} | |",
            f"| open descriptors, fewest in the first and last quarter | {first}, {last} | equal |",
            f"| readings, later half over earlier half | {result.drift:+.2%} | ± {result.interval:.2%} |",
            f"| output tokens a second, mean | {statistics.fmean(v for v, _ in result.readings):.1f} | |",
        ]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=45.0)
    parser.add_argument("--streams", type=int, default=1000)
    parser.add_argument("--time-scale", type=float, default=3.0)
    parser.add_argument(
        "--level-seconds", type=int, help="cap of a level, in the service's time; 240 in a long soak"
    )
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="autotune-soak-") as name:
        result = soak(options, Path(name))
        if result.exit_code:
            print((Path(name) / "tuner.log").read_text(errors="replace")[-3000:])
    faults = result.faults()
    report = text(result, options, faults)
    print(report)
    for number, launch in enumerate(result.launches, start=1):
        level = launch.last
        print(
            number, launch.outcome.value, f"{level.tokens_per_second:.1f}" if level else launch.detail[:200]
        )
    if options.output:
        options.output.write_text(report, encoding="utf-8")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
