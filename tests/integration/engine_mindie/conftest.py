"""Fixtures of the emulated install; the module is loaded by its path, since tests are no package."""

import importlib.util
import sys
from pathlib import Path

_PATH = Path(__file__).with_name("mindie_bench.py")
_spec = importlib.util.spec_from_file_location("mindie_bench", _PATH)
_module = sys.modules.setdefault("mindie_bench", importlib.util.module_from_spec(_spec))
if not hasattr(_module, "make_bench"):
    _spec.loader.exec_module(_module)

make_bench, bench = _module.make_bench, _module.bench
