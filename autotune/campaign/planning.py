"""Planning: from the profile to a session that is ready and has touched nothing."""

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from autotune import __version__
from autotune.campaign.choices import Choices
from autotune.campaign.fingerprint import fingerprint_facts
from autotune.campaign.forecast import Timing, timing_of
from autotune.campaign.guards import check_nothing_left, refuse_held_service
from autotune.campaign.lengths import lengths_of
from autotune.campaign.parts import RESTORE_SECONDS, Bounds
from autotune.campaign.plan import plan_of
from autotune.campaign.recollection import bring_back_launches, is_open
from autotune.campaign.reconfirmation import PLANNED
from autotune.campaign.session import Session
from autotune.campaign.sides.service_place import service_place
from autotune.campaign.sides.side import HostSide
from autotune.campaign.space import space_of
from autotune.campaign.static_ceiling import static_test
from autotune.campaign.winner_text import CONFIG_SHA256
from autotune.errors import UsageError
from autotune.model.campaign import Campaign
from autotune.model.protocols import Listener
from autotune.model.service import Description, Fact
from autotune.profile.reading import LoadedProfile
from autotune.profile.schema import Profile
from autotune.report.commands import STATE_FACT
from autotune.store.digest import sha256_of_file
from autotune.store.state import StateDirectory, locate
from autotune.store.study import CampaignStore

_EARLIER_RUNS = 3
_NIGHT = "night-"


@contextmanager
def planned(loaded: LoadedProfile, choices: Choices, listener: Listener) -> Iterator[Session]:
    """Plan a campaign: describe the service, open the store, forecast. Touches nothing on the host.

    Raises Refused when the service cannot be used, UsageError for a run that cannot be resumed.
    """
    profile = loaded.profile
    state = locate(profile.store.state, environment=os.environ, uid=os.geteuid())
    state.make(uid=os.geteuid())
    url = store_url(profile, state)
    rehearsed = choices.rehearse or profile.engine.kind == "rehearsal"
    if not rehearsed:
        refuse_held_service(service_place(profile), state)
        check_nothing_left(state)
    with CampaignStore(url) as store:
        if choices.resume and not rehearsed:
            bring_back_launches(store, state, profile_name=profile.name, run=choices.resume_run)
        run = _resumed_run(store, profile, choices)
        name = run or _new_run(profile, choices)
        stored = store.load(run) if run else None
        side = _virtual_side(profile, stored) if rehearsed else _real_side(profile, state, name, listener)
        campaign = _campaign(loaded, profile, side, name, rehearsed=rehearsed)
        space = space_of(profile, campaign.description, lengths_of(profile.workload), blocks=side.blocks)
        space = replace(space, blocks=space.blocks or side.formula_blocks)
        campaign = replace(campaign, bracket=space.bracket() if space.blocks else None)
        if stored:
            campaign = _going_on(stored, campaign)
        timing = timing_of(_earlier(store, profile, rehearsed=rehearsed)) or side.timing
        bounds = _bounds(profile, choices, timing)
        residence = side.residence(space) if side.residence is not None else None
        lines = (*side.host_lines, *_proof_lines(profile, choices, side))
        plan = plan_of(profile, campaign, space, bounds, timing, lines, residence)
        try:
            yield Session(
                profile=profile,
                campaign=replace(campaign, forecast=plan.forecast),
                plan=plan,
                space=space,
                bounds=bounds,
                side=side,
                store=store,
                state=state,
                resumed=run is not None,
                apply=choices.apply and not rehearsed,
            )
        finally:
            state.drop_if_empty(name)


def _proof_lines(profile: Profile, choices: Choices, side: HostSide) -> tuple[Fact, ...]:
    """What an applied winner costs more where the host settings do not stay with it."""
    if not (choices.apply and side.changes_host) or profile.host.keep:
        return ()
    return (Fact(name="apply", value=PLANNED),)


def store_url(profile: Profile, state: StateDirectory) -> str:
    """Where campaigns are kept. Raises UsageError when the profile names a secret that can't be read."""
    url = profile.store.url
    if url is None:
        return state.database_url
    return url if isinstance(url, str) else url.read(os.environ)


