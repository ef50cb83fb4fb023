"""Session: one `autotune tune` from the plan to the stored verdict; it joins all the parts."""

from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from autotune.campaign.apply import kept, put_in_place, told_by_hand
from autotune.campaign.choices import Choices
from autotune.campaign.ending import Ending
from autotune.campaign.guards import guarded
from autotune.campaign.limit_findings import limit_findings
from autotune.campaign.parts import Bounds, Parts
from autotune.campaign.plan import Plan
from autotune.campaign.proven import afterwards, were_changed
from autotune.campaign.reconfirmation import NAME as RECONFIRMED
from autotune.campaign.reconfirmation import Reconfirmation
from autotune.campaign.run import CampaignRun
from autotune.campaign.sides.side import HostSide, PreparedHost
from autotune.campaign.space import options_of
from autotune.errors import AutotuneError, NotRestored
from autotune.events import CampaignEnded, CampaignStarted, Warned
from autotune.model.bracket import Bracket
from autotune.model.campaign import Campaign
from autotune.model.move import VerdictCode
from autotune.model.proposal import Proposals
from autotune.model.protocols import LevelRequest, Listener
from autotune.model.service import BlockSource, Fact
from autotune.profile.schema import Profile
from autotune.search.space import Space
from autotune.search.strategy import WITH_PROPOSALS, Strategy, make_strategy
from autotune.store.run_log import FILE_NAME
from autotune.store.state import StateDirectory
from autotune.store.storage import StorageFailed
from autotune.store.study import CampaignStore


