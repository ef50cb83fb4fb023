"""Collect: all run-time wheels of a target and our own into one folder; `make wheelhouse`."""

import argparse
import hashlib
import platform
import subprocess
import sys
from pathlib import Path

from tests.airgap.target import PYTHONS, ROOT, Target

PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
NOTE = """\
# Wheels of ascend-autotune for CPython {python} on Linux {machine}
On the host, without any network:

    python{python} -m venv /opt/ascend-autotune
    /opt/ascend-autotune/bin/pip install --no-index --find-links . --require-hashes -r requirements.txt
    /opt/ascend-autotune/bin/pip install --no-index --no-deps ascend_autotune-*.whl
    /opt/ascend-autotune/bin/autotune --version

`sha256sum --check SHA256SUMS` tells whether the copy is whole.
"""


def main() -> int:
    """Collect for the target that the options name."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--machine", default=platform.machine(), choices=["aarch64", "x86_64"])
    parser.add_argument("--python", default=".".join(platform.python_version_tuple()[:2]), choices=PYTHONS)
    parser.add_argument("--output", type=Path, default=ROOT / "wheelhouse")
    options = parser.parse_args()
    target = Target(machine=options.machine, python=options.python)
    folder = options.output / target.folder
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.whl"):
        old.unlink()
    requirements = folder / "requirements.txt"
    requirements.write_text(target.requirements(), encoding="utf-8")
    chosen = ("--no-deps", "--require-hashes", "-r", str(requirements), "--dest", str(folder))
    subprocess.run([*PIP, "download", *target.options, *chosen], check=True)
    own = ("--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(ROOT))
    subprocess.run([*PIP, "wheel", *own], check=True)
    wheels = sorted(folder.glob("*.whl"))
    sums = [f"{hashlib.sha256(wheel.read_bytes()).hexdigest()}  {wheel.name}\n" for wheel in wheels]
    (folder / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")
    (folder / "README.md").write_text(
        NOTE.format(python=target.python, machine=target.machine), encoding="utf-8"
    )
    size = sum(wheel.stat().st_size for wheel in wheels) / 1e6
    print(f"{folder}: {len(wheels)} wheels, {size:.0f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
