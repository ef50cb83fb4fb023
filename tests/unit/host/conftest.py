"""Fake hosts: trees with the files of /sys and /proc that the host package reads and writes."""

from pathlib import Path

import pytest

from autotune.host.cpu_group import members
from autotune.host.cpu_list import format_cpu_list
from autotune.model.change import HostChange, SysfsWritten


class FakeHost:
    """A root folder that looks like a host."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, path, text):
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        return place

    def read(self, path):
        return (self.root / path).read_text()

    def nodes(self, lists):
        """NUMA nodes from lists of CPUs; an empty list is a node with memory only."""
        for number, cpus in lists.items():
            self.write(f"sys/devices/system/node/node{number}/cpulist", format_cpu_list(cpus) + "\n")
        return self

    def governors(self, values, offered="performance powersave ondemand"):
        for cpu, value in values.items():
            folder = f"sys/devices/system/cpu/cpu{cpu}/cpufreq"
            self.write(f"{folder}/scaling_governor", f"{value}\n")
            self.write(f"{folder}/scaling_available_governors", f"{offered}\n")
        return self

    def governor_values(self):
        places = (self.root / "sys/devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_governor")
        return {int(place.parent.parent.name[3:]): place.read_text().strip() for place in places}

    def huge_pages(self, text="always [madvise] never", pmd=2097152):
        self.write("sys/kernel/mm/transparent_hugepage/enabled", f"{text}\n")
        self.write("sys/kernel/mm/transparent_hugepage/hpage_pmd_size", f"{pmd}\n")
        return self

    def allow(self, cpus, pid="self"):
        self.write(f"proc/{pid}/status", f"Name:\tx\nCpus_allowed_list:\t{cpus}\n")
        return self


class ListJournal:
    """A journal in memory that also checks that it is written before the file is."""

    def __init__(self) -> None:
        self.open: list[HostChange] = []
        self.recorded: list[HostChange] = []

    def record(self, change: HostChange) -> None:
        for _, path in members(change.path) if isinstance(change, SysfsWritten) else ():
            assert change.before in path.read_text()
        self.open.append(change)
        self.recorded.append(change)

    def settle(self, change: HostChange) -> None:
        self.open.remove(change)


@pytest.fixture
def host(tmp_path):
    return FakeHost(tmp_path)


@pytest.fixture
def journal():
    return ListJournal()


@pytest.fixture
def make_host(tmp_path_factory):
    """New fake hosts with a journal each, for property tests."""
    return lambda: (FakeHost(tmp_path_factory.mktemp("host")), ListJournal())
