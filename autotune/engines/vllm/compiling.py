"""Compiling: a start of its own in which graphs are compiled and kept, for the next start to read.

Graph mode compiles a graph when a batch of its size comes for the first time, which may take minutes, and
keeps it in the working directory. A service that has run before reads them all; so does what is measured.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import takewhile

from autotune.engines.vllm.control import Control, has_text
from autotune.engines.vllm.facts import ServerFacts
from autotune.engines.vllm.options import VllmOptions
from autotune.errors import LaunchCause, LaunchFailed

NO_GRAPHS = "graph mode left no compiled graphs in the working directory, so that every launch compiles anew"
_TOKENS = 8
"""Of each reply: long enough that a whole batch decodes together."""


def batch_sizes(facts: ServerFacts, max_num_seqs: int) -> tuple[int, ...]:
    """Sizes that graphs are compiled for, ascending, up to a full batch."""
    below = takewhile(lambda size: size < max_num_seqs, facts.gears or facts.capture_sizes)
    return (*below, max_num_seqs)


def compile_graphs(options: VllmOptions, facts: ServerFacts, max_num_seqs: int) -> None:
    """Ask a running server for a batch of each size. Raises LaunchFailed(GRAPH) when one gets no answer."""
    for size in batch_sizes(facts, max_num_seqs):
        with ThreadPoolExecutor(max_workers=size) as pool:
            answered = sum(pool.map(lambda one: _ask(options, one), _each(facts, size)))
        if answered < size:
            message = f"a batch of {size} requests got {answered} answers while its graph was compiled"
            raise LaunchFailed(LaunchCause.GRAPH, message, lines=(message,))


def _each(facts: ServerFacts, size: int) -> Iterator[ServerFacts]:
    return (facts for _ in range(size))


def _ask(options: VllmOptions, facts: ServerFacts) -> bool:
    """One request in its own session: a session is for one thread."""
    with Control(facts.url, tls=options.tls, api_key=facts.api_key) as control:
        name = options.model_name or facts.model_name
        return has_text(
            control.complete(facts.interface, name, tokens=_TOKENS, seconds=options.start_timeout)
        )
