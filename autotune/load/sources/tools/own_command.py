"""A user's own load test: any command, and where in its output the tokens a second stand."""

import json
import re
from typing import Any
from urllib.parse import urlsplit

from autotune.errors import UsageError
from autotune.load.sources.json_place import parse_place, value_at_place
from autotune.load.sources.reading import BenchmarkReading, UnreadableOutput
from autotune.load.sources.tool import ToolCommand, ToolJob, ToolSetting
from autotune.mindie_rules.tables import number_in

_TOOL = "own command"
_NAMES = ("url", "host", "port", "model", "concurrency", "requests", "rate", "directory")
_PLACE = re.compile(r"\{(\w+)\}")


class OwnCommand:
    """Its words may hold {url}, {host}, {port}, {model}, {concurrency}, {requests}, {rate} and {directory}.

    The same values stand in its environment as AUTOTUNE_URL and so on. Only the speed is known of such a
    test; an exit code other than 0 makes it none.
    """

    name = "command"
    in_service_time = False
    sends_all = False

    def __init__(self, setting: ToolSetting, *, words: tuple[str, ...], value: str) -> None:
        self._setting = setting
        self._words = words
        self._value = value

    def check(self) -> None:
        """Raise UsageError for an expression that can't be one, and for unknown places."""
        if self._value.startswith("$"):
            parse_place(self._value)
        elif _expression(self._value).groups != 1:
            raise UsageError(
                f"workload.source.value: {self._value!r} needs exactly one group",
                hint=r"value: 'throughput: ([\d.]+)'",
            )
        unknown = {name for word in self._words for name in _PLACE.findall(word)} - set(_NAMES)
        if unknown:
            raise UsageError(
                f"workload.source.command: nothing is known of {{{min(unknown)}}}",
                hint=f"one of {', '.join(_NAMES)}",
            )

    def command(self, job: ToolJob) -> ToolCommand:
        """The words with their places filled; no shell is used."""
        place = urlsplit(job.url)
        values = {
            "url": job.url,
            "host": place.hostname or "",
            "port": str(place.port or ""),
            "model": job.model,
            "concurrency": str(job.concurrency),
            "requests": str(job.requests),
            "rate": "" if job.rate is None else f"{job.rate:g}",
            "directory": str(job.directory),
        }
        words = (_PLACE.sub(lambda match: values[match[1]], word) for word in self._words[1:])
        environment = {f"AUTOTUNE_{name.upper()}": value for name, value in values.items()}
        return ToolCommand(argv=(self._setting.program, *words), environment=environment)

    def reading(self, job: ToolJob, output: str) -> BenchmarkReading:
        """The last match, or the place in the last JSON document that was printed."""
        del job
        speed = self._from_json(output) if self._value.startswith("$") else self._from_text(output)
        if speed is None or not 0 < speed < float("inf"):
            raise UnreadableOutput(
                f"{_TOOL}: its output holds no speed at {self._value!r}",
                hint="try the expression on what the command prints",
            )
        return BenchmarkReading(tool=_TOOL, output_tokens_per_second=speed, completed=0, failed=0, requests=0)

    def _from_text(self, output: str) -> float | None:
        found = _expression(self._value).findall(output)
        return number_in(found[-1]) if found else None

    def _from_json(self, output: str) -> float | None:
        document = _last_document(output)
        value = value_at_place(document, parse_place(self._value)) if document is not None else None
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            return None
        return number_in(value) if isinstance(value, str) else float(value)


def _expression(text: str) -> "re.Pattern[str]":
    try:
        return re.compile(text, re.MULTILINE)
    except re.error as error:
        raise UsageError(f"workload.source.value: {text!r} is no regular expression: {error}") from error


def _last_document(output: str) -> Any:
    """The whole output, else the last line or block that is one; None when none is."""
    decoder = json.JSONDecoder()
    starts = [match.start() for match in re.finditer(r"^\s*[\[{]", output, re.MULTILINE)]
    end, found = -1, None
    for start in starts:
        if start < end:
            continue  # within the document before
        text = output[start:].lstrip()
        try:
            found, length = decoder.raw_decode(text)
        except ValueError:
            continue
        end = len(output) - len(text) + length
    return found
