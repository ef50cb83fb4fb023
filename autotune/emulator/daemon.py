"""The stand-in mindieservice_daemon: checks, loads, serves and ends as MindIE's own does."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import uvloop

from autotune.emulator import arguments, config_check, loading
from autotune.emulator.children import Children
from autotune.emulator.default_config import known_version
from autotune.emulator.install import connector_of
from autotune.emulator.lifecycle import complain, say
from autotune.emulator.logs import ServerLog
from autotune.emulator.marker import Emulation, count_launch, read_marker
from autotune.emulator.running_daemon import RunningDaemon, Start, bad_start
from autotune.emulator.served import read_served
from autotune.errors import UsageError
from autotune.mindie_rules import log_printing
from autotune.mindie_rules.checks import Rejected


def main(install: Path, argv: Sequence[str], environment: Mapping[str, str] = os.environ) -> int:
    """Run the daemon; it returns only when it could not begin, with exit code 255."""
    complain(log_printing.main_pid(os.getpid()))
    log = ServerLog(environment)
    try:
        os.setpgrp()
    except PermissionError as error:
        log.at_error("llm_daemon.cpp:412", f"Failed to set process group. errno is {error.errno}")
        return arguments.WRONG_EXIT
    try:
        options = arguments.parse(argv)
        emulation = read_marker(install)
    except UsageError as error:
        log.at_error("llm_daemon.cpp:371", error.message)
        complain(error.message)
        return arguments.WRONG_EXIT
    start = _check(install, emulation, options, environment, log)
    children = Children(orphans=emulation.faults.orphans)
    children.start_tokenizers(start.served.tokenizers)
    connector = connector_of(install, known_version(emulation.version))
    children.start_connectors(connector, start.served.world_size)
    uvloop.run(RunningDaemon(start, children, log, environment).run())
    return 0


def _check(
    install: Path,
    emulation: Emulation,
    options: Mapping[str, str],
    environment: Mapping[str, str],
    log: ServerLog,
) -> Start:
    """Check the configuration; a bad one ends the process."""
    path = config_check.config_path(options, environment, install)
    say(log_printing.load_config(str(path)))
    home = config_check.home(environment, install)
    checked = config_check.check_file(path, install=home, version=emulation.version)
    verdict = checked.verdict
    for line in verdict.lines:
        say(line)
    if isinstance(verdict, Rejected):
        for line in verdict.errors:
            complain(line)
        for line in verdict.logged:
            log.at_error("config_manager_impl.cpp:97", line)
        bad_start(log)
    say(log_printing.INIT_SUCCESS)
    launch = count_launch(install)
    provisional = read_served(checked.document, version=emulation.version, blocks=2)
    blocks = loading.kv_blocks(emulation, provisional.rules.max_prefill_tokens, launch)
    served = read_served(
        checked.document, version=emulation.version, blocks=blocks.scheduled, environment=environment
    )
    return Start(
        install=install,
        home=home,
        emulation=emulation,
        launch=launch,
        checked=checked,
        served=served,
        blocks=blocks,
    )
