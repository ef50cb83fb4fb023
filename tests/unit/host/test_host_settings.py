"""Governor and huge pages: applied, put back to what each CPU had, and never touched where they can't be."""

import errno
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autotune.errors import NotRestored, Refused
from autotune.host.cpu_group import group_path, members
from autotune.host.host_settings import HostWish, applied, apply, check_restored, plan, restore
from autotune.host.setting import SettingOutcome, setting_facts, summary
from autotune.store.journal import FileJournal, Unfinished, unfinished

BOOT = "boot-1"
GOVERNOR = "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
GUIDE = HostWish()
MIXED = {cpu: ("powersave", "performance", "ondemand")[cpu % 3] for cpu in range(88)}


def outcomes(results):
    return [result.outcome for result in results]


def test_all_cpus_are_set_and_put_back(host, journal):
    host.governors(dict.fromkeys(range(24), "powersave")).huge_pages()
    with applied(GUIDE, journal, boot_id=BOOT, root=host.root) as done:
        assert set(outcomes(done.results)) == {SettingOutcome.APPLIED}
        assert set(host.governor_values().values()) == {"performance"}
        assert host.read("sys/kernel/mm/transparent_hugepage/enabled") == "always"
        assert [change.before for change in journal.open] == ["madvise", "powersave"]
    assert set(host.governor_values().values()) == {"powersave"}
    assert host.read("sys/kernel/mm/transparent_hugepage/enabled") == "madvise"
    assert journal.open == []


def test_mixed_governors_come_back_each_to_its_own(host, journal):
    host.governors(MIXED)
    with applied(HostWish(transparent_hugepages=None), journal, boot_id=BOOT, root=host.root) as done:
        assert {change.before for change in done.changes} == {"powersave", "ondemand"}
    assert host.governor_values() == MIXED


def test_a_hundred_cpus_are_one_line(host, journal):
    host.governors(dict.fromkeys(range(192), "powersave") | {3: "performance"}).huge_pages()
    done = apply(GUIDE, journal, boot_id=BOOT, root=host.root)
    assert summary(done.results) == (
        "transparent_hugepages: madvise -> always, applied",
        "governor: powersave -> performance, applied on CPUs 0-2,4-191",
        "governor: performance, unchanged on CPUs 3",
    )
    assert setting_facts(done.results)[0].value == "madvise -> always, applied"


def test_an_ordinary_virtual_machine_has_huge_pages_and_no_governor(host, journal):
    host.huge_pages()
    with applied(GUIDE, journal, boot_id=BOOT, root=host.root) as done:
        pages, governor = done.results
        assert pages.outcome is SettingOutcome.APPLIED
        assert governor.outcome is SettingOutcome.UNAVAILABLE
        assert "virtual machine" in governor.reason
        assert governor.advice == "cpupower -c all frequency-set -g performance"
    assert "unavailable" in summary([governor])[0]


def test_planning_touches_nothing_and_says_what_is_to_come(host):
    host.governors(MIXED).huge_pages()
    planned = plan(GUIDE, host.root)
    assert SettingOutcome.APPLIED in outcomes(planned)
    assert summary(planned)[0] == "transparent_hugepages: madvise -> always, to be applied"
    assert host.governor_values() == MIXED


def test_null_leaves_a_setting_alone(host, journal):
    host.governors(MIXED).huge_pages()
    wish = HostWish(governor=None, transparent_hugepages=None)
    assert apply(wish, journal, boot_id=BOOT, root=host.root).results == ()


def test_a_governor_that_the_driver_does_not_offer_is_unavailable(host, journal):
    host.governors({0: "schedutil"}, offered="schedutil powersave")
    (result,) = apply(HostWish(transparent_hugepages=None), journal, boot_id=BOOT, root=host.root).results
    assert (result.outcome, result.reason) == (
        SettingOutcome.UNAVAILABLE,
        "the driver offers schedutil, powersave",
    )
    assert journal.recorded == []


