"""Proposals: values of several knobs from an Optuna sampler that is told all launches so far."""

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, IntDistribution
from optuna.samplers import TPESampler
from optuna.trial import create_trial

from autotune.model.proposal import Knob, Tried, Values
from autotune.model.settings import Value

RANDOM_FIRST = 4
"""Launches before the sampler models anything."""
CONSTRAINT = "violation"
_LARGE = 64
"""Knobs that reach this many times their low value are drawn by ratio."""


class OptunaProposals:
    """A TPE sampler under constraints, made anew for every question, so that a replay gets the same answers.

    The launches themselves are stored as trials of the campaign's own study (see `trials`).
    """

    def propose(self, knobs: tuple[Knob, ...], tried: tuple[Tried, ...], *, seed: int, number: int) -> Values:
        """The sampler's next values, seeded by (seed, number)."""
        distributions = {knob.name: _distribution(knob) for knob in knobs}
        sampler = TPESampler(seed=seed * 1000 + number, n_startup_trials=RANDOM_FIRST)
        study = optuna.create_study(direction="maximize", sampler=sampler)
        for each in tried:
            params = {name: value for name, value in each.values if _fits(value, knobs, name)}
            if params:
                study.add_trial(
                    create_trial(
                        value=each.tokens_per_second,
                        params=params,
                        distributions={name: distributions[name] for name in params},
                        constraints={CONSTRAINT: each.violation},
                    )
                )
        trial = study.ask(distributions)
        return tuple((knob.name, trial.params[knob.name]) for knob in knobs)


def _fits(value: Value, knobs: tuple[Knob, ...], name: str) -> bool:
    knob = next(each for each in knobs if each.name == name)
    return knob.flag or knob.low <= value <= knob.high


def _distribution(knob: Knob) -> BaseDistribution:
    if knob.flag:
        return CategoricalDistribution((False, True))
    by_ratio = knob.low > 0 and knob.high >= _LARGE * knob.low
    return IntDistribution(knob.low, knob.high, log=by_ratio)
