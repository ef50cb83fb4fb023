#!/bin/sh
# Tune real vLLM on CPU from its own default: demo.sh AUTOTUNE VLLM_DIRECTORY
set -eu
autotune=${1:?usage: demo.sh AUTOTUNE VLLM_DIRECTORY}
directory=${2:?usage: demo.sh AUTOTUNE VLLM_DIRECTORY}
cd "$(dirname "$0")/../../.."
[ "$directory" = .venv-vllm ] || { echo "profiles/vllm-cpu-tiny.yaml expects .venv-vllm" >&2; exit 2; }
"$autotune" tune profiles/vllm-cpu-tiny.yaml --plan
exec "$autotune" tune profiles/vllm-cpu-tiny.yaml --yes