def _bounds(profile: Profile, choices: Choices, timing: Timing | None) -> Bounds:
    """What the run may spend; a live service has to start again before the deadline, too."""
    restart = timing.start_seconds if timing and profile.engine.service else 0.0
    return Bounds(
        max_launches=profile.search.max_launches,
        level_cap_seconds=profile.measuring.level_cap,
        deadline_seconds=choices.deadline_seconds or float("inf"),
        restore_reserve_seconds=RESTORE_SECONDS + restart,
    )


def _virtual_side(profile: Profile, stored: Campaign | None) -> HostSide:
    """Only the side in use is imported, here and below."""
    from autotune.campaign.sides.virtual import virtual_side

    return virtual_side(profile, first_launch=len(stored.launches) if stored else 0)


def _real_side(profile: Profile, state: StateDirectory, run: str, listener: Listener) -> HostSide:
    if profile.engine.kind == "vllm":
        from autotune.campaign.sides.vllm import vllm_side

        return vllm_side(profile, state, run, listener)
    from autotune.campaign.sides.mindie import mindie_side

    return mindie_side(profile, state, run, listener)


def _new_run(profile: Profile, choices: Choices) -> str:
    return f"{profile.name}-{_NIGHT if choices.night else ''}{datetime.now().astimezone():%Y%m%d-%H%M%S}"


def _resumed_run(store: CampaignStore, profile: Profile, choices: Choices) -> str | None:
    if not choices.resume:
        return None
    if choices.resume_run:
        return choices.resume_run
    ours = [run for run in store.runs() if run.profile_name == profile.name and is_open(run.verdict)]
    open_runs = [run.run for run in ours if not run.run.startswith(f"{profile.name}-{_NIGHT}")]
    if not open_runs:
        raise UsageError(f"there is no unfinished run of {profile.name}", hint="leave --resume away")
    return open_runs[-1]


def _campaign(
    loaded: LoadedProfile, profile: Profile, side: HostSide, run: str, *, rehearsed: bool
) -> Campaign:
    description = side.engine.describe()
    return Campaign(
        run=run,
        profile_name=profile.name,
        profile_text=loaded.effective,
        description=description,
        bracket=None,
        strategy=profile.search.strategy,
        started_wall=side.clock.wall(),
        rehearsed=rehearsed,
        environment=(
            *_environment(),
            *_state(profile),
            *_config_digest(description),
            *static_test(profile),
            *(() if rehearsed else fingerprint_facts(profile, description)),
            *side.facts,
        ),
    )


def _going_on(stored: Campaign, now: Campaign) -> Campaign:
    """The stored campaign with the service as it is found now."""
    if stored.description.incumbent != now.description.incumbent:
        raise UsageError(
            f"run {stored.run} began with other settings than the service has now",
            hint="leave --resume away and begin a new run",
        )
    return replace(
        now,
        started_wall=stored.started_wall,
        launches=stored.launches,
        decisions=stored.decisions,
        bracket=stored.bracket or now.bracket,
    )


def _earlier(store: CampaignStore, profile: Profile, *, rehearsed: bool) -> tuple[Campaign, ...]:
    names = [
        run.run
        for run in store.runs()
        if run.profile_name == profile.name and run.rehearsed == rehearsed and run.launches
    ]
    return tuple(store.load(name) for name in names[-_EARLIER_RUNS:])


def _config_digest(description: Description) -> tuple[Fact, ...]:
    """What the configuration was, so that a later `apply` knows it again."""
    if not description.config_path or description.kind == "rehearsal":
        return ()
    return (Fact(name=CONFIG_SHA256, value=sha256_of_file(Path(description.config_path))),)


def _state(profile: Profile) -> tuple[Fact, ...]:
    """Where the run is kept, when that is not the tool's own place: later commands have to name it."""
    return (Fact(name=STATE_FACT, value=str(profile.store.state.absolute())),) if profile.store.state else ()


def _environment() -> tuple[Fact, ...]:
    uname = platform.uname()
    return (
        Fact(name="autotune", value=__version__),
        Fact(name="python", value=platform.python_version()),
        Fact(name="kernel", value=f"{uname.system} {uname.release} {uname.machine}"),
        Fact(name="cpus", value=str(len(os.sched_getaffinity(0)))),
    )
