"""Night: one nightly run from its gates to the message about it."""

import time
from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from statistics import median

from autotune.campaign.choices import Choices
from autotune.campaign.fingerprint import earlier, fingerprint
from autotune.campaign.guards import guarded
from autotune.campaign.nightly.outcome import NightOutcome, NightVerdict
from autotune.campaign.nightly.retention import forget_old
from autotune.campaign.nightly.serving import Night, served_again
from autotune.campaign.nightly.switching import switched
from autotune.campaign.nightly.telling import tell
from autotune.campaign.nightly.traffic import refuse_traffic
from autotune.campaign.nightly.verdict import evidence_of, verdict_of
from autotune.campaign.nightly.window import seconds_left
from autotune.campaign.parts import Bounds
from autotune.campaign.planning import planned
from autotune.campaign.session import Session
from autotune.campaign.sides.side import HostSide
from autotune.campaign.space import options_of
from autotune.errors import AutotuneError, Busy, NotRestored, Refused, UsageError
from autotune.events import Warned
from autotune.model.campaign import Campaign
from autotune.model.launch import History
from autotune.model.move import VerdictCode
from autotune.model.protocols import Listener
from autotune.profile.reading import LoadedProfile
from autotune.search.night import NightStrategy
from autotune.search.night_memory import MOST_NIGHTS, Memory, remember

MOST_LAUNCHES = 40
"""Of a night in which something changed; a quiet one needs four."""
FEWEST_LAUNCHES = 4
_USUAL_START_SECONDS, _USUAL_LAUNCH_SECONDS = 150.0, 400.0
_PUTTING_BACK_SECONDS = 60.0
_BETTER_NOT_APPLIED = 3
_DONE, _CUT_SHORT = 0, (124, 130)


@dataclass(frozen=True, kw_only=True, slots=True)
class NightOptions:
    """What the command line asks for."""

    deadline_seconds: float | None = None
    at_any_time: bool = False
    """The window is not looked at."""


@dataclass(kw_only=True)
class _Begun:
    """A night that has touched something, or may have."""

    session: Session | None = None
    served: Night | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Prepared:
    """A planned night."""

    session: Session
    strategy: NightStrategy
    memory: Memory


def run_night(
    loaded: LoadedProfile,
    options: NightOptions,
    listener: Listener,
    *,
    now: Callable[[], datetime] = datetime.now,
) -> NightOutcome:
    """Run the night and tell of it, whatever it came to; expected errors are outcomes."""
    name, began = loaded.profile.name, time.time()
    outcome = _ended_by(
        AutotuneError("it ended unexpectedly", hint="autotune recover"), name, began, begun=True
    )
    begun = _Begun()
    try:
        outcome = _night(loaded, options, listener, now(), begun)
    except AutotuneError as error:
        outcome = _ended_by(error, name, began, begun=begun.session is not None)
        outcome = _with_session(outcome, begun.session, begun.served) if begun.session else outcome
    finally:
        outcome = replace(outcome, started_wall=began, ended_wall=time.time())
        for problem in tell(loaded.profile.nightly, outcome):
            listener(Warned(message=problem))
    return outcome


def _night(
    loaded: LoadedProfile,
    options: NightOptions,
    listener: Listener,
    now: datetime,
    begun: _Begun,
) -> NightOutcome:
    left = _time_left(loaded, options, now)
    with planned(loaded, Choices(night=True), listener) as plan:
        night = _prepared(plan, left)
        session = night.session
        side = session.side
        if side.production is not None:
            refuse_traffic(side.production, side.clock)
        elif loaded.profile.engine.service is not None:
            raise UsageError(
                "engine.service: a night does not stop a live vLLM server",
                hint="autotune tune does; or leave engine.service away on a host without live traffic",
            )
        with ExitStack() as stack:
            if not session.campaign.rehearsed:
                stack.enter_context(guarded(session.state, session.campaign))
            stack.enter_context(side.clock.stopping_on_signals())
            begun.session = session
            served = begun.served = stack.enter_context(served_again(side.production, side.journal, listener))
            campaign, exit_code = _searched(session, served, listener)
        outcome = _outcome(night, campaign, served, exit_code)
        for run in forget_old(session.store, session.state):
            listener(Warned(message=f"run {run} is forgotten: newer ones say the same"))
        return outcome


def _time_left(loaded: LoadedProfile, options: NightOptions, now: datetime) -> float:
    section = loaded.profile.nightly
    left = float("inf") if options.at_any_time else seconds_left(section.window_minutes, now)
    if left is None:
        raise Busy(
            f"the window {section.window} is closed, it is {now:%H:%M}",
            hint="nightly.window in the profile, or autotune nightly --at-any-time",
        )
    return min(left, options.deadline_seconds or float("inf"))


def _prepared(plan: Session, left: float) -> _Prepared:
    """The plan as a night: its memory, its strategy, its bounds. Raises Busy when the time is too short."""
    profile = plan.profile
    campaign = replace(plan.campaign, strategy="night")
    past = earlier(plan.store, campaign, most=MOST_NIGHTS)
    memory = remember(past, concurrency=plan.space.concurrency)
    strategy = NightStrategy(plan.space, options_of(profile, max_launches=MOST_LAUNCHES), memory)
    scale = campaign.description.time_scale
    reserve = _reserve(past, scale, apply=profile.nightly.apply)
    needed = reserve + FEWEST_LAUNCHES * _launch_seconds(past, scale)
    if left < needed:
        raise Busy(
            f"{left / 60:.0f} min are left, a night needs {needed / 60:.0f}",
            hint="widen nightly.window, or let the timer fire earlier",
        )
    session = replace(
        plan,
        campaign=campaign,
        strategy=strategy,
        locked=True,
        apply=False,
        side=_side(plan, past),
        bounds=Bounds(
            max_launches=MOST_LAUNCHES,
            level_cap_seconds=plan.bounds.level_cap_seconds,
            deadline_seconds=left,
            restore_reserve_seconds=reserve,
        ),
    )
    return _Prepared(session=session, strategy=strategy, memory=memory)


