"""Replay: the stored readings through the strategy again; the decisions must be the same."""

from dataclasses import dataclass, replace

from autotune.model.campaign import Campaign, Decision
from autotune.model.launch import BudgetLeft, History, LaunchRecord, Outcome
from autotune.model.move import Finish, Launch, Measure, Move, Wait
from autotune.search.strategy import Strategy


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """A stored decision and what the strategy says now."""

    stored: Decision
    now: Move


def replay(campaign: Campaign, strategy: Strategy, *, max_launches: int) -> tuple[Difference, ...]:
    """Hold every stored decision against the strategy; empty when all are the same.

    Decisions that led to a launch without an end (a crash) are passed over: the run that went on made
    them again.
    """
    differences = []
    for decision in campaign.decisions:
        history = _history_at(campaign, decision, max_launches=max_launches)
        if history is None:
            continue
        move = strategy.next_move(history)
        if not _same(decision, move):
            differences.append(Difference(stored=decision, now=move))
    return tuple(differences)


def _history_at(campaign: Campaign, decision: Decision, *, max_launches: int) -> History | None:
    """What was known when the decision was made; None when a launch of then is not stored."""
    launches = campaign.launches[: decision.after_launches]
    if len(launches) < decision.after_launches:
        return None
    budget = BudgetLeft(launches=max_launches - len(launches))
    levels_before = sum(len(launch.levels) for launch in launches[:-1])
    if not launches or decision.kind != "measure":
        return History(launches=launches, budget=budget)
    running = _as_it_ran(launches[-1], levels=decision.after_levels - levels_before)
    return History(launches=(*launches[:-1], running), budget=budget)


def _as_it_ran(launch: LaunchRecord, *, levels: int) -> LaunchRecord:
    return replace(launch, outcome=Outcome.PENDING, cause=None, detail="", levels=launch.levels[:levels])


def _same(decision: Decision, move: Move) -> bool:
    match move:
        case Launch():
            return (decision.kind, decision.settings) == ("launch", move.settings)
        case Measure():
            return (decision.kind, decision.concurrency) == ("measure", move.concurrency)
        case Finish():
            return (decision.kind, decision.settings) == ("finish", move.settings)
        case Wait():
            return False
