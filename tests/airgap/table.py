"""Table: for every locked run-time dependency the aarch64 wheel of each Python; `make wheels`."""

import argparse
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.airgap.target import PYTHONS, Target

MACHINES = ("aarch64", "x86_64")
MISSING = "none"
Found = dict[str, tuple[str, str]]


def main() -> int:
    """Print the table; 1 when a wheel is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--report", type=Path, help="write the table there")
    options = parser.parse_args()
    targets = [Target(machine=machine, python=python) for machine in MACHINES for python in PYTHONS]
    with ThreadPoolExecutor(max_workers=2) as workers:
        found = dict(zip(targets, workers.map(wheels_of, targets), strict=True))
    page = _page(found)
    if options.report:
        options.report.write_text(page, encoding="utf-8")
    print(page)
    return 1 if any(MISSING in tag for wheels in found.values() for _, tag in wheels.values()) else 0


def wheels_of(target: Target) -> Found:
    """Version and tag of the wheel that pip would take for each requirement, or MISSING."""
    lines = target.requirements().splitlines()
    found = _asked(target, lines)
    if found is None:
        each = [_asked(target, [line]) or _missing(line) for line in lines]
        found = {name: wheel for part in each for name, wheel in part.items()}
    return found


def _missing(line: str) -> Found:
    name, _, version = line.partition(" --hash")[0].partition("==")
    return {name: (version, MISSING)}


def _asked(target: Target, lines: list[str]) -> Found | None:
    """What pip would install, without installing it; None when it would not."""
    with tempfile.TemporaryDirectory() as folder:
        report, wanted = Path(folder, "report.json"), Path(folder, "requirements.txt")
        wanted.write_text("\n".join(lines) + "\n", encoding="utf-8")
        argv = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "install", "--dry-run"]
        argv += ["--ignore-installed", "--no-deps", "--require-hashes", "--target", folder, *target.options]
        argv += ["--report", str(report), "-r", str(wanted)]
        if subprocess.run(argv, capture_output=True, check=False).returncode:
            return None
        chosen = json.loads(report.read_text(encoding="utf-8"))["install"]
    return {
        package["metadata"]["name"].lower().replace("_", "-").replace(".", "-"): (
            package["metadata"]["version"],
            _tag(package["download_info"]["url"].rpartition("/")[2]),
        )
        for package in chosen
    }


def _tag(name: str) -> str:
    """`any`, or the oldest glibc: manylinux_2_27 of `numpy-2.4.6-cp311-cp311-manylinux_2_27_aarch64.whl`."""
    platform = name.removesuffix(".whl").rpartition("-")[2].split(".")[0]
    return platform.removesuffix("_aarch64").removesuffix("_x86_64")


def _page(found: dict[Target, Found]) -> str:
    names = sorted({name for wheels in found.values() for name in wheels})
    lines = [
        "# Wheels of the run-time dependencies",
        "`make wheels`: for each locked version, the wheel that pip takes on Linux aarch64 with glibc 2.34",
        "or older, by Python; `any` runs everywhere. An empty cell: this Python does not need the package.",
        "",
        "| package | " + " | ".join(f"aarch64, {python}" for python in PYTHONS) + " |",
        "|---" * (len(PYTHONS) + 1) + "|",
    ]
    for name in names:
        cells = [found[Target(machine="aarch64", python=python)].get(name) for python in PYTHONS]
        shown = [", ".join(cell) if cell else "" for cell in cells]
        lines.append(f"| {name} | {' | '.join(shown)} |")
    lines.append("")
    for machine in MACHINES:
        wanted = [found[Target(machine=machine, python=python)] for python in PYTHONS]
        missing = sum(tag == MISSING for wheels in wanted for _, tag in wheels.values())
        lines.append(f"{machine}: {sum(map(len, wanted))} wheels, {missing} missing.")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
