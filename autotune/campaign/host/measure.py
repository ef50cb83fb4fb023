"""Host measure: the same launch with the host settings and without, in alternation."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass

from autotune.campaign.guards import guarded
from autotune.campaign.host.effect import HostEffect, HostReading, effect_of, launch_order
from autotune.campaign.session import Session
from autotune.campaign.sides.side import PreparedHost
from autotune.errors import Interrupted, LaunchFailed, NotMeasurable, Refused
from autotune.events import Event, LevelEnded, Phase, PhaseChanged, Warned
from autotune.model.measurement import Level
from autotune.model.protocols import LevelRequest, Listener
from autotune.model.service import Fact


@dataclass(frozen=True, kw_only=True, slots=True)
class HostMeasuring:
    """A session whose incumbent is to be measured on both kinds of host; nothing was touched yet."""

    session: Session
    pairs: int
    told: Callable[[HostReading], None]
    """Called after each launch."""

    def run(self, listener: Listener) -> HostEffect:
        """Measure all launches and compare. The host and production are put back whatever happens.

        Raises Refused when the settings would change nothing here, NotMeasurable, Interrupted, NotRestored.
        """
        session = self.session
        if not (session.campaign.rehearsed or self._changes_something()):
            lines = "; ".join(line.value for line in session.side.host_lines)
            raise Refused(f"the host settings change nothing here: {lines}", hint="set host: in the profile")
        once = _telling_once(listener)
        try:
            with self._alone(once):
                return self._measured(once)
        except KeyboardInterrupt as error:
            raise Interrupted("interrupted; the host is as it was") from error

    def _changes_something(self) -> bool:
        return self.session.side.plain_engine is not None or self.session.side.changes_host

    @contextmanager
    def _alone(self, listener: Listener) -> Iterator[None]:
        session = self.session
        with ExitStack() as stack:
            if not session.campaign.rehearsed:
                stack.enter_context(guarded(session.state, session.campaign))
            stack.enter_context(session.side.clock.stopping_on_signals())
            stack.enter_context(session.side.aside(listener))
            yield

    def _measured(self, listener: Listener) -> HostEffect:
        readings: list[HostReading] = []
        settings: tuple[Fact, ...] = ()
        for number, flag in enumerate(launch_order(self.pairs), start=1):
            level, host = self._launch(number, with_settings=flag, listener=listener)
            if flag:
                settings = (*host.facts, *host.observed())
            readings.append(HostReading(number=number, with_settings=flag, level=level))
            self.told(readings[-1])
        return effect_of(readings, settings)

    def _launch(self, number: int, *, with_settings: bool, listener: Listener) -> tuple[Level, PreparedHost]:
        """One launch of the incumbent; the settings are there before it starts and go after it has ended."""
        side = self.session.side
        engine = side.engine if with_settings else side.plain_engine or side.engine
        incumbent = self.session.campaign.description.incumbent
        request = LevelRequest(
            concurrency=self.session.space.concurrency,
            half_width=self.session.profile.measuring.final_half_width,
            cap_seconds=self.session.bounds.level_cap_seconds,
            at_once=incumbent.max_batch_size,
        )
        settled = side.settings(listener) if with_settings else nullcontext(PreparedHost())
        try:
            with settled as host:
                listener(PhaseChanged(number=number, phase=Phase.STARTING))
                with engine.launch(incumbent) as service:
                    with side.clock.interruptible():
                        side.source.warm_up(service)
                    listener(PhaseChanged(number=number, phase=Phase.MEASURING))
                    with side.clock.interruptible():
                        level = side.source.measure(service, request, listener)
                    listener(LevelEnded(number=number, level=level))
                    service.check()
                return level, host
        except LaunchFailed as failure:
            raise NotMeasurable(
                f"launch {number} failed ({failure.cause.value}): {failure.message}",
                hint="autotune doctor PROFILE",
            ) from failure


def _telling_once(listener: Listener) -> Listener:
    """The same listener, but a warning that comes with every launch is told once."""
    told: set[Event] = set()

    def tell(event: Event) -> None:
        if isinstance(event, Warned):
            if event in told:
                return
            told.add(event)
        listener(event)

    return tell
