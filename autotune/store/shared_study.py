"""SharedStudy: one study in a database that several hosts work on, launch by launch under leases.

A launch is created with its settings and its lease in one transaction, while its agent alone decides (an
advisory lock of PostgreSQL). Should that lock be lost with its connection, the older of two launches of one
setting stays and the younger is given back before anything is started.
"""

import hashlib
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import optuna
from optuna.exceptions import DuplicatedStudyError, UpdateFinishedTrialError
from optuna.trial import FrozenTrial, Trial, TrialState, create_trial
from sqlalchemy import text

from autotune.errors import AutotuneError, UsageError
from autotune.model.campaign import Campaign, Decision
from autotune.model.launch import LaunchRecord, Outcome, Purpose
from autotune.model.measurement import Level
from autotune.store import trials
from autotune.store.codec import Json, decode, encode
from autotune.store.lease import GIVEN_BACK, LEASE, SECONDS, Agent, Lease, is_over
from autotune.store.storage import open_storage, plain_errors
from autotune.store.study import DECISION, FORMAT, FORMAT_KEY, read_study, write_study

_POSTGRESQL_NOW = "SELECT extract(epoch FROM clock_timestamp())"
_SQLITE_NOW = "SELECT (julianday('now') - 2440587.5) * 86400.0"


class LeaseLost(AutotuneError):
    """The launch was given back while this host could not be heard; another one has taken it."""