def _side(plan: Session, past: tuple[Campaign, ...]) -> HostSide:
    """Production is not the session's business tonight; a rehearsal goes on with the luck of its launches."""
    if not plan.campaign.rehearsed:
        return replace(plan.side, aside=lambda _: nullcontext())
    from autotune.campaign.sides.virtual import virtual_side

    return virtual_side(plan.profile, first_launch=sum(len(campaign.launches) for campaign in past))


def _reserve(past: tuple[Campaign, ...], scale: float, *, apply: bool) -> float:
    """Time to put back and to start production; twice and a canary more when a winner is applied."""
    starts = [launch.seconds.start for campaign in past for launch in campaign.launches]
    start = median(starts) if starts else _USUAL_START_SECONDS / scale
    return _PUTTING_BACK_SECONDS + 1.5 * start * (3 if apply else 1)


def _launch_seconds(past: tuple[Campaign, ...], scale: float) -> float:
    totals = [launch.seconds.total for campaign in past for launch in campaign.launches]
    return median(totals) if totals else _USUAL_LAUNCH_SECONDS / scale


def _searched(session: Session, night: Night, listener: Listener) -> tuple[Campaign, int]:
    ending = session.run(listener)
    verdict = ending.campaign.verdict
    proven = verdict is not None and verdict.code is VerdictCode.IMPROVED
    if proven and session.profile.nightly.apply and not session.campaign.rehearsed:
        night.switch = switched(session, ending.campaign, listener)
    return ending.campaign, ending.exit_code


def _outcome(night: _Prepared, campaign: Campaign, served: Night, exit_code: int) -> NightOutcome:
    """From a night that came to its end, with production as it is now."""
    findings = night.strategy.findings(History(launches=campaign.launches))
    failure = served.switch.failure if served.switch else ""
    applied = served.switch is not None and not failure
    verdict = verdict_of(campaign, findings, applied=applied)
    if failure or exit_code in _CUT_SHORT:
        verdict = NightVerdict.FAILED
    code = exit_code
    if failure:
        code = AutotuneError.exit_code
    elif verdict is NightVerdict.IMPROVED_NOT_APPLIED:
        code = _BETTER_NOT_APPLIED
    evidence = evidence_of(campaign, night.strategy, findings, night.memory)
    found = campaign.verdict
    best = found.best if found else None
    return _with_session(
        NightOutcome(
            profile=campaign.profile_name,
            run=campaign.run,
            verdict=verdict,
            exit_code=code,
            message=_message(verdict, campaign, served) or evidence[-1],
            evidence=evidence,
            started_wall=campaign.started_wall,
            ended_wall=campaign.started_wall,
            best=best.settings if best else None,
            best_tokens_per_second=best.tokens_per_second if best else None,
            tokens_per_second=found.incumbent.tokens_per_second if found and found.incumbent else None,
            gain=found.gain if found else None,
            launches=len(campaign.launches),
        ),
        night.session,
        served,
    )


def _message(verdict: NightVerdict, campaign: Campaign, served: Night) -> str:
    found = campaign.verdict
    best = found.best if found else None
    failure = served.switch.failure if served.switch else ""
    if failure:
        return (
            f"the better setting was proven and then did not serve ({failure}); the old one is served again"
        )
    match verdict:
        case NightVerdict.IMPROVED_APPLIED | NightVerdict.IMPROVED_NOT_APPLIED:
            size = best.settings.max_batch_size if best else 0
            gain = f"{found.gain:+.1%}" if found and found.gain is not None else "the only one that runs"
            done = (
                "served now" if verdict is NightVerdict.IMPROVED_APPLIED else f"autotune apply {campaign.run}"
            )
            return f"maxBatchSize {campaign.description.incumbent.max_batch_size} -> {size}, {gain}; {done}"
        case NightVerdict.HOLDS:
            return "the setting still holds"
        case NightVerdict.FAILED | NightVerdict.NOT_MEASURABLE:
            return found.reason if found else "nothing was measured"
        case _:
            return ""


def _with_session(outcome: NightOutcome, session: Session, served: Night | None) -> NightOutcome:
    """What is known of every night that was begun."""
    about = session.campaign.description
    return replace(
        outcome,
        run=session.campaign.run,
        fingerprint=fingerprint(session.campaign),
        served=served.served(about.incumbent) if served else about.incumbent,
        emulated=about.emulated or session.campaign.rehearsed,
    )


def _ended_by(error: AutotuneError, profile: str, began: float, *, begun: bool) -> NightOutcome:
    refused = isinstance(error, Busy) or (not begun and isinstance(error, Refused))
    verdict = NightVerdict.REFUSED if refused else NightVerdict.FAILED
    if isinstance(error, NotRestored):
        verdict = NightVerdict.NOT_RESTORED
    hint = (error.hint,) if error.hint else ()
    return NightOutcome(
        profile=profile,
        run="",
        verdict=verdict,
        exit_code=error.exit_code,
        message=error.message.splitlines()[0],
        evidence=(*error.message.splitlines()[1:], *hint),
        started_wall=began,
        ended_wall=began,
        restored=not isinstance(error, NotRestored),
    )
