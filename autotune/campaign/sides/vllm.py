"""The side of a real host with vLLM: its engine, the load on it, the host's clock."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from autotune.campaign.host.npu_gate import NpuGate, chips_of
from autotune.campaign.sides.ground import Ground, ground_of
from autotune.campaign.sides.load import source_of
from autotune.campaign.sides.side import HostSide
from autotune.campaign.sides.tls import tls_of
from autotune.engines.vllm.engine import VllmEngine
from autotune.engines.vllm.options import VllmOptions
from autotune.errors import UsageError
from autotune.host.npu_facts import read_npus
from autotune.model.protocols import Listener
from autotune.profile.schema import Profile
from autotune.store.state import StateDirectory

_APIS = ("openai", "openai-chat", "vllm")


def vllm_side(profile: Profile, state: StateDirectory, run: str, listener: Listener) -> HostSide:
    """Engine, source and clock. Raises Refused or UsageError for what can't be used; touches nothing."""
    if profile.workload.api not in _APIS:
        raise UsageError(
            f"workload.api {profile.workload.api} is none of vLLM's", hint=f"one of {', '.join(_APIS)}"
        )
    if profile.engine.service is not None:
        raise UsageError(
            "engine.service: this version does not stop and start a live vLLM server",
            hint="stop it before the campaign, leave engine.service away, and start it afterwards",
        )
    ground = ground_of(profile, state, run, listener)
    host = ground.host
    options = _options(profile, ground)
    ranks = VllmEngine(options).ranks
    chips = chips_of(range(ranks), host.npus, ground.environment)
    gate = NpuGate(lambda: read_npus(near_cpus=False), chips, ground.clock, listener)
    options = replace(options, before_start=gate.wait)
    engine = VllmEngine(options)
    return HostSide(
        engine=engine,
        plain_engine=VllmEngine(replace(options, cpus=None, prefix=())) if host.binds else None,
        source=source_of(profile, engine.describe(), ground),
        clock=ground.clock,
        journal=ground.journal,
        blocks=engine.fixed_blocks,
        host_lines=host.lines(),
        facts=host.facts,
        settings=lambda tell: host.during(ground.journal, tell),
    )


def command_words(words: tuple[str, ...], home: Path, model: Path | None) -> tuple[str, ...]:
    """The words with `{home}` and `{model}` replaced by engine.home and model.path.

    So a profile can name a virtual environment and a model relative to itself. Nothing else is replaced:
    braces of JSON arguments stay. Raises UsageError for `{model}` without a model.path.
    """
    if model is None and any("{model}" in word for word in words):
        raise UsageError("engine.command says {model}, and the profile has no model.path")
    values: Mapping[str, str] = {"{home}": str(home), "{model}": str(model)}
    replaced = list(words)
    for name, value in values.items():
        replaced = [word.replace(name, value) for word in replaced]
    return tuple(replaced)


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
        clock=ground.clock,
        listener=ground.listener,
    )