class SharedStudy:
    """The study as one agent sees it. Every method may raise StorageFailed, and may then be called again."""

    def __init__(self, url: str, name: str, agent: Agent, *, seconds: float = SECONDS) -> None:
        self._storage = open_storage(url)
        self._name = name
        self._agent = agent
        self._seconds = seconds
        self._taken: dict[int, int] = {}

    def close(self) -> None:
        """Close the database."""
        self._storage.close()

    @plain_errors()
    def open(self, campaign: Campaign) -> Campaign:
        """Create the study, or join it: then the stored campaign is returned.

        Raises UsageError when it is about another service, model or workload.
        """
        with self.exclusive():
            try:
                study = optuna.create_study(
                    storage=self._storage, study_name=self._name, direction="maximize"
                )
            except DuplicatedStudyError:
                if FORMAT_KEY in self._study().user_attrs:
                    return self._joined(campaign)
                study = self._study()  # somebody died between creating and writing it
            write_study(study, campaign)
            study.set_user_attr(FORMAT_KEY, FORMAT)
            return campaign

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """No other agent decides meanwhile; the lock goes with the connection."""
        with plain_errors():
            if self._storage.engine.dialect.name != "postgresql":
                yield
                return
            key = int.from_bytes(hashlib.sha256(self._name.encode()).digest()[:8], "big", signed=True)
            with self._storage.engine.begin() as connection:
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": key})
                yield

    @plain_errors()
    def now(self) -> float:
        """Seconds since the epoch by the database's clock."""
        is_sqlite = self._storage.engine.dialect.name == "sqlite"
        with self._storage.engine.connect() as connection:
            return float(connection.execute(text(_SQLITE_NOW if is_sqlite else _POSTGRESQL_NOW)).scalar_one())

    @plain_errors()
    def campaign(self) -> Campaign:
        """The campaign with its ended launches, and its verdict once there is one."""
        return read_study(self._study())

    @plain_errors()
    def launches(self) -> tuple[LaunchRecord, ...]:
        """All launches by number: ended ones whole, running ones pending; given back ones are left out."""
        found = (_record(trial) for trial in self._trials())
        return tuple(record for record in found if record is not None)

    @plain_errors()
    def give_back(self, lives: Callable[[int], bool]) -> tuple[LaunchRecord, ...]:
        """Free the launches of agents that are gone; those launches. `lives` asks for a pid of this host."""
        now = self.now()
        freed = []
        for trial in self._trials():
            if trial.state.is_finished() or trials.is_final(trial):
                continue
            lease = _lease(trial)
            pid = lease.agent.pid if lease else 0
            if is_over(lease, now=now, here=self._agent, lives=lives(pid)):
                record = _record(trial)
                self._free(self._trial_id(trial))
                freed += [record] if record is not None else []
        return tuple(freed)

    @plain_errors()
    def claim(self, record: LaunchRecord) -> LaunchRecord | None:
        """Take a launch, numbered by the database; None when another agent has just taken this setting."""
        claim = uuid.uuid4().hex
        record = replace(record, host=self._agent.host)
        template = create_trial(
            state=TrialState.RUNNING,
            params=record.settings.as_dict(),
            distributions=trials.distributions(record.settings),
            user_attrs={
                **{name: value for name, value in trials.attributes(record).items() if name in _FIRST},
                LEASE: encode(self._lease(claim), Lease),
            },
        )
        trial_id = self._storage.create_new_trial(self._study_id(), template)
        number = self._storage.get_trial(trial_id).number + 1
        self._storage.set_trial_user_attr(trial_id, "number", number)
        record = replace(record, number=number)
        if self._is_doubled(record):
            self._free(trial_id)
            return None
        self._taken[number] = trial_id
        return record

    @plain_errors()
    def held(self) -> LaunchRecord | None:
        """The launch that is ours and not ended: a claim whose answer was lost with the connection."""
        for trial in self._trials():
            lease = _lease(trial)
            if not trial.state.is_finished() and lease is not None and lease.agent == self._agent:
                record = _record(trial)
                assert record is not None, "a running trial has its launch"
                self._taken[record.number] = self._trial_id(trial)
                return record
        return None

    @plain_errors()
    def renew(self, number: int) -> None:
        """A sign of life. Raises LeaseLost when the launch was given back."""
        with _lease_lost():
            claim = self._claimed(number).claim
            self._storage.set_trial_user_attr(self._taken[number], LEASE, encode(self._lease(claim), Lease))

    @plain_errors()
    def level_ended(self, number: int, level: Level) -> None:
        """A level of a launch of ours gave its result. Raises LeaseLost."""
        with _lease_lost():
            trials.write_level(self._trial(number), level)

    @plain_errors()
    def launch_ended(self, record: LaunchRecord) -> None:
        """A launch of ours is final; calling again finishes what an earlier call began. Raises LeaseLost."""
        record = replace(record, host=self._agent.host)
        trial_id = self._taken[record.number]
        stored = self._storage.get_trial(trial_id)
        if stored.state.is_finished():
            if not trials.is_final(stored):
                raise LeaseLost(f"launch {record.number} was given back: this host was silent too long")
            return
        with _lease_lost():
            if not trials.is_final(stored):
                trials.write_final(self._trial(record.number), record)
            trials.tell(self._study(), record.number - 1, record)

    @plain_errors()
    def abandon(self, number: int) -> None:
        """Give a launch of ours back; nothing when it is final."""
        stored = self._storage.get_trial(self._taken[number])
        if not stored.state.is_finished() and not trials.is_final(stored):
            self._free(self._taken[number])

    @plain_errors()
    def decided(self, decision: Decision) -> None:
        """Keep one move; call it while deciding exclusively."""
        study = self._study()
        count = sum(name.startswith(DECISION) for name in study.user_attrs)
        study.set_user_attr(f"{DECISION}{count:05d}", encode(decision, Decision))

    @plain_errors()
    def ended(self, campaign: Campaign) -> None:
        """The verdict is there."""
        write_study(self._study(), campaign)

    def _joined(self, campaign: Campaign) -> Campaign:
        stored = read_study(self._study())
        ours, theirs = campaign.description, stored.description
        for name in ("kind", "version", "model_name", "incumbent", "emulated", "block_size"):
            mine, found = getattr(ours, name), getattr(theirs, name)
            if mine != found:
                raise UsageError(
                    f"study {self._name} is about another service: {name} is {found} there and {mine} here",
                    hint="identical hosts share a study; give this one another name with --study",
                )
        return stored

    def _lease(self, claim: str) -> Lease:
        return Lease(agent=self._agent, claim=claim, until=self.now() + self._seconds)

    def _claimed(self, number: int) -> Lease:
        lease = _lease(self._storage.get_trial(self._taken[number]))
        assert lease is not None, "claim() wrote one"
        return lease

    def _is_doubled(self, record: LaunchRecord) -> bool:
        """An older launch of the same setting and purpose is running.

        The incumbent is each host's own, and fresh launches of a confirmation are alike by intent.
        """
        if record.purpose in {Purpose.INCUMBENT, Purpose.CONFIRMATION}:
            return False
        return any(
            (each.settings, each.purpose) == (record.settings, record.purpose)
            for each in self.launches()
            if each.number < record.number and each.outcome is Outcome.PENDING
        )

    def _free(self, trial_id: int) -> None:
        try:
            self._storage.set_trial_user_attr(trial_id, "ended_by", GIVEN_BACK)
            self._storage.set_trial_state_values(trial_id, TrialState.FAIL)
        except UpdateFinishedTrialError:
            return  # another agent was faster, or it ended after all

    def _trial_id(self, trial: FrozenTrial) -> int:
        return self._storage.get_trial_id_from_study_id_trial_number(self._study_id(), trial.number)

    def _trials(self) -> list[FrozenTrial]:
        return self._storage.get_all_trials(self._study_id(), deepcopy=False)

    def _trial(self, number: int) -> Trial:
        return Trial(self._study(), self._taken[number])

    def _study(self) -> optuna.Study:
        return optuna.load_study(study_name=self._name, storage=self._storage)

    def _study_id(self) -> int:
        return self._storage.get_study_id_from_name(self._name)


_FIRST = ("purpose", "settings", "host")


@contextmanager
def _lease_lost() -> Iterator[None]:
    try:
        yield
    except UpdateFinishedTrialError as error:
        raise LeaseLost("the launch was given back: this host was silent too long") from error


def _lease(trial: FrozenTrial) -> Lease | None:
    document: Json = trial.user_attrs.get(LEASE)
    return decode(document, Lease) if document is not None else None


def _record(trial: FrozenTrial) -> LaunchRecord | None:
    """The launch of a trial; None for one that was given back."""
    if trials.is_final(trial):
        return trials.record_of(trial.user_attrs)
    if trial.state.is_finished():
        return None
    return trials.record_of({"number": trial.number + 1, **trial.user_attrs, "outcome": "pending"})
