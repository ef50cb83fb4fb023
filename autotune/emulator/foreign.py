"""ForeignRequests: work in the service that comes from somebody else."""

import asyncio
from collections.abc import Callable
from typing import Final

from autotune.emulator.engine_loop import EngineLoop
from autotune.emulator.faults import Faults
from autotune.emulator.streams import seeded
from autotune.simulator.sequence import Sequence

_PROMPT_TOKENS: Final = 186
_OUTPUT_TOKENS: Final = 346
_LOOK_SECONDS: Final = 1.0


class ForeignRequests:
    """Submits requests that nobody reads, at random times with the rate that the faults say."""

    def __init__(self, engine: EngineLoop, faults: Callable[[], Faults], *, seed: int) -> None:
        self._engine = engine
        self._faults = faults
        self._random = seeded("foreign", seed)
        self._handle: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Begin to look at the rate."""
        self._later(_LOOK_SECONDS)

    def stop(self) -> None:
        """Send no more."""
        if self._handle is not None:
            self._handle.cancel()

    def _later(self, seconds: float) -> None:
        delay = self._engine.clock.host_seconds(seconds)
        self._handle = asyncio.get_running_loop().call_later(delay, self._send)

    def _send(self) -> None:
        rate = self._faults().foreign_requests_per_second
        if rate <= 0:
            self._later(_LOOK_SECONDS)
            return
        number = self._engine.next_number()
        self._engine.enqueue(
            Sequence(number=number, prompt_tokens=_PROMPT_TOKENS, output_tokens=_OUTPUT_TOKENS)
        )
        self._later(self._random.expovariate(rate))
