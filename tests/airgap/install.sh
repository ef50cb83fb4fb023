#!/bin/sh
# Install from a folder of wheels alone into a fresh environment, and run the command: install.sh FOLDER PYTHON VENV
set -eu
folder=$1 python=$2 venv=$3
rm -rf "$venv"
"$python" -m venv "$venv"
alone="$venv/bin/python -m pip --isolated --disable-pip-version-check --quiet install --no-index"
(cd "$folder" && sha256sum --quiet --check SHA256SUMS)
$alone --find-links "$folder" --require-hashes -r "$folder/requirements.txt"
$alone --no-deps "$folder"/ascend_autotune-*.whl
cd /
"$OLDPWD/$venv/bin/autotune" --version
"$OLDPWD/$venv/bin/autotune" estimate --blocks 2176 | tail -1
rm -rf "${OLDPWD:?}/$venv"
