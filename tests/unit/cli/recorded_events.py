"""The events of a stored campaign as they came, with the clock that went on between them."""

from dataclasses import replace

from autotune.events import (
    CampaignEnded,
    CampaignStarted,
    LaunchEnded,
    LaunchStarted,
    LevelEnded,
    LevelProgress,
    Phase,
    PhaseChanged,
)
from autotune.model.campaign import Forecast, Verdict
from autotune.model.launch import Outcome
from autotune.model.measurement import Measurement
from autotune.model.move import VerdictCode
from autotune.model.service import Fact
from autotune.report.evidence import reasons

NO_FORECAST = Forecast(launches_low=1, launches_high=1, seconds_low=1.0, seconds=1.0, seconds_high=1.0)

PLAN = (
    Fact(name="service", value="mindie 3.0  .demo/install  EMULATED, 40 times faster than real"),
    Fact(name="model", value="llama3-8b"),
    Fact(name="found", value="maxBatchSize 22, maxPrefillBatchSize 22, supportSelectBatch false"),
    Fact(name="config", value=".demo/install/conf/config.json: edited in place, put back byte for byte"),
    Fact(name="starts", value="the service, once a launch; every one is stopped again"),
    Fact(name="host", value="service not bound (left alone)"),
    Fact(name="load", value="synthetic, 82 clients, tgi, source own"),
    Fact(name="search", value="guide, at most 12 launches, seed 1"),
    Fact(name="bracket", value="from the blocks that the first launch reports"),
)
"""The plan of the emulated run, as it was shown."""


class RecordedClock:
    """Stands still until an event lets it go on."""

    def __init__(self):
        self.seconds = 0.0

    def __call__(self):
        return self.seconds


def events_of(campaign):
    """Pairs of an event and the seconds that the clock goes on before it."""
    begun = replace(campaign, launches=(), decisions=(), verdict=None, ended_wall=None)
    yield 0.0, CampaignStarted(campaign=begun, forecast=campaign.forecast or NO_FORECAST)
    why = reasons(campaign)
    for record in campaign.launches:
        yield from _launch(record, why[record.number])
    yield 0.0, CampaignEnded(campaign=campaign)


def interrupted_in(campaign, number):
    """The same, ended by Ctrl-C while launch `number` is measured."""
    kept = campaign.launches[: number - 1]
    for seconds, event in events_of(campaign):
        yield seconds, event
        if (
            isinstance(event, LevelProgress)
            and event.half_width is not None
            and _runs(campaign, number, event)
        ):
            break
    verdict = Verdict(code=VerdictCode.INTERRUPTED, reason="interrupted")
    ended = replace(campaign, launches=kept, verdict=verdict, config_diff="")
    yield 0.2, PhaseChanged(number=number, phase=Phase.STOPPING)
    yield 0.1, CampaignEnded(campaign=ended)


def play(listener, clock, events, *, until=None):
    """Tell a listener the events in order; stop after the first that `until` is true of."""
    for seconds, event in events:
        clock.seconds += seconds
        listener(event)
        if until is not None and until(event):
            return event
    return None


def _runs(campaign, number, event):
    level = campaign.launches[number - 1].levels[-1]
    return event.tokens_per_second == level.tokens_per_second


def _launch(record, reason):
    number, times = record.number, record.seconds
    yield 0.0, LaunchStarted(number=number, purpose=record.purpose, settings=record.settings, reason=reason)
    yield 0.0, PhaseChanged(number=number, phase=Phase.STARTING)
    if record.outcome is Outcome.FAILED and not record.levels:
        yield times.start, LaunchEnded(record=record)
        return
    yield times.start, PhaseChanged(number=number, phase=Phase.WARMING_UP)
    wait = times.warm_up
    for level in record.levels:
        yield wait, PhaseChanged(number=number, phase=Phase.MEASURING)
        wait = 0.0
        yield from _level(number, level, times.measure / len(record.levels))
    yield 0.0, PhaseChanged(number=number, phase=Phase.STOPPING)
    yield times.stop, LaunchEnded(record=record)


def _level(number, level, seconds):
    if isinstance(level, Measurement):
        half, window = seconds / 2, level.seconds
        common = {"concurrency": level.concurrency}
        yield (
            half / 2,
            LevelProgress(
                **common, seconds=window / 4, tokens_per_second=None, half_width=None, seconds_left=None
            ),
        )
        yield (
            half / 2,
            LevelProgress(
                **common,
                seconds=window / 2,
                tokens_per_second=level.tokens_per_second,
                half_width=2 * level.half_width,
                seconds_left=window / 2,
            ),
        )
        yield half, LevelEnded(number=number, level=level)
    else:
        yield seconds, LevelEnded(number=number, level=level)