def test_a_kernel_without_a_huge_page_word_says_which_it_has(host, journal):
    host.huge_pages("[madvise] never")
    (result,) = apply(HostWish(governor=None), journal, boot_id=BOOT, root=host.root).results
    assert result.reason == "the kernel offers madvise, never"


@pytest.mark.parametrize(
    ("consent", "outcome"), [(False, SettingOutcome.UNAVAILABLE), (True, SettingOutcome.APPLIED)]
)
def test_always_with_huge_pages_of_512_mib_needs_consent(host, journal, consent, outcome):
    host.huge_pages(pmd=512 * 1024 * 1024)
    wish = HostWish(governor=None, always_with_large_pages=consent)
    (result,) = apply(wish, journal, boot_id=BOOT, root=host.root).results
    assert result.outcome is outcome
    assert consent or "consent with host.always_with_large_pages" in result.reason


def test_a_size_that_ignores_the_common_switch_is_told(host, journal):
    host.huge_pages().write(
        "sys/kernel/mm/transparent_hugepage/hugepages-2048kB/enabled", "always inherit [never]"
    )
    (result,) = apply(HostWish(governor=None), journal, boot_id=BOOT, root=host.root).results
    assert "2048 kB is set to never" in result.reason


def failing(monkeypatch, number, only=""):
    """Let the kernel refuse to open files for writing."""
    real = os.open

    def refuse(path, flags, *rest):
        if flags & os.O_WRONLY and only in str(path):
            raise OSError(number, os.strerror(number))
        return real(path, flags, *rest)

    monkeypatch.setattr("autotune.host.sysfs_value.os.open", refuse)


@pytest.mark.parametrize(
    ("number", "outcome", "reason"),
    [
        (errno.EROFS, SettingOutcome.DENIED, "/sys is read-only here, as in a container"),
        (errno.EACCES, SettingOutcome.DENIED, "root"),
        (errno.EPERM, SettingOutcome.DENIED, "root"),
        (errno.EINVAL, SettingOutcome.UNAVAILABLE, "the kernel refuses the value"),
        (errno.ENOENT, SettingOutcome.UNAVAILABLE, "no such setting"),
        (errno.EIO, SettingOutcome.DENIED, "Input/output error"),
    ],
)
def test_what_the_kernel_refuses_is_named_and_leaves_nothing_in_the_journal(
    host, journal, monkeypatch, number, outcome, reason
):
    host.huge_pages()
    failing(monkeypatch, number)
    (result,) = apply(HostWish(governor=None), journal, boot_id=BOOT, root=host.root).results
    assert result.outcome is outcome
    assert reason in result.reason
    assert (result.before, result.after) == ("madvise", "madvise")
    assert journal.open == []


def test_one_failing_item_does_not_stop_the_others(host, journal, monkeypatch):
    host.governors(dict.fromkeys(range(4), "powersave")).huge_pages()
    failing(monkeypatch, errno.EIO, only="cpu1/")
    results = apply(GUIDE, journal, boot_id=BOOT, root=host.root).results
    assert [result.cpu for result in results if result.outcome is SettingOutcome.DENIED] == [1]
    assert host.governor_values() == {0: "performance", 1: "powersave", 2: "performance", 3: "performance"}


def test_a_value_that_the_driver_swallows_is_no_success(host, journal, monkeypatch):
    host.huge_pages()
    monkeypatch.setattr("autotune.host.host_settings.write_value", lambda _path, _value: None)
    (result,) = apply(HostWish(governor=None), journal, boot_id=BOOT, root=host.root).results
    assert result.outcome is SettingOutcome.UNAVAILABLE
    assert "it reads madvise" in result.reason


