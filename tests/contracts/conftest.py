"""Fixtures of the emulated install and of vLLM; modules are loaded by path, since tests are no package."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

_INTEGRATION = Path(__file__).parents[1] / "integration"


def _loaded(path: Path, mark: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = sys.modules.setdefault(path.stem, importlib.util.module_from_spec(spec))
    if not hasattr(module, mark):
        spec.loader.exec_module(module)
    return module


_mindie = _loaded(_INTEGRATION / "engine_mindie" / "mindie_bench.py", "make_bench")
_vllm = _loaded(_INTEGRATION / "vllm" / "vllm_bench.py", "make_vllm")

make_bench, bench = _mindie.make_bench, _mindie.bench
make_vllm, vllm, make_real_vllm = _vllm.make_vllm, _vllm.vllm, _vllm.make_real_vllm
