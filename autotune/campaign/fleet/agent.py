"""Agent: one of several identical hosts that work on one study, launch by launch."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace

from autotune.campaign.decisions import decision_of
from autotune.campaign.ending import Ending, ended
from autotune.campaign.fleet.heartbeat import beating
from autotune.campaign.fleet.one_launch import ClaimedStore, OneLaunch
from autotune.campaign.fleet.patience import Patience
from autotune.campaign.guards import guarded
from autotune.campaign.parts import Parts
from autotune.campaign.run import CampaignRun
from autotune.campaign.session import Session, proposals_for
from autotune.campaign.space import options_of
from autotune.errors import Interrupted, UsageError
from autotune.events import CampaignEnded, CampaignStarted, Warned
from autotune.model.campaign import Campaign
from autotune.model.launch import BudgetLeft, History, LaunchRecord, Outcome, Purpose
from autotune.model.move import Finish, Launch, VerdictCode, Wait
from autotune.model.protocols import Clock, Listener
from autotune.model.service import Fact
from autotune.process.identity import identity_of
from autotune.search.fleet import Shared
from autotune.search.hosts import HostDifference, host_differences
from autotune.search.strategy import make_strategy
from autotune.store.lease import Agent
from autotune.store.shared_study import SharedStudy
from autotune.store.storage import StorageFailed

BEATS_A_LEASE = 6
_POLL_SECONDS = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class _Step:
    """What the study lets this host do next."""

    claimed: LaunchRecord | None = None
    final: tuple[LaunchRecord, ...] = ()
    """Ended launches as the strategy sees them, for a sweep."""
    finished: Campaign | None = None
    verdict_by_us: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class FleetEnding:
    """The end as this host sees it."""

    ending: Ending
    differences: tuple[HostDifference, ...]
    ours: bool
    """This host wrote the verdict, so it writes the one report."""


class FleetAgent:
    """Claims launches until the study has its verdict."""

    def __init__(
        self, session: Session, study: SharedStudy, agent: Agent, clock: Clock, *, lease_seconds: float
    ) -> None:
        self._session = session
        self._study = study
        self._agent = agent
        self._clock = clock
        self._every = lease_seconds / BEATS_A_LEASE
        options = options_of(session.profile, max_launches=session.bounds.max_launches)
        self._half_width = options.final_half_width
        name = session.campaign.strategy
        self._inner = make_strategy(name, session.space, options, proposals_for(name))
        self._strategy = Shared(self._inner, session.space, agent.host)

    def run(self, listener: Listener) -> FleetEnding:
        """Work until the verdict is there; the service is stopped and all is put back in each case.

        Raises UsageError for a study about another service, StorageFailed when the database stays away,
        Interrupted when somebody asked to stop: the launch that ran is given back.
        """
        session = self._session
        patience = Patience(self._clock, listener)
        with ExitStack() as stack:
            if not session.campaign.rehearsed:
                stack.enter_context(guarded(session.state, session.campaign))
            stack.enter_context(session.side.clock.stopping_on_signals())
            patience(lambda: self._study.open(session.campaign))
            stack.enter_context(session.side.prepared(listener))
            listener(CampaignStarted(campaign=session.campaign, forecast=session.plan.forecast))
            step = self._work(patience, listener)
        assert step.finished is not None, "the work ends with the verdict"
        campaign = step.finished
        listener(CampaignEnded(campaign=campaign))
        verdict = campaign.verdict
        unmeasured = verdict is not None and verdict.code is VerdictCode.NOT_MEASURABLE
        return FleetEnding(
            ending=Ending(campaign=campaign, exit_code=5 if unmeasured else 0),
            differences=self._differences(campaign.launches),
            ours=step.verdict_by_us,
        )

    def _work(self, patience: Patience, listener: Listener) -> _Step:
        while True:
            step = patience(lambda: self._next_step(listener))
            if step.finished is not None:
                return step
            if step.claimed is not None:
                self._launch(step.claimed, step.final, patience, listener)
            else:
                self._clock.sleep(_POLL_SECONDS)
            if self._session.side.clock.stop_wanted:
                raise Interrupted("interrupted; the launch that ran here was given back")

    def _next_step(self, listener: Listener) -> _Step:
        """Decide alone: what others do meanwhile would change the answer."""
        with self._study.exclusive():
            for freed in self._study.give_back(_lives):
                listener(Warned(message=_given_back(freed)))
            stored = self._study.campaign()
            if stored.verdict is not None:
                return _Step(finished=stored)
            launches = self._study.launches()
            final = tuple(each for each in launches if each.outcome is not Outcome.PENDING)
            held = self._study.held()
            if held is not None:
                return _Step(claimed=held, final=self._strategy.view(final))
            move = self._strategy.next_move(History(launches=launches, budget=self._budget(launches)))
            if isinstance(move, Finish):
                return self._finish(stored, final, move)
            if not isinstance(move, Launch):
                assert isinstance(move, Wait), "nothing of this host runs that could be measured"
                return _Step()
            record = LaunchRecord(number=0, purpose=move.purpose, settings=move.settings)
            claimed = self._study.claim(record)
            self._study.decided(decision_of(move, final))
            return _Step(claimed=claimed, final=self._strategy.view(final))

    def _launch(
        self, claimed: LaunchRecord, final: tuple[LaunchRecord, ...], patience: Patience, listener: Listener
    ) -> None:
        session = self._session
        store = ClaimedStore(self._study, claimed, patience)
        strategy = OneLaunch(
            claimed,
            self._inner,
            before=len(final),
            concurrency=session.space.concurrency,
            half_width=self._half_width,
        )
        parts = Parts(
            engine=session.side.engine,
            source=session.side.source,
            strategy=strategy,
            store=store,
            clock=session.side.clock,
            listener=listener,
        )
        campaign = replace(session.campaign, launches=final, decisions=())
        with self._kept_alive(claimed), self._given_back_unless_ended(claimed):
            CampaignRun(campaign, parts, session.bounds).run()
        if store.lost is not None:
            listener(Warned(message=f"{store.lost.message}; its reading is not kept"))

    def _kept_alive(self, claimed: LaunchRecord) -> AbstractContextManager[None]:
        return beating(lambda: self._study.renew(claimed.number), every=self._every)

    @contextmanager
    def _given_back_unless_ended(self, claimed: LaunchRecord) -> Iterator[None]:
        """Whatever cuts the launch short gives it back at once, if the database is there to be told."""
        try:
            yield
        finally:
            with suppress(StorageFailed):  # then its lease runs out
                self._study.abandon(claimed.number)

    def _budget(self, launches: tuple[LaunchRecord, ...]) -> BudgetLeft:
        """Measuring the incumbent on a further host costs nothing."""
        incumbents = sum(each.purpose is Purpose.INCUMBENT for each in launches)
        used = len(launches) - max(0, incumbents - 1)
        return BudgetLeft(launches=self._session.bounds.max_launches - used)

    def _finish(self, stored: Campaign, final: tuple[LaunchRecord, ...], move: Finish) -> _Step:
        view = self._strategy.view(final)
        wall = self._session.side.clock.wall()
        whole = ended(replace(stored, launches=view), move, None, wall=wall).campaign
        differences = self._differences(final)
        facts = tuple(Fact(name=f"host {each.host}", value=str(each)) for each in differences)
        best = whole.verdict.best if whole.verdict else None
        campaign = replace(
            whole,
            launches=final,
            environment=(*stored.environment, *facts),
            config_diff=self._session.side.engine.preview(best.settings) if best else "",
        )
        self._study.decided(decision_of(move, final))
        self._study.ended(campaign)
        return _Step(finished=self._study.campaign(), verdict_by_us=True)

    def _differences(self, launches: tuple[LaunchRecord, ...]) -> tuple[HostDifference, ...]:
        return host_differences(launches, concurrency=self._session.space.concurrency)


def agent_url(url: str) -> str:
    """The database of a fleet. Raises UsageError for one that several hosts cannot share."""
    if not url.startswith("postgresql"):
        raise UsageError(
            "several hosts can't share a SQLite file",
            hint="store: {url: postgresql://HOST/NAME} in the profile; docs/fleet.md sets one up",
        )
    return url


def _given_back(freed: LaunchRecord) -> str:
    return f"launch {freed.number} of {freed.host} was given back: its agent is gone"


def _lives(pid: int) -> bool:
    return pid > 0 and identity_of(pid) is not None
