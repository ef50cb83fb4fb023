"""The side of a real host with vLLM: its engine, the load on it, the host's clock."""

from dataclasses import replace
from pathlib import Path

from autotune.campaign.forecast import Timing
from autotune.campaign.host.npu_gate import NpuGate, chips_of
from autotune.campaign.production import ProductionService
from autotune.campaign.sides.command_words import command_words
from autotune.campaign.sides.ground import Ground, ground_of
from autotune.campaign.sides.load import source_of
from autotune.campaign.sides.service_place import service_place
from autotune.campaign.sides.side import HostSide
from autotune.campaign.sides.tls import tls_of
from autotune.engines.vllm.engine import VllmEngine
from autotune.engines.vllm.live import served_by
from autotune.engines.vllm.options import VllmOptions
from autotune.errors import UsageError
from autotune.host.npu_facts import read_npus
from autotune.model.protocols import Listener
from autotune.profile.schema import Profile
from autotune.store.state import StateDirectory

_APIS = ("openai", "openai-chat", "vllm")
_STARTS_A_TIMEOUT = 6.0
"""A start usually takes so small a part of the time that it is given; a stop takes a second (measured)."""


def vllm_side(profile: Profile, state: StateDirectory, run: str, listener: Listener) -> HostSide:
    """Engine, source and clock. Raises Refused or UsageError for what can't be used; touches nothing."""
    if profile.workload.api not in _APIS:
        raise UsageError(
            f"workload.api {profile.workload.api} is none of vLLM's", hint=f"one of {', '.join(_APIS)}"
        )
    ground = ground_of(profile, state, run, listener)
    host = ground.host
    options = _options(profile, ground)
    ranks = VllmEngine(options).ranks
    chips = chips_of(range(ranks), host.npus, ground.environment)
    gate = NpuGate(lambda: read_npus(near_cpus=False), chips, ground.clock, listener)
    options = replace(options, before_start=gate.wait)
    engine = VllmEngine(options)
    side = HostSide(
        engine=engine,
        plain_engine=VllmEngine(replace(options, cpus=None, prefix=())) if host.binds else None,
        source=source_of(profile, engine.describe(), ground),
        clock=ground.clock,
        journal=ground.journal,
        blocks=engine.fixed_blocks,
        timing=Timing(
            start_seconds=profile.engine.start_timeout / _STARTS_A_TIMEOUT,
            stop_seconds=1.0,
            warm_up_seconds=2.0,
        ),
        host_lines=host.lines(),
        facts=host.facts,
        settings=lambda tell: host.during(ground.journal, tell),
    )
    if profile.engine.service is None:
        return side
    production = _production(profile, ground, engine)
    return replace(side, aside=lambda tell: production.stopped(ground.journal, tell))


def _production(profile: Profile, ground: Ground, engine: VllmEngine) -> ProductionService:
    """The server that runs now on the address of the command, if any does."""
    facts = engine.facts
    return ProductionService(
        config_path=Path(service_place(profile)),
        section=profile.engine.service,
        environment=ground.environment,
        work_dir=ground.directory,
        start_timeout=profile.engine.start_timeout,
        tls=engine.options.tls,
        served=served_by(facts, profile.model.name),
        api_key=facts.api_key,
    )


def _options(profile: Profile, ground: Ground) -> VllmOptions:
    engine, host = profile.engine, ground.host
    return VllmOptions(
        work_dir=ground.directory,
        journal=ground.journal,
        environment=ground.environment,
        command=command_words(engine.command or (), engine.home, profile.model.path),
        script=engine.script,
        keep_address=engine.config_mode == "in-place",
        start_timeout=engine.start_timeout,
        model_name=profile.model.name,
        cpus=host.daemon_cpus,
        prefix=host.memory.words,
        processes_seen=host.watch.see,
        tls=tls_of(profile.workload.tls),
        live_service=engine.service is not None,
        clock=ground.clock,
        listener=ground.listener,
    )
