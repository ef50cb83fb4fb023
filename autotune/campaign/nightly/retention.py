"""Retention: old nights go, the last known good run never does."""

import shutil

from autotune.campaign.fingerprint import FACTS
from autotune.store.history import expired
from autotune.store.state import StateDirectory
from autotune.store.study import CampaignStore

KEPT_RUNS = 120
"""Of one fingerprint."""


def forget_old(store: CampaignStore, state: StateDirectory, *, keep: int = KEPT_RUNS) -> tuple[str, ...]:
    """Delete what may go, with its directory of logs; the names of the runs. Raises StorageFailed."""
    gone = expired(store.runs(), keep=keep, facts=FACTS)
    for run in gone:
        store.delete(run.run)
        shutil.rmtree(state.run(run.run), ignore_errors=True)
    return tuple(run.run for run in gone)
