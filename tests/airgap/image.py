"""Image: the Containerfile played without a container engine; `make try-containerfile`.

The base image is this host: an overlay over its root, of which nothing stays, in a namespace without any
network. COPY and RUN are done there as they are written, then the command is tried. Needs root and Linux.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.airgap.containerfile import Instruction, filled, read
from tests.airgap.target import ROOT

TRIED = (
    "autotune --version",
    "autotune estimate --blocks 2176 | tail -1",
    "autotune emulate --install /opt/mindie >/dev/null",
    "cp /opt/ascend-autotune/lib/python3*/site-packages/autotune/profiles/mindie-demo.yaml /opt/demo.yaml",
    "autotune tune /opt/demo.yaml --rehearse --set engine.home=/opt/mindie | head -1",
    "test ! -e /tmp/wheels",
)
"""What an image must be able to do."""


def main() -> int:
    """Play it in namespaces of its own; 0 when every step and every trial ended with 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheels", type=Path, help="the folder of wheels, inside the repository")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        return _play(options.wheels, options.inside)
    if os.geteuid() != 0:
        print("not tried: only root may make the namespaces", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="autotune-image-") as folder:
        alone = ("unshare", "--mount", "--net", "--pid", "--fork")
        again = (sys.executable, "-m", "tests.airgap.image", str(options.wheels), "--inside", folder)
        return subprocess.run([*alone, *again], cwd=ROOT, check=False).returncode


def _play(wheels: Path, folder: Path) -> int:
    root = _overlay(folder)
    values = {"BASE": "this host", "WHEELS": str(wheels)}
    for step in filled(read(), values):
        print(f"{step.name} {step.text[:100]}", flush=True)
        if _done(step, root) != 0:
            return 1
    for trial in TRIED:
        print(f"tried: {trial}", flush=True)
        if _run(trial, root) != 0:
            return 1
    return 0


def _overlay(folder: Path) -> Path:
    """Root of the image: reads as this host, writes to memory; /tmp is empty, as in an image."""
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(folder)], check=True)
    upper, work, root = folder / "upper", folder / "work", folder / "root"
    for place in (upper, work, root):
        place.mkdir()
    layers = f"lowerdir=/,upperdir={upper},workdir={work}"
    subprocess.run(["mount", "-t", "overlay", "overlay", "-o", layers, str(root)], check=True)
    for kind, place in (("tmpfs", "tmp"), ("proc", "proc"), ("tmpfs", "dev/shm")):
        subprocess.run(["mount", "-t", kind, kind, str(root / place)], check=True)
    return root


def _done(step: Instruction, root: Path) -> int:
    if step.name == "COPY":
        source, target = step.text.split()
        shutil.copytree(ROOT / source, root / target.lstrip("/"), dirs_exist_ok=True)
    if step.name == "VOLUME":
        (root / step.text.lstrip("/")).mkdir(parents=True, exist_ok=True)
    return _run(step.text, root) if step.name == "RUN" else 0


def _run(line: str, root: Path) -> int:
    """As an engine runs it: by /bin/sh, with an environment of its own; this Python is the image's."""
    python = Path(sys.base_prefix, "bin")
    environment = {"HOME": "/root", "PATH": f"/usr/local/bin:{python}:/usr/sbin:/usr/bin:/sbin:/bin"}
    argv = ["chroot", str(root), "/bin/sh", "-c", line]
    return subprocess.run(argv, env=environment, cwd="/", check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
