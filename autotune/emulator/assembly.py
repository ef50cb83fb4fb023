"""Putting the running service together: scheduler, engine, interfaces and planes."""

import asyncio
import gc
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from autotune.emulator.ask import ReplyLengths
from autotune.emulator.clock import ServiceClock
from autotune.emulator.default_config import known_version
from autotune.emulator.engine_loop import EngineLoop
from autotune.emulator.fact_routes import FactRoutes
from autotune.emulator.foreign import ForeignRequests
from autotune.emulator.health_routes import HealthRoutes
from autotune.emulator.inference_routes import InferenceRoutes
from autotune.emulator.links import Links
from autotune.emulator.logs import ServerLog
from autotune.emulator.marker import Emulation, FaultWatch
from autotune.emulator.metrics_routes import MetricsRoutes
from autotune.emulator.model_routes import ModelRoutes
from autotune.emulator.plane import Handler, HttpPlane
from autotune.emulator.protocols.reply import Model
from autotune.emulator.served import Address, Served
from autotune.emulator.service import EmulatedService, Identity
from autotune.emulator.step_times import StepTimes
from autotune.emulator.stopping_routes import StoppingRoutes
from autotune.emulator.tally import Tally
from autotune.emulator.timer import PreciseTimer
from autotune.emulator.tls import server_context
from autotune.emulator.trace import Trace
from autotune.mindie_rules.json_text import JsonValue
from autotune.simulator.mindie import MindieScheduler
from autotune.simulator.noise import Noise
from autotune.simulator.presets import Preset, preset

_BODY_BYTES_NEW: Final = 40 * 1024**2
_BODY_BYTES_OLD: Final = 512 * 1024**2
_OLD_VLLM_TOKENS: Final = 16


@dataclass(frozen=True, kw_only=True, slots=True)
class AssemblyFacts:
    """What the parts are made of."""

    emulation: Emulation
    served: Served
    launch: int
    document: JsonValue
    home: Path
    clock: ServiceClock
    watch: FaultWatch
    log: ServerLog
    environment: Mapping[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Assembly:
    """A service that listens."""

    service: EmulatedService
    planes: tuple[HttpPlane, ...]
    trace: Trace
    foreign: ForeignRequests

    def finish(self, emulation: Emulation) -> None:
        """Write what was recorded."""
        self.foreign.stop()
        self.trace.close()
        if emulation.statistics:
            self.service.engine.punctuality.write(emulation.statistics)


async def assemble(facts: AssemblyFacts, *, stop: Callable[[], None], kill: Callable[[], None]) -> Assembly:
    """Make the service and let it listen.

    `stop` ends it as SIGTERM does, `kill` at once. Raises OSError when an address cannot be had, and
    UsageError when a certificate cannot be used.
    """
    chosen = preset(facts.emulation.model)
    trace = Trace(facts.emulation.trace)
    engine = _engine(facts, chosen, trace)
    loop = asyncio.get_running_loop()
    engine.attach(PreciseTimer(loop, engine.step))
    service = _service(facts, chosen, engine)
    planes = _planes(facts, service, stop=stop, kill=kill)
    for plane in planes:
        context = server_context(facts.document, facts.home, plane.name) if facts.served.https else None
        await plane.listen(context)
    foreign = ForeignRequests(engine, lambda: facts.watch.now, seed=facts.emulation.seed)
    foreign.start()
    gc.collect()
    gc.freeze()
    return Assembly(service=service, planes=planes, trace=trace, foreign=foreign)


def _engine(facts: AssemblyFacts, chosen: Preset, trace: Trace) -> EngineLoop:
    emulation = facts.emulation
    noise = chosen.noise if emulation.noise is None else Noise(step=emulation.noise)
    times = StepTimes(
        chosen.cost,
        noise,
        seed=emulation.seed,
        launch=facts.launch,
        faults=lambda: facts.watch.now,
    )
    scheduler = MindieScheduler(facts.served.rules)
    return EngineLoop(scheduler, times.seconds, facts.clock, tally=Tally(), trace=trace)


def _service(facts: AssemblyFacts, chosen: Preset, engine: EngineLoop) -> EmulatedService:
    emulation, served = facts.emulation, facts.served
    version = known_version(emulation.version)
    shape = chosen.shape
    if emulation.mean_output_tokens is not None:
        shape = replace(shape, output_tokens=emulation.mean_output_tokens)
    old = (version.major, version.minor) < (2, 3)
    model = Model(
        name=served.model_name,
        max_input_tokens=served.max_input_token_len,
        truncation=served.truncation != 0,
        max_iter_times=served.rules.max_iter_times,
        vllm_default_tokens=_OLD_VLLM_TOKENS if old else served.rules.max_iter_times,
        full_text=served.full_text,
        benchmark=facts.environment.get("MINDIE_LLM_BENCHMARK_ENABLE") in ("1", "2"),
        seed=emulation.seed,
    )
    return EmulatedService(
        engine,
        served,
        model,
        Identity(version=emulation.version, major=version.major, minor=version.minor),
        lengths=ReplyLengths(shape, emulation.seed),
        watch=facts.watch,
        log=facts.log,
    )


def _planes(
    facts: AssemblyFacts, service: EmulatedService, *, stop: Callable[[], None], kill: Callable[[], None]
) -> tuple[HttpPlane, ...]:
    """The planes with their routes; those with the same address are one."""
    served = facts.served
    active = facts.environment.get("MIES_SERVICE_MONITOR_MODE") == "1"
    business = InferenceRoutes(service).routes() | ModelRoutes(service).routes()
    management = HealthRoutes(service).routes() | FactRoutes(service).routes()
    management |= StoppingRoutes(service, kill=kill, end=stop).routes()
    wanted: tuple[tuple[str, Address, dict[tuple[str, str], Handler]], ...] = (
        ("", served.business, business),
        ("management", served.management, management),
        ("metrics", served.metrics, MetricsRoutes(service, active=active).routes()),
    )
    planes: dict[Address, HttpPlane] = {}
    for name, address, routes in wanted:
        if address not in planes:
            links = Links(served.max_link_num)
            planes[address] = HttpPlane(name, address, links, facts.log, _body_bytes(facts.emulation))
        planes[address].add(routes)
    return tuple(planes.values())


def _body_bytes(emulation: Emulation) -> int:
    new = known_version(emulation.version).major >= 3  # noqa: PLR2004 - maxRequestLength came with 3.x
    return _BODY_BYTES_NEW if new else _BODY_BYTES_OLD
