"""Outputs of benchmark tools: each reader, on its own console text, CSV or JSON and on everybody else's."""

from collections.abc import Callable
from contextlib import suppress
from math import isfinite

from autotune.load.sources import ais_bench, mindie_benchmark, serving_result
from autotune.load.sources.reading import BenchmarkReading, UnreadableOutput
from autotune.load.sources.recognise import READERS, read_output
from autotune.mindie_rules.tables import tables_in
from tests.fuzz.target import Target, golden, printed, words_of

WORDS = words_of("outputs")


def _judged(read: Callable[[], BenchmarkReading]) -> None:
    with suppress(UnreadableOutput):
        reading = read()
        assert 0 < reading.output_tokens_per_second < float("inf")
        assert reading.completed > 0
        assert reading.failed >= 0
        for value in (reading.total_tokens_per_second, reading.requests_per_second, reading.seconds):
            assert value is None or isfinite(value)


def read_any(data: bytes) -> None:
    """A reading has a finite number above 0 and an answered request, or there is none."""
    text = printed(data)
    tables_in(text)
    _judged(lambda: read_output(text))
    for source in READERS:
        _judged(lambda source=source: read_output(text, source))
    _judged(lambda: mindie_benchmark.read_csv(text, text))
    _judged(lambda: ais_bench.read_files(text, text))
    _judged(lambda: serving_result.read_json(text))


OUTPUTS = Target(
    name="benchmark outputs",
    law="finite tokens/s above 0 and an answered request, or no reading",
    check=read_any,
    seeds=lambda: golden("bench", "b*"),
    words=WORDS,
)
