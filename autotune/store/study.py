"""Campaigns as Optuna studies: every launch is a trial, the verdict is a study attribute.

The study's name is the run's. optuna-dashboard opens it: parameters are the knobs, the value is tokens a
second, intermediate values are the levels. All facts of ours are user attributes in plain JSON.
"""

import difflib
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType

import optuna
from optuna.exceptions import DuplicatedStudyError
from optuna.trial import FrozenTrial, Trial, TrialState

from autotune.errors import UsageError
from autotune.model.campaign import Campaign, Decision, Verdict
from autotune.model.launch import LaunchRecord
from autotune.model.measurement import Level
from autotune.model.service import Description, Fact
from autotune.store import trials
from autotune.store.codec import Json, Unreadable, decode, encode, field_shapes
from autotune.store.run_log import RunLog
from autotune.store.storage import open_storage, plain_errors

FORMAT_KEY = "autotune_format"
FORMAT = 1
DECISION = "decision "
INTERRUPTED = "interrupted"
_STORED = "autotune history lists the stored runs; with store.state in the profile add --state DIR"
CAMPAIGN_FIELDS = tuple(name for name in field_shapes(Campaign) if name not in {"launches", "decisions"})


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredRun:
    """One stored campaign as a list shows it, without its launches."""

    run: str
    profile_name: str
    profile_text: str
    description: Description
    started_wall: float
    """Seconds since the epoch."""
    ended_wall: float | None
    verdict: Verdict | None
    restored: bool
    applied: bool
    rehearsed: bool
    environment: tuple[Fact, ...]
    launches: int
    """Trials of the study, the unfinished ones included."""


class CampaignStore:
    """All campaigns of one database, and the one that is being written now.

    One store writes one campaign; others may read meanwhile. Use it as a context manager: leaving it
    closes the database.
    """

    def __init__(self, url: str) -> None:
        self._storage = open_storage(url)
        self._study: optuna.Study | None = None
        self._running: dict[int, Trial] = {}
        self._decisions = 0
        self._log: RunLog | None = None

    def __enter__(self) -> "CampaignStore":  # noqa: PYI034 - typing.Self needs Python 3.11
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the database."""
        self._storage.close()

    def log_to(self, path: Path) -> None:
        """Keep a second copy of what is written from now on; see `RunLog`."""
        self._log = RunLog(path=path)

    @plain_errors()
    def begin(self, campaign: Campaign) -> None:
        """Create the campaign's study. Raises UsageError when a run of this name is stored already."""
        try:
            self._study = optuna.create_study(
                storage=self._storage, study_name=campaign.run, direction="maximize"
            )
        except DuplicatedStudyError as error:
            raise UsageError(
                f"run {campaign.run} is stored already",
                hint=f"autotune tune PROFILE --resume {campaign.run}",
            ) from error
        self._running, self._decisions = {}, 0
        self.update(campaign)
        self._study.set_user_attr(FORMAT_KEY, FORMAT)  # last: from here on a list shows the run

    @plain_errors()
    def resume(self, run: str, *, host: str | None = None) -> Campaign:
        """Go on with a stored run: launches without an end are told FAIL and stay out of its history.

        With `host`, only launches of that host are closed: those of others may still be running.
        Raises UsageError when there is no such run, Unreadable when it cannot be read.
        """
        study = self._find(run)
        for trial in study.get_trials(deepcopy=False):
            if host is None or trial.user_attrs.get("host", host) == host:
                self._close_open_trial(study, trial)
        campaign = read_study(study)
        self._study, self._running, self._decisions = study, {}, len(campaign.decisions)
        if self._log is not None:
            self._log.campaign(campaign)
        return campaign

    @plain_errors()
    def launch_started(self, record: LaunchRecord) -> None:
        """A launch begins: from here on a crash leaves its trial RUNNING."""
        study = self._current()
        study.sampler = trials.Chosen(record.settings)
        trial = study.ask(trials.distributions(record.settings))
        while trial.params != record.settings.as_dict():
            study.tell(trial, state=TrialState.FAIL)
            trial = study.ask(trials.distributions(record.settings))
        trials.write_facts(trial, record, trials.FIRST_FIELDS)
        self._running[record.number] = trial

    @plain_errors()
    def level_ended(self, number: int, level: Level) -> None:
        """A level of the running launch `number` gave its result."""
        trials.write_level(self._running[number], level)

    @plain_errors()
    def launch_ended(self, record: LaunchRecord) -> None:
        """A launch ended or failed; its record is final."""
        if self._log is not None:
            self._log.launch(record)
        trial = self._running.pop(record.number)
        trials.write_final(trial, record)
        trials.tell(self._current(), trial.number, record)

    @plain_errors()
    def decided(self, decision: Decision) -> None:
        """The strategy made one move."""
        if self._log is not None:
            self._log.decision(decision)
        key = f"{DECISION}{self._decisions:05d}"
        self._current().set_user_attr(key, encode(decision, Decision))
        self._decisions += 1

    @plain_errors()
    def update(self, campaign: Campaign) -> None:
        """Write everything of the campaign that changed, apart from launches and decisions."""
        if self._log is not None:
            self._log.campaign(campaign)
        write_study(self._current(), campaign)

    def ended(self, campaign: Campaign) -> None:
        """The campaign has its verdict, and the host is as the campaign leaves it."""
        self.update(campaign)

    @plain_errors()
    def mark(self, campaign: Campaign) -> None:
        """Write a later fact of a stored run, such as that its winner was applied. Raises UsageError."""
        write_study(self._find(campaign.run), campaign)

    @plain_errors()
    def load(self, run: str) -> Campaign:
        """The campaign exactly as it was stored; launches without an end are left out.

        Raises UsageError when there is no such run, Unreadable when it cannot be read.
        """
        return read_study(self._find(run))

    @plain_errors()
    def runs(self) -> tuple[StoredRun, ...]:
        """All stored campaigns, oldest first. Studies of other programs in the database are passed over."""
        summaries = optuna.get_all_study_summaries(self._storage, include_best_trial=False)
        ours = (summary for summary in summaries if summary.user_attrs.get(FORMAT_KEY) == FORMAT)
        found = [_stored_run(summary.user_attrs, summary.n_trials) for summary in ours]
        return tuple(sorted(found, key=lambda run: (run.started_wall, run.run)))

    @plain_errors()
    def delete(self, run: str) -> None:
        """Forget a stored run for good. Raises UsageError when there is no such run."""
        optuna.delete_study(study_name=self._find(run).study_name, storage=self._storage)

    def _close_open_trial(self, study: optuna.Study, trial: FrozenTrial) -> None:
        if trial.state.is_finished():
            return
        if trials.is_final(trial):
            trials.tell(study, trial.number, trials.record_of(trial.user_attrs))
            return
        study_id = self._storage.get_study_id_from_name(study.study_name)
        trial_id = self._storage.get_trial_id_from_study_id_trial_number(study_id, trial.number)
        self._storage.set_trial_user_attr(trial_id, "ended_by", INTERRUPTED)
        study.tell(trial.number, state=TrialState.FAIL)

    def _current(self) -> optuna.Study:
        if self._study is None:
            raise UsageError("no campaign is open in this store: begin or resume one first")
        return self._study

    def _find(self, run: str) -> optuna.Study:
        try:
            study = optuna.load_study(study_name=run, storage=self._storage)
        except KeyError as error:
            names = optuna.get_all_study_names(self._storage)
            near = difflib.get_close_matches(run, names, n=1)
            hint = f"did you mean {near[0]}?" if near else _STORED
            raise UsageError(f"there is no stored run {run}", hint=hint) from error
        if study.user_attrs.get(FORMAT_KEY) != FORMAT:
            raise Unreadable(
                f"study {run} was not written by this version of autotune",
                hint="read it with the version that wrote it",
            )
        return study


