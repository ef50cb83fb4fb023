"""Four agents as processes share a grid of twelve values; one is killed, one loses the database."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import optuna
import pytest
from sqlalchemy.engine import make_url

from autotune.model.launch import Outcome, Purpose
from autotune.store.lease import GIVEN_BACK
from autotune.store.storage import open_storage
from autotune.store.study import CampaignStore
from tests.integration.fleet.breakable_proxy import BreakableProxy

pytestmark = [pytest.mark.slow, pytest.mark.real_time, pytest.mark.fleet, pytest.mark.timeout(400)]
HERE = Path(__file__).parent
PACE = 75.0
"""A launch then takes about 11 s, of which the simulation computes less than one."""
LEASE_SECONDS, OUTAGE_SECONDS = 28, 20
STUDY = "shared"
PROFILE = """\
name: fleet
engine: {{kind: rehearsal, blocks: 136, noise: 0%, max_batch_size: 24, start_seconds: 240}}
workload:
  dataset: {{type: synthetic, input_tokens: 186, output_tokens: {{mean: 346, max: 512}}}}
  concurrency: 82
search: {{strategy: grid, step: 4, max_launches: 40}}
store: {{state: {state}, url: "{url}"}}
report: {{directory: {reports}}}
"""
GRID = set(range(24, 69, 4))


@dataclass
class Fleet:
    """The agents of one study."""

    directory: Path
    agents: dict[str, subprocess.Popen] = field(default_factory=dict)

    def begin(self, host: str, url: str) -> None:
        profile = self.directory / f"{host}.yaml"
        state, reports = self.directory / host, self.directory / "reports"
        profile.write_text(PROFILE.format(state=state, url=url, reports=reports))
        profile.chmod(0o600)
        log = (self.directory / f"{host}.log").open("w")
        argv = ["agent", str(profile), "--study", STUDY, "--host", host, "--lease", f"{LEASE_SECONDS}s"]
        argv += ["--set", f"search.seed={len(self.agents) + 1}"]
        environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        self.agents[host] = subprocess.Popen(
            [sys.executable, str(HERE / "paced_agent.py"), str(PACE), *argv],
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment,
        )
        log.close()

    def log(self, host: str) -> str:
        return (self.directory / f"{host}.log").read_text()


@pytest.fixture
def fleet(tmp_path):
    made = Fleet(directory=tmp_path)
    yield made
    for process in made.agents.values():
        if process.poll() is None:
            process.kill()
        process.wait()


def _trials(url: str) -> list[optuna.trial.FrozenTrial]:
    storage = open_storage(url)
    try:
        study_id = storage.get_study_id_from_name(STUDY)
        return storage.get_all_trials(study_id)
    except KeyError:
        return []
    finally:
        storage.close()


def _running(url: str) -> dict[str, int]:
    """Host -> number of the trial that it runs."""
    running = [trial for trial in _trials(url) if not trial.state.is_finished()]
    return {trial.user_attrs["host"]: trial.number for trial in running}


def _wait(ready, seconds: float = 120.0) -> None:
    deadline = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < deadline, "it did not come so far"
        time.sleep(0.2)


def test_a_killed_agent_and_a_lost_database_cost_no_launch_and_double_none(postgresql, fleet, capsys):
    proxy = BreakableProxy(make_url(postgresql).port)
    through = postgresql.replace(str(make_url(postgresql).port), str(proxy.port))
    for host in ("ada", "bob", "cyd"):
        fleet.begin(host, postgresql)
    fleet.begin("dan", through)
    _wait(lambda: {"ada", "dan"} <= set(_running(postgresql)))
    killed = _running(postgresql)["ada"]
    os.kill(fleet.agents["ada"].pid, signal.SIGKILL)
    proxy.break_()
    time.sleep(OUTAGE_SECONDS)
    proxy.mend()
    codes = {host: agent.wait(timeout=250) for host, agent in fleet.agents.items() if host != "ada"}
    proxy.close()
    assert codes == {"bob": 0, "cyd": 0, "dan": 0}, {host: fleet.log(host)[-1500:] for host in codes}

    trials = _trials(postgresql)
    assert all(trial.state.is_finished() for trial in trials)
    back = [trial.number for trial in trials if trial.user_attrs.get("ended_by") == GIVEN_BACK]
    assert back == [killed]
    assert "trying again" in fleet.log("dan")
    assert "the database answers again" in fleet.log("dan")
    with CampaignStore(postgresql) as store:
        campaign = store.load(STUDY)
    assert len(campaign.launches) == len(trials) - 1
    assert all(launch.outcome is Outcome.ENDED for launch in campaign.launches)
    first = Counter(
        launch.settings.max_batch_size for launch in campaign.launches if launch.purpose is Purpose.CANDIDATE
    )
    assert set(first) == GRID
    assert max(first.values()) <= 2, "once, and once more where two values cannot be told apart"
    rows = sum(fleet.log(host).count(" candidate ") for host in fleet.agents)
    assert rows == sum(first.values()), "every launch that ended anywhere is kept, once"
    assert campaign.verdict is not None
    assert campaign.verdict.best is not None
    assert campaign.verdict.best.settings.max_batch_size in {28, 32}, (
        "the two differ by less than their intervals"
    )
    assert len(list((fleet.directory / "reports").iterdir())) == 1
    _fast_enough(campaign, trials, capsys)


def _fast_enough(campaign, trials, capsys) -> None:
    """Against what one agent would need: the same launches one after the other, without the calibrations."""
    began = min(trial.datetime_start for trial in trials)
    ended = max(trial.datetime_complete for trial in trials)
    seconds = (ended - began).total_seconds()
    incumbents = [launch for launch in campaign.launches if launch.purpose is Purpose.INCUMBENT]
    others = [launch for launch in campaign.launches if launch.purpose is not Purpose.INCUMBENT]
    alone = sum(launch.seconds.total for launch in (*incumbents[:1], *others)) / PACE
    with capsys.disabled():
        print(f"\n4 agents: {len(campaign.launches)} launches in {seconds:.0f} s, one alone {alone:.0f} s")
    assert seconds <= alone / 2
