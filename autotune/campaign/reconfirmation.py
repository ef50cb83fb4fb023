"""Reconfirmation: whether a winner wins on the host as production has it, without the settings of trials."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import final

from autotune.campaign.sides.side import HostSide
from autotune.errors import Interrupted, LaunchFailed, NotMeasurable, Refused
from autotune.events import Warned
from autotune.model.measurement import Measurement
from autotune.model.protocols import LevelRequest, Listener
from autotune.model.service import Fact
from autotune.model.settings import Settings
from autotune.statistics.compare import Comparison, LaunchReading, compare

NAME = "re-confirmed"
"""Fact of a campaign: what the launches on the host as it is have shown."""
PAIRS = 2
PLANNED = (
    f"host settings go with the trials (host.keep: false): 2 to {2 * PAIRS} launches more prove a winner "
    "without them before it is applied"
)
_BEGINS = (
    "the host settings are put back; the winner and what was found are started again without them, "
    f"2 to {2 * PAIRS} launches, before the winner is applied"
)
_HINT = "host.keep: true applies it together with the host settings it was proven in"


@final
@dataclass(kw_only=True, slots=True)
class Reconfirmation:
    """Fresh launches of two settings on the host as it is, until the winner is surely faster or not."""

    side: HostSide
    request: LevelRequest
    listener: Listener
    seconds_left: Callable[[], float]
    """Of the host's clock, until the deadline."""
    least_gain: float
    """Fraction that it must be faster by, as in the search."""
    launch_seconds: float
    """How long a launch took in this campaign, at most."""
    _found: list[LaunchReading] = field(default_factory=list)
    _winner: list[LaunchReading] = field(default_factory=list)

    def run(self, found: Settings, winner: Settings) -> Fact:
        """Measure, and say what was seen.

        Raises Refused when the winner is not surely faster there, and by enough, or no time is left;
        NotMeasurable when a launch gives no reading; Interrupted.
        """
        self.listener(Warned(message=_BEGINS))
        try:
            gain = self._pair(found, winner)
            while not self._holds(gain) and len(self._winner) < PAIRS:
                gain = self._pair(found, winner)
        except KeyboardInterrupt as error:
            raise Interrupted("interrupted while it was proven without the host settings") from error
        shown = _shown(gain, len(self._winner))
        if not self._holds(gain):
            raise Refused(f"without the host settings of the trials it reads {shown}", hint=_HINT)
        return Fact(name=NAME, value=f"without the host settings of the trials: {shown}")

    def _holds(self, gain: Comparison) -> bool:
        return gain.better and gain.gain >= self.least_gain

    def _pair(self, found: Settings, winner: Settings) -> Comparison:
        self._found.append(self._read(found))
        self._winner.append(self._read(winner))
        return compare(self._found, self._winner)

    def _read(self, settings: Settings) -> LaunchReading:
        if self.seconds_left() < self.launch_seconds:
            raise Refused("no time is left to prove it without the host settings of the trials", hint=_HINT)
        try:
            level = self._level(settings)
        except LaunchFailed as failure:
            raise NotMeasurable(
                f"a launch without the host settings failed ({failure.cause.value}): {failure.message}",
                hint=_HINT,
            ) from failure
        return LaunchReading(tokens_per_second=level.tokens_per_second, half_width=level.half_width)

    def _level(self, settings: Settings) -> Measurement:
        side = self.side
        engine = side.plain_engine or side.engine
        request = replace(self.request, at_once=settings.max_batch_size)
        with engine.launch(settings) as service:
            with side.clock.interruptible():
                side.source.warm_up(service)
                level = side.source.measure(service, request, self.listener)
            service.check()
        if not isinstance(level, Measurement):
            why = f"{level.reason.value} {level.detail}".strip()
            raise NotMeasurable(f"no valid reading without the host settings: {why}", hint=_HINT)
        return level


def _shown(gain: Comparison, launches: int) -> str:
    times = "one launch" if launches == 1 else f"{launches} launches"
    return f"{gain.gain:+.1%} over what was found, {gain.low:+.1%} at least, by {times} of each"
