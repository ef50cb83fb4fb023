"""Recover: all that can be put back is, in the reverse order, and it may be called again at any time."""

import json
import os
from dataclasses import replace

import pytest

from autotune.campaign.guards import this_run
from autotune.campaign.recover import RecoverOptions, recover
from autotune.engines.mindie.config_file import replace as replace_file
from autotune.errors import Busy, NotRestored
from autotune.model.change import ProcessStarted, SysfsWritten
from autotune.process.identity import boot_id
from autotune.store.journal import FileJournal, unfinished
from autotune.store.lock import hold
from autotune.store.state import StateDirectory

GONE = 2**22 - 1
BEFORE = json.dumps({"BackendConfig": {"x": 1}}, indent=4) + "\n"
AFTER = json.dumps({"BackendConfig": {"x": 2}}, indent=4) + "\n"


@pytest.fixture
def state(tmp_path) -> StateDirectory:
    (tmp_path / "state").mkdir(mode=0o700)
    return StateDirectory(root=tmp_path / "state")


@pytest.fixture
def journal(state) -> FileJournal:
    return FileJournal(state.journal, replace(this_run("r"), pid=GONE))


@pytest.fixture
def config(tmp_path, state, journal):
    path = tmp_path / "config.json"
    path.write_text(BEFORE)
    path.chmod(0o640)
    replace_file(path, AFTER, journal, state.root / "backups")
    assert path.read_text() == AFTER
    return path


def test_nothing_left_is_told(state):
    assert recover(state) == ("nothing to recover",)


def test_a_file_is_put_back_and_a_second_call_has_nothing_to_do(state, config):
    assert recover(state) == (f"{config}: put back",)
    assert config.read_text() == BEFORE
    assert recover(state) == ("nothing to recover",)
    assert not list((state.root / "backups").iterdir())


def test_an_edit_by_somebody_else_stays_until_a_person_says_that_it_may(state, config):
    config.write_text(BEFORE.replace("1", "3"))
    for _ in range(2):
        with pytest.raises(NotRestored, match="edited by somebody else"):
            recover(state)
    assert recover(state, RecoverOptions(accept_edits=True)) == (f"{config}: left as it is now, as you said",)
    assert config.read_text() == BEFORE.replace("1", "3")
    assert unfinished(state.journal) is None


def test_what_can_be_put_back_is_put_back_although_something_else_cannot(state, journal, config, tmp_path):
    governor = tmp_path / "scaling_governor"
    governor.write_text("performance\n")
    journal.record(
        SysfsWritten(path=str(governor), before="schedutil", after="performance", boot_id=boot_id())
    )
    config.write_text(BEFORE.replace("1", "3"))
    with pytest.raises(NotRestored, match="schedutil"):
        recover(state)
    assert governor.read_text().strip() == "schedutil"
    left = unfinished(state.journal)
    assert left is not None
    assert len(left.changes) == 1


def test_a_kill_between_putting_back_and_settling_costs_nothing(state, config):
    config.write_text(BEFORE)
    assert recover(state) == (f"{config}: put back",)


def test_a_process_of_another_boot_is_gone(state, journal):
    journal.record(ProcessStarted(pid=os.getpid(), create_time=1.0, boot_id="another", command="daemon"))
    assert recover(state) == ("daemon: gone with the reboot",)


def test_a_backup_that_is_gone_is_told_and_nothing_is_guessed(state, config):
    for path in (state.root / "backups").iterdir():
        path.unlink()
    with pytest.raises(NotRestored, match="could not be put back"):
        recover(state)
    assert config.read_text() == AFTER


def test_two_recovers_do_not_work_at_the_same_time(state, config):
    with hold(state.lock), pytest.raises(Busy):
        recover(state)
    assert config.read_text() == AFTER
