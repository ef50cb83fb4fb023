"""Services that work against the trials: stopped only where named, before the values, and started after."""

import pytest

from autotune.errors import NotRestored
from autotune.host.host_settings import HostWish, applied, apply, plan, restore
from autotune.host.setting import SettingOutcome, summary
from autotune.host.short_command import Answer, NoAnswer

BOOT = "boot-1"
WISH = HostWish(governor=None, stop_services=("tuned", "irqbalance"))


class Systemd:
    """systemctl with two services; tuned sets huge pages when it starts and puts them back when it ends."""

    def __init__(self, host, **states):
        self.host = host
        self.states = states
        self.refuses = False
        self.log = []

    def __call__(self, argv, _seconds):
        _, verb, unit = argv
        if unit not in self.states:
            return Answer(code=4, output="inactive\n" if verb == "is-active" else "", errors="not loaded")
        if verb == "is-active":
            return Answer(code=0 if self.states[unit] == "active" else 3, output=f"{self.states[unit]}\n")
        if self.refuses:
            return Answer(code=1, errors=f"Failed to {verb} {unit}.service: Access denied\nSee system logs")
        self.log.append(f"{verb} {unit}")
        self.states[unit] = "active" if verb == "start" else "inactive"
        if unit == "tuned":
            self.host.huge_pages("[always] madvise never" if verb == "start" else "always [madvise] never")
        return Answer(code=0)


@pytest.fixture
def systemd(host):
    host.huge_pages("[always] madvise never")
    return Systemd(host, tuned="active", irqbalance="active")


def test_named_services_are_stopped_before_the_values_and_started_after_them(host, journal, systemd):
    with applied(WISH, journal, boot_id=BOOT, root=host.root, run=systemd) as done:
        assert systemd.states == {"tuned": "inactive", "irqbalance": "inactive"}
        assert host.read("sys/kernel/mm/transparent_hugepage/enabled") == "always"
        assert summary(done.results) == (
            "stopped_services: tuned active -> tuned inactive, applied",
            "stopped_services: irqbalance active -> irqbalance inactive, applied",
            "transparent_hugepages: madvise -> always, applied",
        )
    assert systemd.log == ["stop tuned", "stop irqbalance", "start irqbalance", "start tuned"]
    assert host.read("sys/kernel/mm/transparent_hugepage/enabled").startswith("[always]")
    assert journal.open == []


def test_nothing_is_stopped_unasked_and_planning_stops_nothing(host, systemd):
    assert plan(HostWish(governor=None), host.root, run=systemd)[0].name == "transparent_hugepages"
    stopped = [item for item in plan(WISH, host.root, run=systemd) if item.name == "stopped_services"]
    assert [item.outcome for item in stopped] == [SettingOutcome.APPLIED] * 2
    assert systemd.log == []


def test_one_that_does_not_run_is_left_alone(host, journal, systemd):
    systemd.states["tuned"] = "inactive"
    wish = HostWish(governor=None, stop_services=("tuned", "x"))
    done = apply(wish, journal, boot_id=BOOT, root=host.root, run=systemd)
    assert [result.outcome for result in done.results[:2]] == [SettingOutcome.UNCHANGED] * 2
    assert systemd.log == []
    restore(done.changes, journal, boot_id=BOOT, run=systemd)
    assert systemd.states["tuned"] == "inactive"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer(no_answer=NoAnswer.MISSING), "systemctl is not installed"),
        (
            Answer(code=1, errors="System has not been booted with systemd as init system (PID 1)."),
            "System has not been booted with systemd",
        ),
        (Answer(code=3, output="activating\n"), "systemd says activating"),
    ],
)
def test_without_systemd_it_is_unavailable_with_the_reason(host, journal, answer, reason):
    wish = HostWish(governor=None, transparent_hugepages=None, stop_services=("irqbalance",))
    (result,) = apply(wish, journal, boot_id=BOOT, root=host.root, run=lambda _argv, _s: answer).results
    assert result.outcome is SettingOutcome.UNAVAILABLE
    assert reason in result.reason
    assert journal.open == []


def test_one_that_may_not_be_stopped_is_denied_and_the_others_are_tried(host, journal, systemd):
    systemd.refuses = True
    done = apply(WISH, journal, boot_id=BOOT, root=host.root, run=systemd)
    assert [result.outcome for result in done.results[:2]] == [SettingOutcome.DENIED] * 2
    assert "Access denied" in done.results[0].reason
    assert done.results[2].name == "transparent_hugepages"
    assert systemd.states == {"tuned": "active", "irqbalance": "active"}
    restore(done.changes, journal, boot_id=BOOT, run=systemd)
    assert journal.open == []


def test_one_that_does_not_start_again_is_not_restored_and_stays_in_the_journal(host, journal, systemd):
    wish = HostWish(governor=None, transparent_hugepages=None, stop_services=("irqbalance",))
    block = applied(wish, journal, boot_id=BOOT, root=host.root, run=systemd)
    with pytest.raises(NotRestored) as caught, block:
        systemd.refuses = True
    assert caught.value.hint.startswith("as root: systemctl start irqbalance")
    assert [change.unit for change in journal.open] == ["irqbalance"]
    systemd.refuses = False
    restore(tuple(journal.open), journal, boot_id=BOOT, run=systemd)
    assert (systemd.states["irqbalance"], journal.open) == ("active", [])


def test_after_a_reboot_or_when_somebody_started_it_nothing_is_started(host, journal, systemd):
    wish = HostWish(governor=None, transparent_hugepages=None, stop_services=("irqbalance",))
    done = apply(wish, journal, boot_id=BOOT, root=host.root, run=systemd)
    (dropped,) = restore(done.changes, journal, boot_id="boot-2", run=systemd)
    assert dropped.outcome is SettingOutcome.DROPPED
    systemd.states["irqbalance"] = "active"
    journal.open.extend(done.changes)
    (unchanged,) = restore(done.changes, journal, boot_id=BOOT, run=systemd)
    assert unchanged.outcome is SettingOutcome.UNCHANGED
    assert systemd.log == ["stop irqbalance"]