@dataclass(frozen=True, kw_only=True, slots=True)
class Session:
    """A campaign that is planned and not begun; nothing was touched yet."""

    profile: Profile
    campaign: Campaign
    plan: Plan
    space: Space
    bounds: Bounds
    side: HostSide
    store: CampaignStore
    state: StateDirectory
    resumed: bool
    apply: bool
    """Put a proven winner in place at the end."""
    locked: bool = False
    """The caller holds the service's locks."""
    strategy: Strategy | None = None
    """Instead of the one that the campaign names."""

    def run(self, listener: Listener) -> Ending:
        """Run the campaign to its end and store it. Raises NotRestored when something stays changed."""
        parts = Parts(
            engine=self.side.engine,
            source=self.side.source,
            strategy=self.strategy or self._named_strategy(),
            store=self.store,
            clock=self.side.clock,
            listener=listener,
        )
        with ExitStack() as stack:
            if not (self.campaign.rehearsed or self.locked):
                stack.enter_context(guarded(self.state, self.campaign))
            if not self.campaign.rehearsed:
                self.store.log_to(self.state.run(self.campaign.run) / FILE_NAME)
            stack.enter_context(self.side.clock.stopping_on_signals())
            if self.resumed:
                self.store.resume(self.campaign.run)
            else:
                self.store.begin(self.campaign)
            listener(CampaignStarted(campaign=self.campaign, forecast=self.plan.forecast))
            ending = self._ended(parts)
        listener(CampaignEnded(campaign=ending.campaign))
        return ending

    def _named_strategy(self) -> Strategy:
        options = options_of(self.profile, max_launches=self.bounds.max_launches)
        return make_strategy(
            self.campaign.strategy, self.space, options, proposals_for(self.campaign.strategy)
        )

    def _ended(self, parts: Parts) -> Ending:
        run = CampaignRun(self.campaign, parts, self.bounds)
        began = self.side.clock.now()
        try:
            with self.side.aside(parts.listener):
                with self.side.settings(parts.listener) as host:
                    ending = self._finished(run.run(), host, parts.listener)
                ending = self._applied_elsewhere(ending, host, parts.listener, began=began)
        except (AutotuneError, OSError) as error:
            self._failed(run, restored=not isinstance(error, NotRestored))
            raise
        self.store.ended(ending.campaign)
        return ending

    def _failed(self, run: CampaignRun, *, restored: bool) -> None:
        """Store what there is; a database that fails too must not hide why the campaign ended."""
        campaign = replace(run.so_far(), ended_wall=self.side.clock.wall(), restored=restored)
        with suppress(StorageFailed):
            self.store.ended(campaign)

    def _finished(self, ending: Ending, host: PreparedHost, listener: Listener) -> Ending:
        """Say what the winner would change, and put it in place when that was asked for."""
        campaign = ending.campaign
        verdict = campaign.verdict
        best = verdict.best if verdict else None
        diff = self.side.engine.preview(best.settings) if best else ""
        campaign = replace(
            campaign,
            bracket=self._bracket(campaign) or campaign.bracket,
            config_diff=diff,
            limit_findings=limit_findings(campaign.launches, self.profile.objective.limits, verdict),
            environment=(*campaign.environment, *host.facts, *host.observed()),
        )
        ending = replace(ending, campaign=campaign)
        if self._to_apply(ending) and not self._needs_proof(host):
            return self._applied(ending, host, listener)
        return _with_environment(ending, afterwards(host.facts, kept=False))

    def _to_apply(self, ending: Ending) -> bool:
        verdict = ending.campaign.verdict
        return self.apply and verdict is not None and verdict.code is VerdictCode.IMPROVED

    def _needs_proof(self, host: PreparedHost) -> bool:
        """Whether production will run under other host settings than the winner was proven in."""
        return not self.profile.host.keep and were_changed(host.facts)

    def _applied_elsewhere(
        self, ending: Ending, host: PreparedHost, listener: Listener, *, began: float
    ) -> Ending:
        """Prove the winner once more where the host settings of the trials went, then put it in place."""
        if not self._to_apply(ending) or not self._needs_proof(host) or told_by_hand(ending.campaign):
            return ending
        self.store.ended(ending.campaign)  # a crash from here on leaves a finished run
        campaign = ending.campaign
        assert campaign.verdict is not None, "there is a winner"
        assert campaign.verdict.best is not None, "there is a winner"
        proof = self._reconfirmation(campaign, listener, began=began)
        try:
            fact = proof.run(campaign.description.incumbent, campaign.verdict.best.settings)
        except AutotuneError as error:
            listener(Warned(message=f"the winner was not applied: {error.message}", hint=error.hint))
            ending = _with_environment(ending, (Fact(name=RECONFIRMED, value=error.message),))
            return replace(ending, exit_code=error.exit_code)
        return self._applied(_with_environment(ending, (fact,)), host, listener)

    def _reconfirmation(self, campaign: Campaign, listener: Listener, *, began: float) -> Reconfirmation:
        clock, bounds = self.side.clock, self.bounds
        until = began + bounds.deadline_seconds - bounds.restore_reserve_seconds
        request = LevelRequest(
            concurrency=self.space.concurrency,
            half_width=self.profile.measuring.final_half_width,
            cap_seconds=bounds.level_cap_seconds,
        )
        return Reconfirmation(
            side=self.side,
            request=request,
            listener=listener,
            seconds_left=lambda: until - clock.now(),
            least_gain=options_of(self.profile, max_launches=bounds.max_launches).least_gain,
            launch_seconds=max((launch.seconds.total for launch in campaign.launches), default=0.0),
        )

    def _applied(self, ending: Ending, host: PreparedHost, listener: Listener) -> Ending:
        """Put the winner in place, with the host settings where the profile keeps them.

        What goes wrong here takes nothing away from the campaign: it is told, and in the exit code.
        """
        keep = self.profile.host.keep
        by_hand = told_by_hand(ending.campaign)
        ending = _with_environment(ending, afterwards(host.facts, kept=keep and not by_hand))
        if by_hand:
            listener(Warned(message=by_hand[0], hint=by_hand[1]))
            return ending
        self.store.ended(ending.campaign)  # a crash from here on leaves a finished run
        try:
            lines = put_in_place(ending.campaign, self.state)
        except AutotuneError as error:
            listener(Warned(message=f"the winner was not applied: {error.message}", hint=error.hint))
            ending = _with_environment(ending, afterwards(host.facts, kept=False))
            return replace(ending, exit_code=error.exit_code)
        for line in lines:
            listener(Warned(message=line))
        if keep:
            kept(host.changes, self.state)  # before the crash journal forgets them
            host.keep()
        return replace(ending, campaign=replace(ending.campaign, applied=True))

    def _bracket(self, campaign: Campaign) -> Bracket | None:
        """From the blocks that the first launch reported; None when none did."""
        for launch in campaign.launches:
            if launch.blocks is not None:
                source = launch.blocks_source or BlockSource.STATUS
                return self.space.bracket(launch.blocks, source.value)
        return None


def _with_environment(ending: Ending, facts: tuple[Fact, ...]) -> Ending:
    """The ending with these facts instead of those of the same names."""
    names = {fact.name for fact in facts}
    others = tuple(fact for fact in ending.campaign.environment if fact.name not in names)
    return replace(ending, campaign=replace(ending.campaign, environment=(*others, *facts)))


def proposals_for(strategy: str) -> Proposals | None:
    """The sampler's side of a strategy that asks one; Optuna is imported for no other."""
    if strategy != WITH_PROPOSALS:
        return None
    from autotune.store.proposals import OptunaProposals

    return OptunaProposals()


def report_directory(profile: Profile, choices: Choices, run: str) -> Path:
    """Where the report of a run goes."""
    return choices.output or profile.report.directory / run
