"""The side of a real host with MindIE: its engine, the load on it, the host's clock."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from autotune.campaign.concurrency import raised_links
from autotune.campaign.host.npu_gate import NpuGate, chips_of
from autotune.campaign.mindie_blocks import formula_blocks
from autotune.campaign.production import ProductionService
from autotune.campaign.recover_unit import UNIT_NAME, is_installed
from autotune.campaign.sides.ground import Ground, ground_of
from autotune.campaign.sides.load import source_of
from autotune.campaign.sides.side import HostSide
from autotune.campaign.sides.tls import tls_of
from autotune.engines.mindie.config_file import read as read_config
from autotune.engines.mindie.engine import MindieEngine
from autotune.engines.mindie.options import ConfigMode, MindieOptions
from autotune.errors import UsageError
from autotune.host.npu_facts import NpuFacts, read_npus
from autotune.mindie_rules.fields import devices
from autotune.model.protocols import Clock, Listener
from autotune.model.service import Description, Fact
from autotune.profile.schema import Profile
from autotune.store.state import StateDirectory


def mindie_side(profile: Profile, state: StateDirectory, run: str, listener: Listener) -> HostSide:
    """Engine, source and clock. Raises Refused or UsageError for what can't be used; touches nothing."""
    if profile.engine.kind != "mindie":
        raise UsageError(
            f"engine.kind {profile.engine.kind} can't be tuned by this version", hint="kind: mindie"
        )
    ground = ground_of(profile, state, run, listener)
    host = ground.host
    options = _options(profile, ground)
    description = MindieEngine(options).describe()
    options = replace(options, max_link_num=raised_links(profile, description.max_link_num))
    gate = npu_gate(description, host.npus, ground.environment, ground.clock, listener)
    options = replace(options, before_start=gate.wait)
    engine = MindieEngine(options)
    production = ProductionService(
        config_path=Path(description.config_path),
        section=profile.engine.service,
        environment=ground.environment,
        work_dir=ground.directory,
        start_timeout=profile.engine.start_timeout,
        tls=options.tls,
    )
    return HostSide(
        engine=engine,
        plain_engine=MindieEngine(replace(options, cpus=None, prefix=())) if host.binds else None,
        source=source_of(profile, description, ground),
        clock=ground.clock,
        host_lines=(*host.lines(), *_boot_lines(profile, state)),
        facts=host.facts,
        production=production,
        journal=ground.journal,
        formula_blocks=None if description.emulated else _formula_blocks(profile, description),
        aside=lambda tell: production.stopped(ground.journal, tell),
        settings=lambda tell: host.during(ground.journal, tell),
    )


def _boot_lines(profile: Profile, state: StateDirectory) -> tuple[Fact, ...]:
    """What puts the file back when the host goes down in the middle of an in-place trial."""
    if profile.engine.config_mode != "in-place":
        return ()
    if is_installed():
        return (Fact(name="boot", value=f"{UNIT_NAME} puts the file back if the host goes down meanwhile"),)
    unit = profile.engine.service.unit if profile.engine.service else None
    command = f"autotune recover --install-unit --state {state.root}{f' --before {unit}' if unit else ''}"
    return (
        Fact(name="boot", value=f"if the host goes down, the file stays edited until recover; {command}"),
    )


def _formula_blocks(profile: Profile, description: Description) -> int | None:
    return formula_blocks(read_config(Path(description.config_path)).config, profile.model.path)


def npu_gate(
    description: Description,
    npus: NpuFacts,
    environment: Mapping[str, str],
    clock: Clock,
    listener: Listener,
    read: Callable[[], NpuFacts] = lambda: read_npus(near_cpus=False),
) -> NpuGate:
    """The gate before each start, for the chips of npuDeviceIds; an emulated service has none."""
    document = read_config(Path(description.config_path)).config.document.value
    wanted = {device for group in devices(document) for device in group}
    chips = frozenset() if description.emulated else chips_of(wanted, npus, environment)
    return NpuGate(read, chips, clock, listener)


def _options(profile: Profile, ground: Ground) -> MindieOptions:
    host = ground.host
    return MindieOptions(
        home=profile.engine.home,
        work_dir=ground.directory,
        journal=ground.journal,
        environment=ground.environment,
        config_mode=ConfigMode(profile.engine.config_mode),
        start_timeout=profile.engine.start_timeout,
        model_name=profile.model.name,
        cpus=host.daemon_cpus,
        prefix=host.memory.words,
        processes_seen=host.watch.see,
        chip=host.npus.chips[0].name if host.npus.chips else "",
        live_service=profile.engine.service is not None,
        monitoring=True,
        probing=True,
        tls=tls_of(profile.workload.tls),
        clock=ground.clock,
        listener=ground.listener,
    )
