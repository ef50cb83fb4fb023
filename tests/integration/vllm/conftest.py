"""Fixtures of the stand-in vLLM; the module is loaded by its path, since tests are no package."""

import importlib.util
import sys
from pathlib import Path

_PATH = Path(__file__).with_name("vllm_bench.py")
_spec = importlib.util.spec_from_file_location("vllm_bench", _PATH)
_module = sys.modules.setdefault("vllm_bench", importlib.util.module_from_spec(_spec))
if not hasattr(_module, "make_vllm"):
    _spec.loader.exec_module(_module)

make_vllm, vllm, make_real_vllm = _module.make_vllm, _module.vllm, _module.make_real_vllm
