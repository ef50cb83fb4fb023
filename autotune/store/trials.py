"""Trials: how one launch is kept as one Optuna trial, and read back."""

from collections.abc import Mapping
from typing import Any

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, IntDistribution
from optuna.samplers import BaseSampler
from optuna.trial import FrozenTrial, Trial, TrialState

from autotune.model.launch import LaunchRecord, Outcome, Purpose
from autotune.model.measurement import Level, Measurement
from autotune.model.settings import Settings, Value
from autotune.store.codec import Json, decode, encode, field_shapes

LEVEL = "level "
LARGEST_KNOB = 2**31 - 1
FAILED_START = "failed_start"
PENALTY_TOKENS_PER_SECOND = 0.0
RECORD_FIELDS = tuple(name for name in field_shapes(LaunchRecord) if name not in {"levels", "outcome"})
"""Each one is a user attribute of its name. `outcome` is written last: it makes the record final."""
FIRST_FIELDS = ("number", "purpose", "settings", "host")
"""What is known when a launch begins."""


class Chosen(BaseSampler):
    """Hands Optuna the settings that our own strategy chose; creating the trial is then one atomic step."""

    def __init__(self, settings: Settings) -> None:
        self._values = settings.as_dict()

    def infer_relative_search_space(
        self,
        study: optuna.Study,  # noqa: ARG002 - Optuna's signature
        trial: FrozenTrial,  # noqa: ARG002 - Optuna's signature
    ) -> dict[str, BaseDistribution]:
        """Nothing is sampled."""
        return {}

    def sample_relative(
        self,
        study: optuna.Study,  # noqa: ARG002 - Optuna's signature
        trial: FrozenTrial,  # noqa: ARG002 - Optuna's signature
        search_space: dict[str, BaseDistribution],  # noqa: ARG002 - Optuna's signature
    ) -> dict[str, Any]:
        """Nothing is sampled."""
        return {}

    def sample_independent(
        self,
        study: optuna.Study,  # noqa: ARG002 - Optuna's signature
        trial: FrozenTrial,  # noqa: ARG002 - Optuna's signature
        param_name: str,
        param_distribution: BaseDistribution,  # noqa: ARG002 - Optuna's signature
    ) -> Value:
        """The chosen value."""
        return self._values[param_name]


def distributions(settings: Settings) -> dict[str, BaseDistribution]:
    """One Optuna parameter for each knob that is set; the same for all launches of a study."""
    return {
        name: CategoricalDistribution((False, True))
        if isinstance(value, bool)
        else IntDistribution(0, LARGEST_KNOB)
        for name, value in settings.as_dict().items()
    }


def attributes(record: LaunchRecord) -> dict[str, Json]:
    """The user attributes of a launch, without its levels and its outcome."""
    shapes = field_shapes(LaunchRecord)
    return {name: encode(getattr(record, name), shapes[name]) for name in RECORD_FIELDS}


def level_key(index: int) -> str:
    """User attribute of the level at this place, counted from 0."""
    return f"{LEVEL}{index:04d}"


def record_of(user_attrs: Mapping[str, Json]) -> LaunchRecord:
    """The record that `attributes`, `level_key` and the outcome were written for. Raises Unreadable."""
    document: dict[str, Json] = {name: user_attrs[name] for name in RECORD_FIELDS if name in user_attrs}
    document["outcome"] = user_attrs["outcome"]
    document["levels"] = [user_attrs[key] for key in sorted(user_attrs) if key.startswith(LEVEL)]
    return decode(document, LaunchRecord)


def is_final(trial: FrozenTrial) -> bool:
    """Whether the record of this launch is complete."""
    return "outcome" in trial.user_attrs


def write_level(trial: Trial, level: Level) -> None:
    """Keep one level: all of it as an attribute, its tokens a second as the trial's intermediate value."""
    index = levels_written(trial)
    trial.set_user_attr(level_key(index), encode(level, Level))
    if isinstance(level, Measurement):
        trial.report(level.tokens_per_second, index)


def levels_written(trial: Trial) -> int:
    """How many levels of this launch are kept so far."""
    return sum(key.startswith(LEVEL) for key in trial.user_attrs)


def write_facts(trial: Trial, record: LaunchRecord, names: tuple[str, ...]) -> None:
    """Keep these facts of a launch, as far as they are not kept already; every one is a write to disk."""
    known = trial.user_attrs
    for name, document in attributes(record).items():
        if name in names and (name not in known or known[name] != document):
            trial.set_user_attr(name, document)


def write_final(trial: Trial, record: LaunchRecord) -> None:
    """Keep the rest of an ended launch: levels that were not written yet, facts, then the outcome."""
    for level in record.levels[levels_written(trial) :]:
        write_level(trial, level)
    write_facts(trial, record, tuple(attributes(record)))
    trial.set_constraint(FAILED_START, 1.0 if record.outcome is Outcome.FAILED else 0.0)
    trial.set_user_attr("outcome", encode(record.outcome, Outcome))


def tell(study: optuna.Study, number: int, record: LaunchRecord) -> None:
    """Close the trial of a final record in the state that samplers and the dashboard understand.

    A failed start is COMPLETE with a penalty (samplers ignore FAIL), the scout's sweep is PRUNED, and
    a launch without any valid level is FAIL: it must never be read as a number.
    """
    if record.outcome is Outcome.FAILED:
        study.tell(number, PENALTY_TOKENS_PER_SECOND)
    elif record.last is None:
        study.tell(number, state=TrialState.FAIL)
    elif record.purpose is Purpose.SCOUT:
        study.tell(number, state=TrialState.PRUNED)
    else:
        study.tell(number, record.last.tokens_per_second)
