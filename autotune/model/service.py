"""What an engine tells about the service it starts: its facts, where it listens, its counters."""

from dataclasses import dataclass
from enum import Enum, unique

from autotune.model.settings import Settings


@unique
class BlockSource(Enum):
    """Where a number of KV blocks comes from; the better source wins."""

    STATUS = "status"
    METRICS = "metrics"
    LOG = "log"
    FORMULA = "formula"
    PROFILE = "profile"


@dataclass(frozen=True, kw_only=True, slots=True)
class Blocks:
    """KV-cache blocks of a running service."""

    count: int
    source: BlockSource


@dataclass(frozen=True, kw_only=True, slots=True)
class Fact:
    """One fact about engine, host or model that a report shows."""

    name: str
    value: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Description:
    """An engine's installation as found, before anything is touched."""

    kind: str
    """mindie, vllm or rehearsal."""
    version: str
    place: str
    """Install directory or command."""
    model_name: str
    incumbent: Settings
    block_size: int
    max_link_num: int | None = None
    """Most connections that the service takes at once, where it has such a limit."""
    bounds_low: int = 1
    """Smallest max_batch_size that the service takes beside its other values."""
    bounds_high: int | None = None
    """Largest max_batch_size that this version takes."""
    grid: tuple[int, ...] = ()
    """Values of max_batch_size that suit the engine (captured graphs), ascending; empty: every number."""
    max_iter_times: int | None = None
    """Cap on generated tokens a request."""
    max_input_token_len: int | None = None
    """Longest prompt that the service takes, in tokens."""
    config_path: str = ""
    """The configuration file that a launch edits or copies; empty when there is none."""
    emulated: bool = False
    time_scale: float = 1.0
    """An emulated service runs this many times faster than what it stands in for: one second of
    the host is `time_scale` seconds of the service's own clock. 1 for anything real."""
    facts: tuple[Fact, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Endpoint:
    """Where a running service listens, for a load source."""

    url: str
    """Scheme, host and port of the business interface, without a trailing slash."""
    model_name: str
    management_url: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Counters:
    """What the service says of itself at one moment; None where its version does not say."""

    running: int | None = None
    waiting: int | None = None
    preemptions: int | None = None
    """Since the service started."""
    free_blocks: int | None = None
    total_blocks: int | None = None
