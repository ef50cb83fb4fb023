"""A winner that was put in place tonight: kept, taken back, or put back by recover after a kill."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from autotune.campaign.nightly.switching import switched
from autotune.campaign.recover import recover
from autotune.campaign.winner_text import CONFIG_SHA256
from autotune.errors import Refused
from autotune.model.campaign import Reading, Verdict
from autotune.model.move import VerdictCode
from autotune.model.service import Description, Fact
from autotune.model.settings import Settings
from autotune.process.identity import boot_id
from autotune.store.digest import sha256_of_file
from autotune.store.journal import FileJournal, Unfinished
from autotune.store.state import StateDirectory

SCRIPT = b"#!/bin/bash\nvllm serve m --max-num-seqs=256\n"
GONE = 2**22 + 1
"""No process has this pid."""


@pytest.fixture
def night(tmp_path, campaign):
    """A night on a script whose winner is 144, run by a process that is gone."""
    (tmp_path / "state").mkdir(mode=0o700)
    state = StateDirectory(root=tmp_path / "state")
    script = tmp_path / "run_vllm.sh"
    script.write_bytes(SCRIPT)
    script.chmod(0o755)
    description = Description(
        kind="vllm",
        version="0.9",
        place=str(script),
        model_name="m",
        incumbent=Settings(max_batch_size=256),
        block_size=128,
        config_path=str(script),
    )
    best = Reading(settings=Settings(max_batch_size=144), tokens_per_second=1.0, half_width=0.01, launches=2)
    marked = []
    header = Unfinished(run="r", pid=GONE, boot_id=boot_id(), started_wall=0.0)
    session = SimpleNamespace(
        state=state,
        store=SimpleNamespace(mark=marked.append),
        side=SimpleNamespace(journal=FileJournal(state.journal, header), production=None),
    )
    found = replace(
        campaign,
        description=description,
        verdict=Verdict(code=VerdictCode.IMPROVED, reason="", best=best),
        environment=(Fact(name=CONFIG_SHA256, value=sha256_of_file(script)),),
    )
    return SimpleNamespace(
        session=session,
        script=script,
        state=state,
        marked=marked,
        switch=switched(session, found, lambda _: None),
    )


def test_a_kept_winner_stays_and_nothing_is_left_to_recover(night):
    night.switch.check()
    night.switch.keep()
    assert b"=144" in night.script.read_bytes()
    assert not night.state.journal.exists()
    assert night.marked[0].applied


def test_one_that_is_taken_back_leaves_every_byte_as_it_was(night):
    night.switch.take_back()
    assert night.script.read_bytes() == SCRIPT
    assert not night.state.journal.exists()
    assert not night.marked


def test_one_that_is_taken_back_after_it_was_kept_is_no_longer_noted_as_applied(night):
    night.switch.keep()
    night.switch.take_back()
    assert night.script.read_bytes() == SCRIPT
    assert not night.state.journal.exists()
    assert [campaign.applied for campaign in night.marked] == [True, False]


def test_after_a_kill_before_the_canary_recover_puts_the_last_known_good_back(night):
    assert night.state.journal.exists()
    recover(night.state)
    assert night.script.read_bytes() == SCRIPT
    assert not night.state.journal.exists()


def test_a_rehearsal_switches_nothing(night, campaign):
    night.session.side.journal = None
    assert switched(night.session, campaign, lambda _: None) is None


def test_a_run_that_proved_nothing_is_not_put_in_place(night, campaign):
    night.switch.take_back()
    with pytest.raises(Refused):
        switched(night.session, campaign, lambda _: None)
    assert isinstance(night.script, Path)
    assert night.script.read_bytes() == SCRIPT
