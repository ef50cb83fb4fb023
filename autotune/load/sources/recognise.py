"""Tells whose console output a text is, and reads it."""

from collections.abc import Callable, Mapping
from typing import Final

from autotune.load.sources import ais_bench, evalscope, mindie_benchmark, serving_result
from autotune.load.sources.reading import BenchmarkReading, UnreadableOutput


def _last_of_mindie(text: str) -> BenchmarkReading:
    return mindie_benchmark.read_console(text)[-1]


READERS: Final[Mapping[str, Callable[[str], BenchmarkReading]]] = {
    "benchmark": _last_of_mindie,
    "ais_bench": ais_bench.read_console,
    "vllm_bench": serving_result.read_console,
    "evalscope": evalscope.read_console,
}
"""By the name that a profile's `workload.source` has."""
_MARKS: Final = (
    ("The BenchMark test common metric result is", "benchmark"),
    ("Serving Benchmark Result", "vllm_bench"),
    ("Benchmarking summary", "evalscope"),
    ("Common Metric", "ais_bench"),
)


def read_output(text: str, source: str | None = None) -> BenchmarkReading:
    """Read a console output; of several runs the last. `source` is its name in a profile; None: find out.

    Raises UnreadableOutput when nothing in it is a result.
    """
    name = source or next((name for mark, name in _MARKS if mark in text), None)
    if name is None or name not in READERS:
        raise UnreadableOutput(
            "the output is of no known benchmark",
            hint="use workload.source: {command: [...], value: ...} for other tools",
        )
    return READERS[name](text)
