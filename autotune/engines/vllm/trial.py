"""Trial: what one launch runs, made from the command or script found, and checked before it is started."""

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from autotune.engines.vllm.facts import ServerFacts, facts_of, gears_for
from autotune.engines.vllm.flags import Flag
from autotune.engines.vllm.motor_config import MotorConfig
from autotune.engines.vllm.script import Script
from autotune.engines.vllm.serving import GEAR_LIST, CommandLine, Serving
from autotune.engines.vllm.start_checks import check_settings
from autotune.errors import LaunchCause, LaunchFailed
from autotune.model.settings import Settings
from autotune.process.environment import without_proxies
from autotune.process.ports import choose_free

LOOPBACK = "127.0.0.1"
DEPLOYED = "the file describes prefill and decode instances that their own deployer starts"
SCRIPT_NAME = "run_vllm.sh"
"""Managed inference services fix it."""
_INTERPRETER = re.compile(r"#!\s*(\S+)[ \t]*([^\r\n]*)")
_SHELLS = ("/bin/bash", "/usr/bin/bash", "/bin/sh")


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """What one launch is started with."""

    settings: Settings
    serving: Serving
    facts: ServerFacts
    """Of the trial: its address, its values."""
    environment: Mapping[str, str]


def edited(serving: Serving, settings: Settings, found: Settings, facts: ServerFacts) -> Serving:
    """The command with these settings; as found where they are those found."""
    if settings == found:
        return serving
    values = {Flag.MAX_NUM_SEQS: str(settings.max_batch_size)}
    tokens = settings.max_num_batched_tokens
    if tokens is not None and tokens != facts.max_num_batched_tokens:
        values[Flag.MAX_NUM_BATCHED_TOKENS] = str(tokens)
    changed = serving.with_flags(values)
    if not facts.gears:
        return changed
    return changed.with_assignment(GEAR_LIST, gears_for(facts.gears, settings.max_batch_size))


def plan_trial(
    serving: Serving,
    settings: Settings,
    found: Settings,
    environment: Mapping[str, str],
    *,
    keep_address: bool,
) -> Trial:
    """Make what a launch runs; without `keep_address` it listens on a free loopback port.

    Raises LaunchFailed(CONFIG), in vLLM's own words, for values that it would refuse.
    """
    facts = facts_of(serving, environment)
    if settings != found:
        check_settings(settings, facts)
    changed = edited(serving, settings, found, facts)
    if not keep_address:
        (port,) = choose_free(1)
        changed = changed.with_flags({Flag.HOST: LOOPBACK, Flag.PORT: str(port)})
    env = without_proxies(environment)
    if facts.gears and settings != found and GEAR_LIST not in serving.assignments:
        env[GEAR_LIST] = gears_for(facts.gears, settings.max_batch_size)
    return Trial(settings=settings, serving=changed, facts=facts_of(changed, env), environment=env)


def argv_of(trial: Trial, directory: Path) -> tuple[str, ...]:
    """The program and its words; a script is written into `directory` first, and run from there.

    Raises LaunchFailed when there is no such program.
    """
    match trial.serving:
        case CommandLine(words=words):
            return (program(words[0], trial.environment), *words[1:])
        case Script(text=text):
            return (*_interpreter(text, trial.environment), str(_written(text, directory)))
        case MotorConfig():
            raise LaunchFailed(LaunchCause.CONFIG, DEPLOYED, lines=(DEPLOYED,))


def program(name: str, environment: Mapping[str, str]) -> str:
    """Look a program up in the PATH of `environment`. Raises LaunchFailed when there is none."""
    found = shutil.which(name, path=environment.get("PATH"))
    if found is None:
        message = f"there is no command {name}"
        raise LaunchFailed(LaunchCause.CONFIG, message, lines=(message,))
    return str(Path(found).absolute())


def _interpreter(text: str, environment: Mapping[str, str]) -> tuple[str, ...]:
    """The words of the interpreter line; the usual shell where there is none."""
    found = _INTERPRETER.match(text)
    if found is None:
        return (next(shell for shell in _SHELLS if Path(shell).exists()),)
    argument = found[2].strip()
    return (program(found[1], environment), *([argument] if argument else ()))


def _written(text: str, directory: Path) -> Path:
    path = directory / SCRIPT_NAME
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o700)
    with os.fdopen(handle, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
        file.write(text)
    return path
