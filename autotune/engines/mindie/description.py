"""Description: the facts of an install, and the reasons not to start with it."""

from pathlib import Path

from autotune.engines.mindie.config_text import ConfigText, settings_of
from autotune.engines.mindie.daemon_environment import check_install, hides_blocks
from autotune.engines.mindie.installation import Installation
from autotune.engines.mindie.options import MindieOptions
from autotune.engines.mindie.production import LIVE_HINT
from autotune.engines.mindie.several_daemons import refuse_several_daemons
from autotune.engines.tls import Tls, client_context
from autotune.errors import Refused
from autotune.mindie_rules.bounds import batch_bounds
from autotune.mindie_rules.fields import (
    Field,
    dotted,
)
from autotune.model.service import Description, Fact
from autotune.process.environment import notable
from autotune.process.ports import listener

DEFAULT_BLOCK_SIZE = 128
CHIP = "chip"
"""Fact with the NPU's name, on which the bounds depend."""
LATENCY_POLICY = 2
"""Of stageSelectPolicy (3.x): 0 prefill first, 1 throughput, 2 latency; supportSelectBatch forces 1."""


def describe(installation: Installation, options: MindieOptions) -> Description:
    """Describe an install from its files."""
    config = installation.config.config
    emulated = installation.emulated
    return Description(
        kind="mindie",
        version=installation.version,
        place=str(installation.home),
        model_name=options.model_name or config.string(Field.MODEL_NAME) or "",
        incumbent=settings_of(config),
        block_size=config.number(Field.CACHE_BLOCK_SIZE) or DEFAULT_BLOCK_SIZE,
        max_link_num=options.max_link_num or config.number(Field.MAX_LINK_NUM),
        bounds_low=least_batch(config),
        bounds_high=batch_bounds(installation.version, options.chip).high,
        max_iter_times=config.number(Field.MAX_ITER_TIMES),
        max_input_token_len=config.number(Field.MAX_INPUT_TOKEN_LEN),
        config_path=str(installation.config.path),
        emulated=emulated is not None,
        time_scale=emulated.time_scale if emulated else 1.0,
        facts=(*_facts(installation, options), *notable(options.environment)),
    )


def least_batch(config: ConfigText) -> int:
    """The smallest maxBatchSize beside the other values: the daemon holds maxPreemptCount and maxN to it."""
    others = (config.number(field) for field in (Field.MAX_PREEMPT_COUNT, Field.MAX_N))
    return max(1, *(number for number in others if number is not None), 1)


def refuse_unusable(installation: Installation, options: MindieOptions, *, live: bool) -> None:
    """Raise Refused where a campaign on this install would be dangerous or would mean nothing.

    `live` says that a service on its ports is known.
    """
    check_install(options.environment, installation.home)
    refuse_unfit(installation.config.path, installation.config.config)
    if installation.addresses.scheme == "https":
        _refuse_certificates(installation, options.tls)
    if live:
        return
    for port in installation.addresses.ports:
        owner = listener(port)
        if owner is not None:
            raise Refused(str(owner), hint=LIVE_HINT)


def refuse_unfit(path: Path, config: ConfigText) -> None:
    """Raise Refused for a configuration with which readings of one daemon would mean nothing."""
    refuse_several_daemons(path, config)
    if config.flag(Field.DYNAMIC_BATCH_SIZE_ENABLE):
        key = dotted(config.path(Field.DYNAMIC_BATCH_SIZE_ENABLE))
        raise Refused(
            f"{path}: {key} is true: the service changes its batch size by itself",
            hint=f"set {key} to false, then tune maxBatchSize",
        )
    if config.number(Field.STAGE_SELECT_POLICY) == LATENCY_POLICY and not config.flag(
        Field.SUPPORT_SELECT_BATCH
    ):
        key = dotted(config.path(Field.STAGE_SELECT_POLICY))
        raise Refused(
            f"{path}: {key} is {LATENCY_POLICY}: the service schedules by latency targets, and "
            "supportSelectBatch true, which trials set, would override that without a word",
            hint=f"set {key} to 0 or 1 for throughput, or supportSelectBatch to true",
        )


def _refuse_certificates(installation: Installation, tls: Tls | None) -> None:
    """The service asks its clients for a certificate, so an authority alone does not serve."""
    if tls is None or tls.cert is None:
        raise Refused(
            f"{installation.config.path}: httpsEnabled is true, and the profile names no client certificate",
            hint="add to the profile: workload: {tls: {ca: ca.pem, cert: client.pem, key: client.key}}",
        )
    client_context(tls)


def _probing(installation: Installation, options: MindieOptions) -> str | None:
    hidden = options.probing and hides_blocks(installation.version, options.environment)
    return "one at INFO before the first launch, for the KV blocks; not measured" if hidden else None


def _facts(installation: Installation, options: MindieOptions) -> tuple[Fact, ...]:
    config = installation.config.config
    shown = (
        ("layout", config.layout.value),
        ("config_mode", options.config_mode.value),
        ("daemon", str(installation.executable)),
        ("addresses", f"{installation.addresses.business} {installation.addresses.management}"),
        ("devices", config.value(Field.NPU_DEVICE_IDS)),
        ("template", config.string(Field.TEMPLATE_TYPE)),
        ("probing_start", _probing(installation, options)),
        ("stage_select_policy", config.number(Field.STAGE_SELECT_POLICY)),
        ("max_preempt_count", config.number(Field.MAX_PREEMPT_COUNT) or None),
        ("model_weights", config.string(Field.MODEL_WEIGHT_PATH)),
        (CHIP, options.chip or None),
        ("cpus", ",".join(map(str, sorted(options.cpus))) if options.cpus else None),
    )
    return tuple(Fact(name=name, value=str(value)) for name, value in shown if value is not None)
