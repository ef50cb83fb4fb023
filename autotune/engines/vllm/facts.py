"""Facts: what a command line and its environment say of the server, before anything is started."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from autotune.engines.vllm.entry import Interface, positional_model
from autotune.engines.vllm.flags import Flag, has, number_of, text_of, texts_of
from autotune.engines.vllm.serving import GEAR_LIST, Serving
from autotune.engines.vllm.unreadable import refuse_unreadable
from autotune.errors import Refused
from autotune.foreign import json_value, whole
from autotune.model.settings import Settings

DEFAULT_PORT: Final = 8000
DEFAULT_BLOCK_SIZE: Final = 128
"""Of vLLM on Ascend and on CPU."""
_ANY: Final = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - read, never bound
GEARS_ENABLED: Final = "PTA_TORCHAIR_DECODE_GEAR_ENABLE"
_API_KEY: Final = "VLLM_API_KEY"
_TRUE: Final = {"1", "true", "on"}


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerFacts:
    """What is known from the words alone; None where the engine's default rules."""

    interface: Interface
    max_num_seqs: int | None
    max_num_batched_tokens: int | None
    max_model_len: int | None
    chunked_prefill: bool | None
    host: str
    """As a client on the same host reaches it."""
    port: int
    names_port: bool
    """Whether the port is that of the command line and not the default."""
    scheme: str
    model: str
    model_name: str
    """As requests name it."""
    api_key: str | None
    block_size: int
    blocks: int | None
    """KV blocks where the command fixes them."""
    tensor_parallel: int
    ranks: int
    """Tensor times pipeline parallel ranks."""
    scheduler_steps: int
    """Decode steps a stream event stands for (--num-scheduler-steps)."""
    tokens_a_step: int
    """Tokens that one decode step takes of each sequence: 1, and those of speculative decoding."""
    eager: bool
    gears: tuple[int, ...]
    """Gears of graph mode, ascending; empty without it."""
    capture_sizes: tuple[int, ...]
    """Capture sizes that the command line fixes, in tokens of a step, ascending."""
    keeps_graphs: bool
    """Compiled graphs are kept in the working directory and read at the next start."""

    def settings(self, default: int) -> Settings:
        """The setting found; `default` is the engine's own --max-num-seqs.

        What else the command says stays as it is, so it is no part of the setting.
        """
        return Settings(max_batch_size=default if self.max_num_seqs is None else self.max_num_seqs)

    @property
    def url(self) -> str:
        """Scheme, host and port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"


def facts_of(serving: Serving, environment: Mapping[str, str]) -> ServerFacts:
    """Read a serving command. Raises Refused for values or a server that this tool can't work with."""
    words = serving.arguments
    refuse_unreadable(serving)
    known = {**environment, **serving.assignments}
    model = text_of(words, Flag.MODEL) or positional_model(words, serving.entry)
    if model is None:
        raise Refused(
            f"{serving.where()}the command names no model", hint="vllm serve MODEL, or --model MODEL"
        )
    port = number_of(words, Flag.PORT)
    host = text_of(words, Flag.HOST) or ""
    tensor = number_of(words, Flag.TENSOR_PARALLEL_SIZE) or number_of(words, Flag.TENSOR_PARALLEL_SHORT) or 1
    return ServerFacts(
        interface=serving.entry.interface,
        max_num_seqs=number_of(words, Flag.MAX_NUM_SEQS),
        max_num_batched_tokens=number_of(words, Flag.MAX_NUM_BATCHED_TOKENS),
        max_model_len=number_of(words, Flag.MAX_MODEL_LEN),
        chunked_prefill=_chunked(words),
        host=_ANY.get(host, host),
        port=DEFAULT_PORT if port is None else port,
        names_port=port is not None,
        scheme="https" if has(words, Flag.SSL_CERTFILE) else "http",
        model=model,
        model_name=next(iter(texts_of(words, Flag.SERVED_MODEL_NAME)), model),
        api_key=text_of(words, Flag.API_KEY) or known.get(_API_KEY),
        block_size=number_of(words, Flag.BLOCK_SIZE) or DEFAULT_BLOCK_SIZE,
        blocks=number_of(words, Flag.NUM_GPU_BLOCKS_OVERRIDE),
        tensor_parallel=tensor,
        ranks=tensor * (number_of(words, Flag.PIPELINE_PARALLEL_SIZE) or 1),
        scheduler_steps=number_of(words, Flag.NUM_SCHEDULER_STEPS) or 1,
        tokens_a_step=1 + _speculated(words),
        eager=has(words, Flag.ENFORCE_EAGER),
        gears=_gears(known) if not has(words, Flag.ENFORCE_EAGER) else (),
        capture_sizes=_capture_sizes(words),
        keeps_graphs=not has(words, Flag.ENFORCE_EAGER) and (bool(_gears(known)) or _caches_graphs(words)),
    )


