"""Host preparation: governor, huge pages, CPUs and memory for the time of a campaign, and back again."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from autotune.campaign.host.watch import HostWatch
from autotune.campaign.sides.side import PreparedHost
from autotune.events import Warned
from autotune.host.facts import host_facts
from autotune.host.host_settings import HostWish, applied
from autotune.host.host_settings import plan as planned_settings
from autotune.host.memory_policy import MemoryPlan, node_of, plan_memory
from autotune.host.npu_facts import NpuFacts, read_npus
from autotune.host.placement import Placement, place
from autotune.host.setting import SettingOutcome, SettingResult, setting_facts, summary
from autotune.host.topology import read_topology
from autotune.host.torch_npu_probe import torch_npu_fact
from autotune.model.protocols import Clock, Journal, Listener
from autotune.model.service import Fact
from autotune.process.identity import boot_id
from autotune.profile.schema import HostSection

_NOT_AS_WANTED = (SettingOutcome.DENIED, SettingOutcome.UNAVAILABLE)


@dataclass(frozen=True, kw_only=True, slots=True)
class HostPreparation:
    """What the host is to be during trials, decided before anything is touched."""

    wish: HostWish
    placement: Placement
    memory: MemoryPlan
    npus: NpuFacts
    watch: HostWatch
    facts: tuple[Fact, ...]
    """The host as found."""
    root: Path = Path("/")
    """Where its /sys is."""

    @property
    def daemon_cpus(self) -> frozenset[int] | None:
        """CPUs for the service; None when it is not bound."""
        return frozenset(self.placement.daemon.cpus) or None

    @property
    def binds(self) -> bool:
        """Whether the service gets CPUs or memory of its own."""
        return bool(self.placement.daemon.cpus or self.memory.words)

    def lines(self) -> tuple[Fact, ...]:
        """What will be changed, for the plan."""
        settings = summary((*planned_settings(self.wish, self.root), *self._memory_result()))
        return tuple(Fact(name="host", value=line) for line in (*settings, self._binding()))

    @contextmanager
    def during(self, journal: Journal, listener: Listener) -> Iterator[PreparedHost]:
        """Apply, say what became of it, and put everything back at the end.

        Raises NotRestored when something could not be put back.
        """
        with (
            applied(self.wish, journal, boot_id=boot_id(), root=self.root) as host,
            _client_on(self.placement.client),
        ):
            results = (*host.results, *self._memory_result())
            for line in summary(result for result in results if result.outcome in _NOT_AS_WANTED):
                listener(Warned(message=line, hint="the campaign goes on without it"))
            if self.placement.daemon.warning:
                listener(Warned(message=self.placement.daemon.warning))
            yield PreparedHost(
                changes=host.changes,
                facts=(*setting_facts(results), Fact(name="service CPUs", value=self._binding())),
                keep=host.keep,
                observed=self.watch.facts,
            )

    def _memory_result(self) -> tuple[SettingResult, ...]:
        return () if self.memory.result is None else (self.memory.result,)

    def _binding(self) -> str:
        daemon = self.placement.daemon
        cpus = f"service on CPUs {daemon.text}" if daemon.cpus else "service not bound"
        return f"{cpus} ({daemon.reason})"


def prepare_host(
    section: HostSection, environment: Mapping[str, str], clock: Clock, *, root: Path = Path("/")
) -> HostPreparation:
    """Read the host and choose CPUs; touches nothing. Raises Refused for CPUs that can't be used."""
    topology, npus = read_topology(), read_npus()
    placement = place(section.cpus, topology, npus, sleep=clock.sleep)
    cpus = placement.daemon.cpus
    memory = plan_memory(section.memory, node_of(cpus))
    return HostPreparation(
        wish=HostWish(
            governor=section.governor,
            transparent_hugepages=section.transparent_hugepages,
            always_with_large_pages=section.always_with_large_pages,
            stop_services=section.stop_services,
        ),
        placement=placement,
        memory=memory,
        npus=npus,
        watch=HostWatch(clock, cpus=cpus, policy=memory.kernel),
        facts=(*host_facts(topology, npus, environment=environment), torch_npu_fact(environment)),
        root=root,
    )


@contextmanager
def _client_on(cpus: tuple[int, ...]) -> Iterator[None]:
    """Keep this process and its load workers off the service's CPUs."""
    before = os.sched_getaffinity(0)
    if cpus:
        os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