def test_what_somebody_else_changed_since_stays(host, journal):
    host.governors({0: "powersave", 1: "powersave"})
    done = apply(GUIDE, journal, boot_id=BOOT, root=host.root)
    host.governors({1: "ondemand"})
    results = restore(done.changes, journal, boot_id=BOOT)
    assert {result.cpu: result.outcome for result in results} == {
        0: SettingOutcome.RESTORED,
        1: SettingOutcome.SKIPPED,
    }
    assert host.governor_values() == {0: "powersave", 1: "ondemand"}
    assert "somebody set it to ondemand" in "".join(result.reason for result in results)
    assert journal.open == []


def test_after_a_reboot_the_journal_is_dropped_and_nothing_written(host, journal):
    host.huge_pages()
    done = apply(HostWish(governor=None), journal, boot_id=BOOT, root=host.root)
    host.huge_pages("[always] madvise never")
    (result,) = restore(done.changes, journal, boot_id="boot-2")
    assert result.outcome is SettingOutcome.DROPPED
    assert host.read("sys/kernel/mm/transparent_hugepage/enabled").startswith("[always]")
    assert journal.open == []


def test_restoring_twice_changes_nothing_more(host, journal):
    host.governors(MIXED).huge_pages()
    done = apply(GUIDE, journal, boot_id=BOOT, root=host.root)
    restore(done.changes, journal, boot_id=BOOT)
    for change in done.changes:
        journal.open.append(change)
    assert set(outcomes(restore(done.changes, journal, boot_id=BOOT))) == {SettingOutcome.UNCHANGED}
    assert host.governor_values() == MIXED


def test_kept_settings_stay_and_are_forgotten(host, journal):
    host.governors({0: "powersave"})
    with applied(GUIDE, journal, boot_id=BOOT, root=host.root) as done:
        assert [change.before for change in done.keep()] == ["powersave"]
    assert host.governor_values() == {0: "performance"}
    assert journal.open == []


def test_what_cannot_be_put_back_is_an_error_with_the_command(host, journal, monkeypatch):
    place = host.huge_pages().root / "sys/kernel/mm/transparent_hugepage/enabled"
    block = applied(HostWish(governor=None), journal, boot_id=BOOT, root=host.root)
    with pytest.raises(NotRestored, match="not put back") as caught, block:
        failing(monkeypatch, errno.EROFS)
    assert caught.value.hint.startswith(f"as root: echo madvise > {place}")
    assert caught.value.exit_code == 4
    assert len(journal.open) == 1


def test_a_file_torn_by_a_kill_between_opening_and_writing_is_put_back(host, journal):
    host.governors({0: "powersave"})
    done = apply(GUIDE, journal, boot_id=BOOT, root=host.root)
    (host.root / GOVERNOR).write_text("")
    assert outcomes(restore(done.changes, journal, boot_id=BOOT)) == [SettingOutcome.RESTORED]


def test_a_vanished_setting_is_not_silently_forgotten(host, journal):
    host.governors({0: "powersave"})
    done = apply(GUIDE, journal, boot_id=BOOT, root=host.root)
    (host.root / GOVERNOR).unlink()
    results = restore(done.changes, journal, boot_id=BOOT)
    assert outcomes(results) == [SettingOutcome.DENIED]
    with pytest.raises(NotRestored):
        check_restored(results)


KILLED = """
import os, signal, sys
from pathlib import Path
from autotune.host import host_settings
from autotune.store.journal import FileJournal, Unfinished

root, place, limit = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
real, count = host_settings.write_value, 0
def write(path, value):
    global count
    count += 1
    if count > limit:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(path, value)
host_settings.write_value = write
journal = FileJournal(place, Unfinished(run="r", pid=os.getpid(), boot_id="boot-1", started_wall=0.0))
host_settings.apply(host_settings.HostWish(), journal, boot_id="boot-1", root=root)
"""


