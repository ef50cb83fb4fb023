"""Description: the facts of a serving command, and the reasons not to start with it."""

from collections.abc import Mapping

from autotune.engines.vllm.cpu_binding import cpu_binding
from autotune.engines.vllm.facts import ServerFacts, grid_of
from autotune.engines.vllm.installed import installed_versions, version_text
from autotune.engines.vllm.motor_config import MotorConfig
from autotune.engines.vllm.options import VllmOptions
from autotune.engines.vllm.serving import Serving
from autotune.engines.vllm.trial import DEPLOYED
from autotune.errors import Refused
from autotune.model.service import Description, Fact
from autotune.model.settings import Settings
from autotune.process.environment import notable
from autotune.process.ports import listener

GRID_TOP = 2048
"""Largest value of the grid; more sequences than that no public deployment runs on one engine."""
LIVE_HINT = "stop it for the time of the campaign, and start it again afterwards"


def describe(serving: Serving, facts: ServerFacts, found: Settings, options: VllmOptions) -> Description:
    """Describe what a command serves."""
    script = options.script
    versions = installed_versions(serving.words, options.environment)
    binding = cpu_binding(serving.arguments, ascend="vllm_ascend" in versions)
    high = facts.max_num_batched_tokens
    return Description(
        kind="vllm",
        version=version_text(versions),
        place=str(script) if script else serving.words[0],
        model_name=options.model_name or facts.model_name,
        incumbent=found,
        block_size=facts.block_size,
        bounds_high=None if high is None else max(high, found.max_batch_size),
        max_input_token_len=facts.max_model_len,
        config_path=str(script) if script else "",
        grid=grid_of(facts, most=min(GRID_TOP, high or GRID_TOP)),
        facts=(
            *_facts(facts, versions, options),
            *([Fact(name="vLLM CPU binding", value=binding)] if binding else []),
            *notable(options.environment),
        ),
    )


def refuse_unusable(serving: Serving, facts: ServerFacts, options: VllmOptions, *, live: bool) -> None:
    """Raise Refused where a campaign would be dangerous or would mean nothing.

    `live` says that a server on its port is known.
    """
    if isinstance(serving, MotorConfig):
        raise Refused(
            f"{options.script}: {DEPLOYED}",
            hint="give the command line of one decode instance as engine.command, on a host of its own",
        )
    if facts.scheme == "https" and options.tls is None:
        raise Refused(
            "the server uses TLS, and the profile names no certificates",
            hint="add to the profile: workload: {tls: {ca: ca.pem}}",
        )
    owner = listener(facts.port) if not live and (facts.names_port or options.keep_address) else None
    if owner is not None:
        raise Refused(str(owner), hint=LIVE_HINT)


def _facts(facts: ServerFacts, versions: Mapping[str, str], options: VllmOptions) -> tuple[Fact, ...]:
    shown = (
        ("vllm_ascend", versions.get("vllm_ascend")),
        ("address", facts.url if options.keep_address else "a free port of 127.0.0.1"),
        ("interface", facts.interface.value),
        ("model", facts.model),
        ("tensor_parallel", facts.tensor_parallel),
        ("max_model_len", facts.max_model_len),
        ("max_num_batched_tokens", facts.max_num_batched_tokens),
        ("graphs", "off (--enforce-eager)" if facts.eager else None),
        ("gears", ",".join(map(str, facts.gears)) or None),
        ("tokens_a_step", facts.tokens_a_step if facts.tokens_a_step > 1 else None),
        ("tokens_an_event", facts.scheduler_steps if facts.scheduler_steps > 1 else None),
        ("max_num_seqs", None if facts.max_num_seqs is not None else "the engine's default"),
        ("cpus", ",".join(map(str, sorted(options.cpus))) if options.cpus else None),
    )
    return tuple(Fact(name=name, value=str(value)) for name, value in shown if value is not None)
