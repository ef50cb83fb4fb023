"""Examination: everything that the doctor looks at for one profile, in the order in which it is shown."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from autotune.campaign.doctor.check import Check, error, fine
from autotune.campaign.doctor.client_checks import client_checks, gather_client
from autotune.campaign.doctor.host_checks import gather_settings, host_check
from autotune.campaign.doctor.input_checks import dataset_check, gather_model, model_check
from autotune.campaign.doctor.link_checks import link_check, wanted_concurrency
from autotune.campaign.doctor.mindie_checks import mindie_facts
from autotune.campaign.doctor.npu_checks import NpuNeed, npu_checks, visible_devices
from autotune.campaign.doctor.port_checks import PortFacts, gather_ports, port_check, service_check
from autotune.campaign.doctor.run_checks import gather_runs, run_checks
from autotune.campaign.doctor.service_facts import ServiceFacts
from autotune.campaign.doctor.space_checks import gather_space, space_checks
from autotune.campaign.doctor.vllm_checks import vllm_facts
from autotune.campaign.guards import lock_path_of
from autotune.campaign.sides.service_environment import environment_of
from autotune.engines.mindie.options import SHARED_MEMORY
from autotune.errors import ProfileError, UsageError
from autotune.host.npu_facts import NpuFacts, read_npus
from autotune.profile.reading import LoadedProfile, parse_profile, read_profile
from autotune.profile.schema import Profile
from autotune.store.state import StateDirectory, locate

_NPU_SECONDS = 5.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Examination:
    """All checks of one profile."""

    profile: str
    engine: str
    emulated: bool
    checks: tuple[Check, ...]


def examine(path: Path, overrides: tuple[str, ...] = ()) -> Examination:
    """Look at everything that a campaign with this profile needs; touches nothing.

    Raises ProfileError for a profile that cannot be used; one that others can write is read all the same.
    """
    loaded, untrusted = _loaded(path, overrides)
    profile = loaded.profile
    environment, faults = _environment(profile)
    npus = cache(lambda: read_npus(seconds=_NPU_SECONDS, near_cpus=False))
    service = _service(profile, environment, npus)
    state = locate(profile.store.state, environment=os.environ, uid=os.geteuid())
    lock = lock_path_of(service.lock_place, state) if service.lock_place else None
    checks = (
        *faults,
        *service.checks,
        *(() if profile.engine.kind == "rehearsal" else _on_the_host(profile, service, state, npus)),
        dataset_check(profile.workload, wanted_concurrency(profile.workload, service.max_link_num)),
        *run_checks(gather_runs(path, untrusted, state, lock), uid=os.geteuid()),
    )
    return Examination(
        profile=profile.name, engine=profile.engine.kind, emulated=service.emulated, checks=checks
    )


def _loaded(path: Path, overrides: tuple[str, ...]) -> tuple[LoadedProfile, ProfileError | None]:
    try:
        return read_profile(path, overrides), None
    except ProfileError as refused:
        if not refused.hint.startswith(("chown", "chmod")):
            raise
        return parse_profile(path.read_text(encoding="utf-8-sig"), path=path, overrides=overrides), refused


def _environment(profile: Profile) -> tuple[Mapping[str, str], tuple[Check, ...]]:
    try:
        environment = environment_of(profile)
    except UsageError as fault:
        mend = fault.hint or "correct engine.environment in the profile"
        return dict(os.environ), (error("environment", fault.message, mend),)
    file = profile.engine.environment.file
    said = f"{len(environment)} variables from {file}" if file else "this shell's own"
    return environment, (fine("environment", said),)


def _service(profile: Profile, environment: Mapping[str, str], npus: Callable[[], NpuFacts]) -> ServiceFacts:
    match profile.engine.kind:
        case "mindie":
            return mindie_facts(profile, environment, npus)
        case "vllm":
            return vllm_facts(profile, environment)
        case "rehearsal":
            said = fine("install", f"virtual: preset {profile.engine.preset}")
            return ServiceFacts(checks=(said,), on_npu=False)


def _on_the_host(
    profile: Profile, service: ServiceFacts, state: StateDirectory, npus: Callable[[], NpuFacts]
) -> tuple[Check, ...]:
    workload, mindie = profile.workload, profile.engine.kind == "mindie"
    private = profile.engine.config_mode != "in-place"
    ports = gather_ports(service.ports)
    model = gather_model(profile.model.path or service.weights)
    client = gather_client(
        concurrency=wanted_concurrency(workload, service.max_link_num),
        port=service.ports[0] if service.ports else 0,
        source=workload.source if isinstance(workload.source, str) else "the load command",
        environments=(service.environment, os.environ),
    )
    space = gather_space(
        _places(profile, service, state), shared_memory=SHARED_MEMORY, weights_bytes=model.weights_bytes
    )
    ulimits, port_range, proxies = client_checks(client)
    links = link_check(
        workload,
        max_link_num=service.max_link_num,
        max_batch_size=service.max_batch_size,
        version=service.version,
        raised=profile.engine.raise_max_link_num,
    )
    return (
        port_check(ports, service=profile.engine.service, private=private),
        *service_check(profile.engine.service, service.environment),
        links,
        proxies,
        *space_checks(space),
        *npu_checks(npus() if service.on_npu else NpuFacts(), _need(service, ports)),
        model_check(model, mindie=mindie, emulated=service.emulated),
        ulimits,
        port_range,
        host_check(gather_settings(profile.host)),
    )


def _places(profile: Profile, service: ServiceFacts, state: StateDirectory) -> tuple[tuple[str, Path], ...]:
    places = [("the state directory", state.root), ("reports", profile.report.directory)]
    if service.edited_folder is not None:
        places.append(("the configuration", service.edited_folder))
    return tuple(places)


def _need(service: ServiceFacts, ports: PortFacts) -> NpuNeed:
    return NpuNeed(
        devices=service.devices,
        visible=visible_devices(service.environment.get("ASCEND_RT_VISIBLE_DEVICES")),
        needed=service.on_npu,
        live=bool(ports.owners),
    )
