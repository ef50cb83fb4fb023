"""State: a model's config.json, the crash journal and the marker of an emulated install."""

import json
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

from autotune.emulator import marker as emulated
from autotune.engines.mindie.marker import read_marker
from autotune.errors import NotRestored, Refused, UsageError
from autotune.model.change import FileChanged, ServiceStopped
from autotune.sizing.block_bytes import block_bytes
from autotune.sizing.model_shape import read_shape
from autotune.store.codec import encode
from autotune.store.journal import Unfinished, unfinished
from tests.fuzz.target import Target, golden, printed, words_of

SHAPE_WORDS = words_of("models")
STATE_WORDS = words_of("state")
CHANGE = FileChanged(path="/c", backup="/b", before_sha256="0", after_sha256="1", mode=0o640, uid=0, gid=0)
STOPPED = ServiceStopped(start=("systemctl", "start", "mindie"), config_path="/c")
JOURNAL = Unfinished(run="a-run", pid=7, boot_id="b", started_wall=1.0, changes=(CHANGE, STOPPED))
MARKER = {"time_scale": 40, "version": "3.0", "faults": {"out_of_memory_at": 300}}


@cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="autotune-fuzz-"))


def read_model(data: bytes) -> None:
    """A shape with positive layers and bytes, or a usage error that asks for the blocks."""
    try:
        config = json.loads(printed(data))
    except (ValueError, RecursionError):
        return
    if not isinstance(config, dict):
        return
    try:
        shape = read_shape(config)
    except UsageError:
        return
    assert shape.cached_layers >= 0
    with suppress(UsageError):
        for tensor in (1, 2, 8):
            assert block_bytes(shape, block_size=128, tensor_parallel=tensor).total > 0


def read_state(data: bytes) -> None:
    """A journal that cannot be read is NotRestored, a marker that cannot be read is refused; no guess."""
    journal = _folder() / "journal.json"
    journal.write_bytes(data)
    with suppress(NotRestored):
        unfinished(journal)
    (_folder() / "EMULATED").write_bytes(data)
    with suppress(Refused):
        read_marker(_folder())
    with suppress(UsageError):
        emulated.read_marker(_folder())


MODELS = Target(
    name="model config.json",
    law="a shape with bytes above 0, or a usage error",
    check=read_model,
    seeds=lambda: golden("models", "m*.json"),
    words=SHAPE_WORDS,
)
STATE = Target(
    name="crash journal and marker",
    law="read, or refused with its own error; never guessed",
    check=read_state,
    seeds=lambda: (json.dumps(encode(JOURNAL, Unfinished)).encode(), json.dumps(MARKER).encode()),
    words=STATE_WORDS,
)
