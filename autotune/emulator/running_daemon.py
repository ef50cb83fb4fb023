"""RunningDaemon: the daemon from loading to its end, inside the event loop."""

import asyncio
import os
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, NoReturn

from autotune.emulator import config_check, loading, log_config_rewrite
from autotune.emulator.assembly import Assembly, AssemblyFacts, assemble
from autotune.emulator.children import Children
from autotune.emulator.clock import ServiceClock
from autotune.emulator.config_check import Checked
from autotune.emulator.default_config import known_version
from autotune.emulator.lifecycle import Ending, complain, kill_own_group, say
from autotune.emulator.logs import ServerLog
from autotune.emulator.marker import Emulation, FaultWatch
from autotune.emulator.port_probe import why_busy
from autotune.emulator.served import Address, Served
from autotune.emulator.shared_memory import SharedFiles
from autotune.errors import UsageError
from autotune.mindie_rules import log_printing

_TICK_SECONDS: Final = 0.5
_MOST_LAG: Final = 1.0
"""Seconds of the host."""
_HEALTH_WINDOW: Final = 0.05
"""Seconds between the listening ports and a healthy service, in which health answers 503."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Start:
    """All that is known when the configuration has passed."""

    install: Path
    home: Path
    emulation: Emulation
    launch: int
    checked: Checked
    served: Served
    blocks: loading.KvBlocks


def bad_start(log: ServerLog) -> NoReturn:
    """A start that fails: it says so in the log and kills its own group."""
    log.audit("system", "start endpoint", "fail")
    log.audit("system", "Start mindie server", "fail")
    log.at_error("llm_daemon.cpp:322", log_printing.START_FAILED)
    log.flush()
    kill_own_group()


class RunningDaemon:
    """From loading to the end, inside the event loop."""

    def __init__(
        self, start: Start, children: Children, log: ServerLog, environment: Mapping[str, str]
    ) -> None:
        self._start = start
        self._children = children
        self._log = log
        self._environment = environment
        self._clock = ServiceClock(start.emulation.time_scale)
        self._watch = FaultWatch(start.install, start.emulation.faults)
        self._shared = SharedFiles(start.install)
        major = known_version(start.emulation.version).major
        self._ending = Ending(children, self._clock, log, self._shared, major=major)
        self._assembly: Assembly | None = None
        self._next_rewrite = 0.0
        self._warned = False
        self._end_task: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Load, listen, and serve until the end."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._signalled, number)
        for descriptor in self._children.descriptors():
            loop.add_reader(descriptor, self._child_noticed, descriptor)
        self._shared.create(ranks=self._start.served.world_size, tokenizers=self._start.served.tokenizers)
        await self._load()
        await self._listen()
        self._log.buffered = True
        while True:
            await asyncio.sleep(_TICK_SECONDS)
            self._tick()

    async def _load(self) -> None:
        faults = self._start.emulation.faults
        seconds = self._start.emulation.start_seconds * faults.slow_start
        await self._pause(seconds)
        while self._watch.now.start_hang:
            await asyncio.sleep(_TICK_SECONDS)
            self._watch.refresh()
        lines = loading.failure_lines(self._start.served, faults, self._log)
        for line in lines:
            self._log.line("llm", "ERROR", line)
            complain(line)
        if faults.start_failure == "exit":
            self._log.flush()
            os._exit(1)
        if lines or faults.start_failure:
            self._bad_start()
        loading.log_blocks(self._log, self._start.served, self._start.blocks)

    async def _pause(self, seconds: float) -> None:
        """Let time pass, but not beyond the end of the sequence that a signal has begun."""
        await asyncio.sleep(self._clock.host_seconds(seconds))
        if self._ending.begun:
            await asyncio.Event().wait()

    def _bad_start(self) -> None:
        if not self._ending.begun:
            self._shared.remove_own()
            bad_start(self._log)

    async def _listen(self) -> None:
        served = self._start.served
        for address in dict.fromkeys((served.management, served.business, served.metrics)):
            busy = why_busy(address.port, self._clock.scale)
            if busy:
                self._port_busy(address, busy)
        try:
            self._assembly = await assemble(self._start_facts(), stop=self._end, kill=kill_own_group)
        except OSError as error:
            self._port_busy(served.business, error.strerror or str(error))
        except UsageError as error:
            self._log.at_error("http_ssl.cpp:120", error.message)
            complain(error.message)
            self._bad_start()
        assert self._assembly is not None
        self._assembly.service.crash = self._children.kill_one
        await asyncio.sleep(self._clock.host_seconds(_HEALTH_WINDOW))
        self._log.audit("system", "Start mindie server", "success")
        self._log.at_info("llm_daemon.cpp:328", log_printing.START_SUCCESS)
        say(log_printing.START_SUCCESS)
        self._assembly.service.become_healthy(time.time())

    def _start_facts(self) -> AssemblyFacts:
        start = self._start
        return AssemblyFacts(
            emulation=start.emulation,
            served=start.served,
            launch=start.launch,
            document=start.checked.document,
            home=start.home,
            clock=self._clock,
            watch=self._watch,
            log=self._log,
            environment=self._environment,
        )

    def _port_busy(self, address: Address, why: str) -> None:
        lines = log_printing.port_busy(self._log.stamp(), address=address.host, port=address.port)
        first = f"Socket bind failed, bind_result is -1. {why}"
        for line in (first, lines[1]):
            self._log.at_error("http_server.cpp:240", line)
        for line in lines[2:]:
            self._log.line("server", "ERROR", line)
        self._bad_start()

    def _tick(self) -> None:
        if self._assembly is not None:
            self._assembly.service.tick()
            self._warn_of_lag(self._assembly.service.engine.lag)
        self._child_ended()
        self._log.flush()
        now = self._clock.now()
        if now >= self._next_rewrite:
            self._next_rewrite = now + log_config_rewrite.INTERVAL_SECONDS
            self._rewrite()

    def _warn_of_lag(self, lag: float) -> None:
        """Say once that the host cannot keep the pace, since every reading is then too low."""
        if lag > _MOST_LAG and not self._warned:
            self._warned = True
            scale = self._start.emulation.time_scale
            complain(
                f"EMULATED: {lag:.1f} s late; this host is too slow for time_scale {scale:g} at this load"
            )

    def _rewrite(self) -> None:
        if not config_check.older_than(known_version(self._start.emulation.version), "2.3.RC1"):
            log_config_rewrite.rewrite(self._start.home / "conf" / "config.json", datetime.now().astimezone())

    # --- the end

    def _signalled(self, number: signal.Signals) -> None:
        if self._watch.now.deaf or self._ending.begun:
            return
        self._log.at_warn("llm_daemon.cpp:212", f"Received exit signal[{int(number)}]")
        self._end()

    def _end(self) -> None:
        self._begin_end(quiet=True)

    def _begin_end(self, *, quiet: bool) -> None:
        if self._ending.begun:
            return
        self._ending.begun = True
        if self._assembly is not None:
            self._assembly.service.healthy = False
            self._assembly.finish(self._start.emulation)
        self._end_task = asyncio.ensure_future(self._ending.run(quiet=quiet))

    def _child_noticed(self, descriptor: int) -> None:
        asyncio.get_running_loop().remove_reader(descriptor)
        os.close(descriptor)
        self._child_ended()

    def _child_ended(self) -> None:
        if self._ending.begun:
            return
        for child in self._children.reap():
            self._log.at_warn("llm_daemon.cpp:251", f"Process {child.pid} exited")
            if child.code < 0:
                name = signal.strsignal(-child.code) or "Unknown signal"
                self._log.at_error(
                    "llm_daemon.cpp:265",
                    log_printing.child_died(pid=child.pid, signal=-child.code, name=name),
                )
            if child.badly:
                self._begin_end(quiet=False)