def save(store: CampaignStore, campaign: Campaign) -> None:
    """Store a whole campaign at once, as a rehearsal or an import does."""
    store.begin(campaign)
    for decision in campaign.decisions:
        store.decided(decision)
    for record in campaign.launches:
        store.launch_started(replace(record, levels=()))
        store.launch_ended(record)
    store.ended(campaign)


def recollect(store: CampaignStore, kept: Campaign) -> int:
    """Store what a run log has and the database lacks; gives how many launches that were."""
    known = {run.run for run in store.runs()}
    if kept.run not in known:
        save(store, kept)
        return len(kept.launches)
    stored = store.load(kept.run)
    numbers = {launch.number for launch in stored.launches}
    missing = [launch for launch in kept.launches if launch.number not in numbers]
    if missing:
        store.resume(kept.run)
    for decision in kept.decisions[len(stored.decisions) :] if missing else ():
        store.decided(decision)
    for record in missing:
        store.launch_started(replace(record, levels=()))
        store.launch_ended(record)
    return len(missing)


def write_study(study: optuna.Study, campaign: Campaign) -> None:
    """Write what changed of the campaign, apart from its launches and decisions."""
    shapes, stored = field_shapes(Campaign), study.user_attrs
    for name in CAMPAIGN_FIELDS:
        document = encode(getattr(campaign, name), shapes[name])
        if name not in stored or stored[name] != document:
            study.set_user_attr(name, document)


def read_study(study: optuna.Study) -> Campaign:
    """Read the campaign with its ended launches. Raises Unreadable."""
    attributes = study.user_attrs
    final = filter(trials.is_final, study.get_trials(deepcopy=False))
    document: dict[str, Json] = {name: attributes[name] for name in CAMPAIGN_FIELDS if name in attributes}
    document["decisions"] = [attributes[key] for key in sorted(attributes) if key.startswith(DECISION)]
    constants = decode(document, Campaign)
    return replace(constants, launches=tuple(trials.record_of(trial.user_attrs) for trial in final))


def _stored_run(attributes: dict[str, Json], launches: int) -> StoredRun:
    document = {name: attributes[name] for name in field_shapes(StoredRun) if name in attributes}
    return decode({**document, "launches": launches}, StoredRun)
