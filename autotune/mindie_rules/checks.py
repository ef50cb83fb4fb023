"""The service's own check of config.json, before it is started: accepted, or refused in its exact words.

The rules are those of the checker of 3.x (May 2026), from the public source of MindIE-LLM and from verdicts
that it gave. Older versions differ in bounds, and in the fields that they ask for.
"""

from dataclasses import dataclass
from typing import Final, TypeVar

from autotune.mindie_rules.bounds import batch_bounds, link_bounds
from autotune.mindie_rules.checking.backend import Backend, check_backend, needs_rank_table, read_backend
from autotune.mindie_rules.checking.console import (
    INIT_EXCEPTION,
    Console,
    Thrown,
    contains,
    json_error,
    member,
    type_name,
)
from autotune.mindie_rules.checking.file import FileFacts, check_file
from autotune.mindie_rules.checking.models import Model, check_models, read_models
from autotune.mindie_rules.checking.schedule import Schedule, check_schedule, read_schedule
from autotune.mindie_rules.checking.server import Server, check_server, read_server
from autotune.mindie_rules.checking.surroundings import PathKind, Surroundings
from autotune.mindie_rules.checking.together import check_together
from autotune.mindie_rules.json_text import JsonValue, MalformedJson, parse

__all__ = ["Accepted", "FileFacts", "PathKind", "Rejected", "Surroundings", "Verdict", "check_config"]

_Section = TypeVar("_Section")

CHECKING_FAILED: Final = f"{INIT_EXCEPTION}[ConfigManager] Checking Config Failed"
_NEWEST: Final = "3.0"
_INVALID_JSON: Final = "Json file is invalid. Please check json format! "
_NO_TIMEOUT_FLAG: Final = (
    "The configName EnableDynamicAdjustTimeoutConfig is not found, using default value false. "
    "If you need to customize this configuration item, please add it to the config file."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Accepted:
    """The service starts with this file."""

    lines: tuple[str, ...] = ()
    """What it prints all the same, on standard output."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rejected:
    """The service refuses this file and kills itself."""

    lines: tuple[str, ...]
    """What it prints on standard output, repeated lines once. Empty when the fault goes to its log only."""
    errors: tuple[str, ...] = ()
    """What it prints on standard error, repeated lines once."""
    logged: tuple[str, ...] = ()
    """What it writes to its log only."""
    notices: tuple[str, ...] = ()
    """Those of `lines` that tell of no fault."""
    last_words: str = ""
    """A line that it prints up to 10 s later, if it is not killed before: it waits for a thread."""

    @property
    def said(self) -> tuple[str, ...]:
        """All that is surely printed."""
        return self.lines + self.errors

    @property
    def reason(self) -> str:
        """The first line that says why."""
        words = (*self.lines, *self.errors, *self.logged)
        faults = (word for word in words if word not in self.notices)
        return next(faults, "the service refuses this configuration and prints no reason")


Verdict = Accepted | Rejected


def check_config(
    text: str,
    facts: FileFacts | None = None,
    surroundings: Surroundings | None = None,
    *,
    version: str = _NEWEST,
) -> Verdict:
    """Check a config.json as the service does when it starts.

    `text` is the file's content, decoded as UTF-8 with `errors="surrogateescape"`. `version` sets the bounds
    of maxBatchSize and maxLinkNum. What `surroundings` does not tell is taken for right.
    """
    return _Check(text, facts or FileFacts(), surroundings or Surroundings(), Console(), version).verdict()


@dataclass(frozen=True, slots=True)
class _Check:
    text: str
    facts: FileFacts
    surroundings: Surroundings
    console: Console
    version: str

    def verdict(self) -> Verdict:
        try:
            passed = self.passes()
        except Thrown as thrown:
            self.console.say(thrown.line)
            return self.rejected()
        if passed:
            return Accepted(lines=_once(self.console.output))
        return self.rejected(last_words=CHECKING_FAILED)

    def rejected(self, last_words: str = "") -> Rejected:
        return Rejected(
            lines=_once(self.console.output),
            errors=_once(self.console.errors),
            logged=_once(self.console.logged),
            notices=_once(self.console.notices),
            last_words=last_words,
        )

    def passes(self) -> bool:
        document = self.document()
        server = _or_throw(read_server(self.console, self.section(document, "ServerConfig")), "ServerConfig")
        section = self.section(document, "BackendConfig")
        backend = _or_throw(read_backend(self.console, section), "BackendConfig")
        schedule = _or_throw(read_schedule(self.console, member(section, "ScheduleConfig")), "ScheduleConfig")
        models = _or_throw(self.models(section, schedule), "ModelDeployConfig")
        if backend.several_nodes or schedule.distributed:
            needs_rank_table(self.console, usable=self.surroundings.rank_table_usable)
        if not contains(document, "EnableDynamicAdjustTimeoutConfig"):
            self.console.notice(_NO_TIMEOUT_FLAG)
        if not all(model.weight_path for model in models):
            return self.console.log("modelWeightPath is no folder of mode 750 with a readable config.json")
        if not server.decoded:
            return False
        return self.values(server, backend, schedule, models)

    def document(self) -> JsonValue:
        size = self.facts.size
        if size is None:
            size = len(self.text.encode("utf-8", "surrogateescape"))
        if not check_file(self.console, self.facts, size):
            raise _initialising("ServerConfig")
        try:
            return parse(self.text).value
        except MalformedJson:
            self.console.say(_INVALID_JSON)
            raise _initialising("ServerConfig") from None

    def section(self, document: JsonValue, name: str) -> JsonValue:
        if isinstance(document, dict) and name in document:
            return document[name]
        if isinstance(document, dict):
            fault = json_error(403, "out_of_range", f"key '{name}' not found")
        else:
            fault = json_error(304, "type_error", f"cannot use at() with {type_name(document)}")
        self.console.say(f"{name}: {fault}")
        raise _initialising(name)

    def models(self, section: JsonValue, schedule: Schedule) -> tuple[Model, ...] | None:
        return read_models(
            self.console,
            member(section, "ModelDeployConfig"),
            template_type=schedule.text("templateType"),
            surroundings=self.surroundings,
        )

    def values(self, server: Server, backend: Backend, schedule: Schedule, models: tuple[Model, ...]) -> bool:
        batch_high, links_high = batch_bounds(self.version).high, link_bounds(self.version).high
        results = [
            check_schedule(self.console, schedule, batch_high=batch_high),
            check_models(self.console, models),
            check_server(self.console, server, self.surroundings, links_high=links_high),
            check_backend(self.console, backend),
            server.number("port") != backend.inter_node_port
            or self.console.refuse("Endpoint port cannot be equal to multiNodesInferPort."),
            *[self.together(schedule, model) for model in models],
        ]
        return all(results)

    def together(self, schedule: Schedule, model: Model) -> bool:
        return check_together(
            self.console,
            schedule,
            cpu_mem_size=model.cpu_mem_size,
            max_input_token_len=model.max_input_token_len,
        )


def _initialising(section: str) -> Thrown:
    return Thrown(f"{INIT_EXCEPTION}Failed to initialize {section} from JSON.")


def _or_throw(read: _Section | None, name: str) -> _Section:
    if read is None:
        raise _initialising(name)
    return read


def _once(lines: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(lines))