def grid_of(facts: ServerFacts, *, most: int) -> tuple[int, ...]:
    """Values of --max-num-seqs that a captured graph fits without padding, up to `most`, ascending.

    1, 2, 4 and multiples of 8, which are what vLLM captures; only multiples of the tensor parallel size,
    as sequence parallelism wants; with gears no 1; sizes that the command line fixes, and above them
    multiples of 8. Sizes are in tokens: with speculative decoding a sequence takes several of them.
    """
    tensor = facts.tensor_parallel
    step = math.lcm(8, tensor)
    captured = tuple(
        size // facts.tokens_a_step for size in facts.capture_sizes if size % facts.tokens_a_step == 0
    )
    first = captured[-1] if captured else 0
    small = captured or tuple(tensor * factor for factor in (1, 2, 4))
    steps = range((first // step + 1) * step, most + 1, step)
    sizes = {size for size in (*small, *facts.gears, *steps) if size <= most and size % tensor == 0}
    return tuple(sorted(sizes - {1} if facts.gears else sizes))


def gears_for(gears: Sequence[int], max_num_seqs: int) -> str:
    """The gear list whose largest gear is `max_num_seqs`, as the variable is written."""
    return ",".join(str(gear) for gear in (*(gear for gear in gears if gear < max_num_seqs), max_num_seqs))


def _chunked(words: Sequence[str]) -> bool | None:
    if has(words, Flag.NO_ENABLE_CHUNKED_PREFILL):
        return False
    if not has(words, Flag.ENABLE_CHUNKED_PREFILL):
        return None
    return (text_of(words, Flag.ENABLE_CHUNKED_PREFILL) or "true").lower() in _TRUE


def _gears(known: Mapping[str, str]) -> tuple[int, ...]:
    if known.get(GEARS_ENABLED) not in _TRUE:
        return ()
    texts = (part.strip() for part in known.get(GEAR_LIST, "").split(","))
    return tuple(sorted({number for text in texts if (number := whole(text))}))


def _capture_sizes(words: Sequence[str]) -> tuple[int, ...]:
    given = {size for text in texts_of(words, Flag.CUDAGRAPH_CAPTURE_SIZES) if (size := whole(text))}
    document = text_of(words, Flag.COMPILATION_CONFIG) or text_of(words, Flag.COMPILATION_SHORT) or ""
    return tuple(sorted(given | set(_sizes_in(document))))


def _speculated(words: Sequence[str]) -> int:
    """Tokens that speculative decoding guesses ahead in each step."""
    tokens = _member(text_of(words, Flag.SPECULATIVE_CONFIG) or "", "num_speculative_tokens")
    return tokens if type(tokens) is int and tokens > 0 else 0


def _caches_graphs(words: Sequence[str]) -> bool:
    """As torchair_graph_config of vLLM Ascend says; without use_cached_graph each start compiles anew."""
    config = _member(text_of(words, Flag.ADDITIONAL_CONFIG) or "", "torchair_graph_config")
    return isinstance(config, dict) and all(
        config.get(key) is True for key in ("enabled", "use_cached_graph")
    )


def _sizes_in(document: str) -> tuple[int, ...]:
    sizes = _member(document, "cudagraph_capture_sizes")
    return tuple(size for size in sizes if type(size) is int and size > 0) if isinstance(sizes, list) else ()


def _member(document: str, key: str) -> object:
    """A member of a JSON object on the command line; None where there is none."""
    try:
        config = json_value(document)
    except ValueError:
        return None
    return config.get(key) if isinstance(config, dict) else None
