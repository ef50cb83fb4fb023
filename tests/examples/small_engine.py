"""An engine in under 100 lines: a server whose command line takes `--capacity N`."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from autotune.errors import LaunchCause, LaunchFailed
from autotune.model.protocols import Clock
from autotune.model.service import Blocks, Counters, Description, Endpoint
from autotune.model.settings import Settings
from autotune.process.child import Child, start
from autotune.process.ending import end
from autotune.process.ports import listener
from autotune.process.tree import Tree

SERVER = Path(__file__).with_name("small_server.py")
READY_SECONDS, GRACE_SECONDS = 20.0, 5.0


@dataclass(frozen=True, kw_only=True)
class SmallService:
    """What load and campaign see of a running server."""

    child: Child
    endpoint: Endpoint
    blocks: Blocks | None = None  # a server without paged attention has none; the bracket is then given

    def counters(self) -> Counters | None:
        """None: it counts nothing."""
        return None

    def check(self) -> None:
        """Raise LaunchFailed when it is gone."""
        code = self.child.poll()
        if code is not None:
            raise LaunchFailed(LaunchCause.CRASHED, f"the server ended with {code}")


class SmallEngine:
    """Settings -> a running server; `max_batch_size` becomes `--capacity`."""

    def __init__(self, work_dir: Path, clock: Clock, *, incumbent: int = 2, most: int = 64) -> None:
        self._work_dir, self._clock, self._most = work_dir, clock, most
        self._incumbent = Settings(max_batch_size=incumbent)

    def describe(self) -> Description:
        """Facts that cost nothing to find out."""
        return Description(
            kind="small",
            version="1",
            place=str(SERVER),
            model_name="m",
            incumbent=self._incumbent,
            block_size=128,
            bounds_high=self._most,
        )

    def preview(self, settings: Settings) -> str:
        """Show the flag that would change."""
        before, after = self._incumbent.max_batch_size, settings.max_batch_size
        return "" if before == after else f"---  --capacity {before}\n+++  --capacity {after}\n"

    @contextmanager
    def launch(self, settings: Settings) -> Iterator[SmallService]:
        """Start it in its own process group, wait until it listens, and end what it started."""
        if settings.max_batch_size > self._most:
            said = f"--capacity {settings.max_batch_size} is more than {self._most}"
            raise LaunchFailed(LaunchCause.CONFIG, said, lines=(said,))
        output = self._work_dir / "output.log"
        words = [sys.executable, "-I", str(SERVER), "--capacity", str(settings.max_batch_size)]
        child = start(words, env={}, cwd=self._work_dir, output=output)
        tree = Tree(child.identity)
        try:
            port = self._port_of(child, output)
            yield SmallService(child=child, endpoint=Endpoint(url=f"http://127.0.0.1:{port}", model_name="m"))
        finally:
            end(tree, grace=GRACE_SECONDS, clock=self._clock, child=child)

    def _port_of(self, child: Child, output: Path) -> int:
        """The server prints its port; it is ready when it owns it."""
        deadline = self._clock.now() + READY_SECONDS
        while self._clock.now() < deadline and child.poll() is None:
            said = output.read_text(encoding="utf-8").strip()
            if said.isdecimal() and listener(int(said)) is not None:
                return int(said)
            self._clock.sleep(0.05)
        lines = tuple(output.read_text(encoding="utf-8").splitlines()[-3:])
        raise LaunchFailed(LaunchCause.TIMEOUT, "the server does not listen", lines=lines)
