"""Recollection: launches that a run log has and the database lost, brought back before a run goes on."""

from autotune.model.campaign import Verdict
from autotune.model.move import VerdictCode
from autotune.store.run_log import FILE_NAME, read_log
from autotune.store.state import StateDirectory
from autotune.store.study import CampaignStore, recollect


def bring_back_launches(
    store: CampaignStore, state: StateDirectory, *, profile_name: str, run: str | None
) -> None:
    """Look at the logs of `run`, or of every open run of the profile, and store what the database lacks."""
    for path in sorted(state.root.glob(f"runs/*/{FILE_NAME}")):
        if run is not None and path.parent.name != run:
            continue
        kept = read_log(path)
        if kept is not None and kept.profile_name == profile_name and is_open(kept.verdict):
            recollect(store, kept)


def is_open(verdict: Verdict | None) -> bool:
    """Whether a run can go on."""
    return verdict is None or verdict.code is VerdictCode.INTERRUPTED