@pytest.mark.parametrize("limit", [0, 1, 7])
def test_after_a_kill_in_the_middle_the_journal_gives_everything_back(host, journal, tmp_path, limit):
    values = {cpu: ("powersave", "ondemand")[cpu % 2] for cpu in range(12)}
    host.governors(values).huge_pages()
    place = tmp_path / "journal.json"
    repository = Path(__file__).parents[3]
    ended = subprocess.run(
        [sys.executable, "-c", KILLED, str(host.root), str(place), str(limit)],
        check=False,
        env={**os.environ, "PYTHONPATH": str(repository)},
    )
    assert ended.returncode == -signal.SIGKILL
    left = unfinished(place)
    assert {change.before for change in left.changes} == {"madvise", "powersave", "ondemand"}
    journal.open.extend(left.changes)
    restore(left.changes, journal, boot_id=BOOT)
    assert host.governor_values() == values
    assert "madvise" in host.read("sys/kernel/mm/transparent_hugepage/enabled")
    assert journal.open == []


CONTAINER = """
import sys
from autotune.host.host_settings import HostWish, apply
class Journal:
    def record(self, change): pass
    def settle(self, change): pass
with open("/sys/kernel/mm/transparent_hugepage/enabled") as file:
    other = "madvise" if "[always]" in file.read() else "always"
(result,) = apply(HostWish(governor=None, transparent_hugepages=other), Journal(), boot_id="b").results
print(result.outcome.value, "|", result.reason)
"""


@pytest.mark.skipif(
    os.geteuid() != 0
    or shutil.which("unshare") is None
    or not Path("/sys/kernel/mm/transparent_hugepage/enabled").exists(),
    reason="needs root, unshare and huge pages",
)
def test_a_read_only_sys_in_a_mount_namespace_is_denied_with_the_reason():
    shell = 'mount -o remount,bind,ro /sys && exec "$0" -W ignore -c "$1"'
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", shell, sys.executable, CONTAINER],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
    )
    if "mount" in done.stderr or "unshare" in done.stderr:
        pytest.skip(f"no mount namespace here: {done.stderr.strip()}")
    assert done.stdout.strip() == "denied | /sys is read-only here, as in a container"


@given(
    values=st.dictionaries(
        st.integers(0, 40), st.sampled_from(["performance", "powersave", "ondemand"]), max_size=12
    ),
    foreign=st.sets(st.integers(0, 40)),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30, deadline=None)
def test_every_cpu_ends_as_it_began_or_as_somebody_else_left_it(make_host, values, foreign):
    host, journal = make_host()
    host.governors(values)
    done = apply(HostWish(transparent_hugepages=None), journal, boot_id=BOOT, root=host.root)
    touched = dict.fromkeys(foreign & set(values), "schedutil")
    host.governors(touched)
    restore(done.changes, journal, boot_id=BOOT)
    assert host.governor_values() == {**values, **touched}


def test_one_entry_stands_for_the_same_file_of_many_cpus():
    path = "/sys/devices/system/cpu/cpu7/cpufreq/scaling_governor"
    group = group_path(path, [0, 1, 2, 7])
    assert group == "/sys/devices/system/cpu/cpu[0-2,7]/cpufreq/scaling_governor"
    assert members(group)[3] == (7, Path(path))
    assert members(path) == ((7, Path(path)),)
    assert members("/sys/kernel/mm/x") == ((None, Path("/sys/kernel/mm/x")),)
    assert group_path("/sys/kernel/mm/x", []) == "/sys/kernel/mm/x"


def test_a_journal_that_cannot_be_written_leaves_every_setting_alone(host):
    host.governors({0: "schedutil"}).huge_pages()

    class Full(FileJournal):
        def record(self, change):
            if self.changes:
                raise OSError(errno.ENOSPC, "No space left on device")
            super().record(change)

    header = Unfinished(run="r", pid=1, boot_id="boot", started_wall=0.0)
    journal = Full(host.root / "journal.json", header)
    with pytest.raises(Refused, match="No space left"):
        apply(HostWish(), journal, boot_id="boot", root=host.root)
    assert host.governor_values() == {0: "schedutil"}
    assert "[madvise]" in host.read("sys/kernel/mm/transparent_hugepage/enabled")
    assert journal.changes == ()
    assert not (host.root / "journal.json").exists()
