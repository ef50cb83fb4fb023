"""Apply and rollback: only the named values differ, and what somebody did by hand is never overwritten."""

from dataclasses import replace
from pathlib import Path

import pytest

from autotune.campaign.apply import apply, kept, put_in_place, rollback, told_by_hand
from autotune.campaign.proven import AFTERWARDS, KEPT, PUT_BACK
from autotune.campaign.winner_text import CONFIG_SHA256
from autotune.errors import Busy, NotRestored, Refused
from autotune.model.campaign import Campaign, Reading, Verdict
from autotune.model.change import SysfsWritten
from autotune.model.move import VerdictCode
from autotune.model.service import Description, Fact
from autotune.model.settings import Settings
from autotune.process.identity import boot_id
from autotune.store.digest import sha256_of_file
from autotune.store.lock import hold
from autotune.store.state import StateDirectory

SCRIPT = b"#!/bin/bash\n# serves\nvllm serve m \\\r\n  --max-num-seqs=256 --port 8000  # \xff\nwait"


@pytest.fixture
def state(tmp_path) -> StateDirectory:
    (tmp_path / "state").mkdir(mode=0o700)
    return StateDirectory(root=tmp_path / "state")


@pytest.fixture
def script(tmp_path) -> Path:
    path = tmp_path / "run_vllm.sh"
    path.write_bytes(SCRIPT)
    path.chmod(0o755)
    return path


def proven(campaign: Campaign, path: Path | None, best: int, *, found: int | None = 256) -> Campaign:
    description = Description(
        kind="vllm",
        version="0.9",
        place=str(path or "vllm"),
        model_name="m",
        incumbent=Settings(max_batch_size=found or 256),
        block_size=128,
        config_path=str(path or ""),
    )
    reading = Reading(
        settings=Settings(max_batch_size=best), tokens_per_second=1.0, half_width=0.01, launches=2
    )
    verdict = Verdict(code=VerdictCode.IMPROVED, reason="", best=reading)
    digest = (Fact(name=CONFIG_SHA256, value=sha256_of_file(path)),) if path else ()
    return replace(campaign, description=description, verdict=verdict, environment=digest)


def test_a_winner_is_spliced_into_the_script_and_every_other_byte_stays(campaign, state, script):
    lines = apply(proven(campaign, script, 144), state)
    assert script.read_bytes() == SCRIPT.replace(b"=256", b"=144")
    assert script.stat().st_mode & 0o777 == 0o755
    assert lines[0] == f"{script}: --max-num-seqs 144"


def test_apply_rollback_apply_is_a_round_trip(campaign, state, script):
    run = proven(campaign, script, 144)
    for _ in range(2):
        apply(run, state)
        assert b"=144" in script.read_bytes()
        rollback(state)
        assert script.read_bytes() == SCRIPT
    with pytest.raises(Refused, match="no applied winner"):
        rollback(state)


def test_applying_twice_is_the_same_as_once(campaign, state, script):
    run = proven(campaign, script, 144)
    apply(run, state)
    assert "there already" in apply(run, state)[0]
    rollback(state)
    assert script.read_bytes() == SCRIPT


def test_two_winners_are_taken_back_one_after_the_other(campaign, state, script):
    apply(proven(campaign, script, 144), state)
    apply(proven(campaign, script, 200, found=144), state)
    rollback(state)
    assert b"=144" in script.read_bytes()
    rollback(state)
    assert script.read_bytes() == SCRIPT


def test_a_winner_put_in_by_hand_in_between_is_overwritten_by_neither(campaign, state, script):
    run = proven(campaign, script, 144)
    apply(run, state)
    by_hand = SCRIPT.replace(b"=256", b"=99")
    script.write_bytes(by_hand)
    for act in (lambda: rollback(state), lambda: apply(run, state)):
        with pytest.raises(NotRestored) as caught:
            act()
        assert caught.value.exit_code == 4
        assert script.read_bytes() == by_hand


def test_another_change_beside_the_tuned_values_is_told(campaign, state, script):
    run = proven(campaign, script, 144)
    script.write_bytes(SCRIPT.replace(b"8000", b"8001"))
    assert any("beside the tuned values" in line for line in apply(run, state))
    assert b"=144 --port 8001" in script.read_bytes()


def test_a_bare_command_is_told_and_nothing_is_written(campaign, state):
    run = proven(campaign, None, 144)
    assert "start it with --max-num-seqs=144" in told_by_hand(run)
    with pytest.raises(Refused, match="not in a file"):
        apply(run, state)


def test_a_run_that_proved_nothing_is_refused(campaign, state, script):
    run = proven(campaign, script, 144)
    run = replace(run, verdict=replace(run.verdict, code=VerdictCode.INCUMBENT_BEST))
    with pytest.raises(Refused, match="proved no better value"):
        apply(run, state)


def test_nothing_is_taken_back_while_a_campaign_runs(campaign, state, script):
    apply(proven(campaign, script, 144), state)
    with hold(state.lock), pytest.raises(Busy):
        rollback(state)
    assert b"=144" in script.read_bytes()


PROVEN_WITH = Fact(name="governor", value="schedutil -> performance, applied on CPUs 0-1")


@pytest.mark.parametrize(
    ("ending", "words"), [(KEPT, "stay until the next boot"), (PUT_BACK, "were put back after the trials")]
)
def test_at_the_end_of_a_campaign_it_is_told_what_becomes_of_the_host_settings(
    campaign, state, script, ending, words
):
    run = proven(campaign, script, 144)
    facts = (PROVEN_WITH, Fact(name=AFTERWARDS, value=ending))
    run = replace(run, environment=(*run.environment, *facts))
    lines = put_in_place(run, state)
    assert any(words in line and "proven with governor schedutil" in line for line in lines)


@pytest.mark.parametrize(("governor", "told"), [("schedutil", True), ("performance", False)])
def test_later_it_is_told_when_the_host_is_not_as_the_winner_was_proven(
    campaign, state, script, tmp_path, governor, told
):
    place = tmp_path / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
    place.parent.mkdir(parents=True)
    place.write_text(governor + "\n")
    run = proven(campaign, script, 144)
    run = replace(run, environment=(*run.environment, PROVEN_WITH, Fact(name=AFTERWARDS, value=KEPT)))
    lines = apply(run, state, root=tmp_path)
    assert any("proven with governor" in line for line in lines)
    assert any("this host is at governor schedutil now" in line for line in lines) is told


def test_host_settings_that_stay_with_a_winner_go_with_it(campaign, state, script, tmp_path):
    governor = tmp_path / "scaling_governor"
    governor.write_text("performance\n")
    apply(proven(campaign, script, 144), state)
    change = SysfsWritten(path=str(governor), before="schedutil", after="performance", boot_id=boot_id())
    kept([change], state)
    lines = rollback(state)
    assert governor.read_text().strip() == "schedutil"
    assert script.read_bytes() == SCRIPT
    assert len(lines) == 2
