"""MindIE: its install, its configuration as it would judge it itself, who may read and write it."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from autotune.campaign.doctor.certificate_checks import certificate_check
from autotune.campaign.doctor.check import Check, advice, error, fine
from autotune.campaign.doctor.service_facts import ServiceFacts
from autotune.engines.mindie.addresses import addresses_of
from autotune.engines.mindie.config_file import ConfigFile, WrongRights, read
from autotune.engines.mindie.config_text import ConfigText, settings_of
from autotune.engines.mindie.daemon_environment import check_install
from autotune.engines.mindie.description import refuse_unfit
from autotune.engines.mindie.installation import config_path, executable_of, version_of
from autotune.engines.mindie.marker import Emulated, read_marker
from autotune.engines.mindie.several_daemons import refuse_deployer
from autotune.errors import Refused
from autotune.host.npu_facts import NpuFacts
from autotune.mindie_rules.bounds import batch_bounds, parse_version
from autotune.mindie_rules.checks import Rejected, check_config
from autotune.mindie_rules.fields import Field, devices
from autotune.mindie_rules.json_text import place_at
from autotune.mindie_rules.schedule_faults import schedule_faults
from autotune.process.environment import notable
from autotune.profile.schema import Profile

_CHECKED_WHOLE = 3
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Install:
    home: Path
    version: str
    emulated: Emulated | None
    environment: Mapping[str, str]


def mindie_facts(
    profile: Profile, environment: Mapping[str, str], npus: Callable[[], NpuFacts]
) -> ServiceFacts:
    """Look at the install and at its configuration; touches nothing. An emulated one has no NPUs to ask."""
    home = profile.engine.home
    if not home.is_dir():
        mend = "set engine.home to the mindie-service directory, or: autotune emulate --install DIR"
        return ServiceFacts(checks=(error("install", f"there is no MindIE service at {home}", mend),))
    try:
        refuse_deployer(home)
        emulated = read_marker(home)
    except Refused as refused:
        return ServiceFacts(checks=(_told("install", refused),))
    version = version_of(home) or (emulated.version if emulated else "")
    chips = () if emulated else npus().chips
    install = _Install(home=home, version=version, emulated=emulated, environment=environment)
    path = config_path(home, environment)
    in_place = profile.engine.config_mode == "in-place"
    try:
        config = read(path)
    except Refused as refused:
        name = "permissions" if isinstance(refused, WrongRights) else "config"
        return ServiceFacts(
            checks=(_install_check(install), _told(name, refused)),
            environment=environment,
            emulated=emulated is not None,
            lock_place=str(path),
        )
    checks = (
        _install_check(install),
        _config_check(config, version, chips[0].name if chips else ""),
        _permissions(config, in_place=in_place),
        *_foreign_home(environment),
        *certificate_check(
            config.config, home, profile.workload.tls, private=not in_place, environment=environment
        ),
    )
    return _with_config(checks, install, config, in_place=in_place)


def _with_config(
    checks: tuple[Check, ...], install: _Install, config: ConfigFile, *, in_place: bool
) -> ServiceFacts:
    fields = config.config
    weights = fields.string(Field.MODEL_WEIGHT_PATH)
    return ServiceFacts(
        checks=checks,
        environment=install.environment,
        ports=addresses_of(config.document, install.environment).ports,
        max_batch_size=fields.number(Field.MAX_BATCH_SIZE),
        max_link_num=fields.number(Field.MAX_LINK_NUM),
        version=install.version,
        weights=Path(weights) if weights else None,
        devices=tuple(number for group in devices(config.document) for number in group),
        on_npu=install.emulated is None,
        emulated=install.emulated is not None,
        lock_place=str(config.path),
        edited_folder=config.path.parent if in_place else None,
    )


def _told(name: str, refused: Refused) -> Check:
    return error(name, refused.message, refused.hint)


def _install_check(install: _Install) -> Check:
    try:
        program = executable_of(install.home)
        check_install(install.environment, install.home)
    except Refused as refused:
        return _told("install", refused)
    if not parse_version(install.version):
        fact = f"{program}; no file tells its version, so the bounds are those before 3.0"
        return advice("install", fact, f"ls {install.home}/version.info {install.home.parent}/version.info")
    scale = install.emulated.time_scale if install.emulated else 1.0
    faster = "" if scale == 1 else f", {scale:g} times faster than real"
    kind = f", EMULATED{faster}" if install.emulated else ""
    loader = [fact.name for fact in notable(install.environment) if fact.name.startswith("LD_")]
    given = f"; its environment sets {', '.join(loader)}" if loader else ""
    return fine("install", f"MindIE {install.version} at {install.home}{kind}{given}")


def _config_check(config: ConfigFile, version: str, chip: str) -> Check:
    text = config.config
    try:
        refuse_unfit(config.path, text)
        settings = settings_of(text)
    except Refused as refused:
        return _told("config", refused)
    fault = _fault(config, version, chip)
    if fault:
        fact = f"{config.path}{_place(text, fault)}: the service would refuse it: {fault}"
        return error("config", fact, f"correct it in {config.path}")
    high = batch_bounds(version, chip).high
    prefill = settings.max_prefill_batch_size
    return fine(
        "config",
        f"{config.path}: maxBatchSize {settings.max_batch_size} (at most {high}), "
        f"maxPrefillBatchSize {prefill}, layout {text.layout.value}",
    )


def _fault(config: ConfigFile, version: str, chip: str) -> str:
    """What the service would say first; of all sections where its version's checker is known (3.x)."""
    known = parse_version(version)
    if known is not None and known.major >= _CHECKED_WHOLE:
        verdict = check_config(config.text, version=version)
        if isinstance(verdict, Rejected):
            return verdict.reason
    return next(iter(schedule_faults(config.document, version=version, chip=chip)), "")


def _place(text: ConfigText, fault: str) -> str:
    """Where the file holds the first field that the fault names."""
    words = _WORD.findall(fault)
    for word in words:
        for path, span in text.document.spans.items():
            if path and str(path[-1]).lower() == word.lower():
                return f" ({place_at(text.text, span.start)})"
    return ""


def _foreign_home(environment: Mapping[str, str]) -> tuple[Check, ...]:
    """What a trial writes into the home of another user, production could not write any more."""
    home = Path(environment.get("HOME", ""))
    try:
        owner = home.stat().st_uid if home.is_absolute() else os.geteuid()
    except OSError:
        return ()
    if owner == os.geteuid():
        return ()
    fact = (
        f"HOME of the service's environment, {home}, is that of uid {owner}: logs that a trial leaves there "
        f"would belong to uid {os.geteuid()}, and a service of that user could not write them any more"
    )
    mend = (
        f"run as that user: sudo -u '#{owner}' autotune ...; or capture the environment as the trials' user"
    )
    return (advice("permissions", fact, mend),)


def _permissions(config: ConfigFile, *, in_place: bool) -> Check:
    folder = config.path.parent
    if in_place and not os.access(folder, os.W_OK | os.X_OK) and not os.access(config.path, os.W_OK):
        fact = f"{config.path} and its folder cannot be written by you, and config_mode is in-place"
        return error("permissions", fact, "run as the owner of the file, or: engine: {config_mode: private}")
    if in_place and not os.access(folder, os.W_OK | os.X_OK):
        fact = f"{folder} cannot be written, so {config.path.name} is written in place and not as a whole"
        return advice("permissions", fact, f"chmod u+w {folder}")
    how = "edited in place and put back" if in_place else "only read; trials use a copy of it"
    return fine("permissions", f"mode {config.mode:o}, uid {config.uid}, as the service wants it; {how}")
