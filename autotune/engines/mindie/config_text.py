"""config.json as text: strict reading, and values spliced into it so that every other byte stays."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from autotune.engines.mindie.config_places import known_layout, missing, place_of_fault
from autotune.errors import Refused, UsageError
from autotune.mindie_rules.bounds import link_bounds
from autotune.mindie_rules.fields import (
    Field,
    Layout,
    dotted,
    path_of,
    place_of,
    read,
    read_bool,
    read_int,
    read_text,
    value_at,
)
from autotune.mindie_rules.json_faults import diagnose
from autotune.mindie_rules.json_text import Document, JsonValue, KeyPath, MalformedJson, parse, place_at
from autotune.mindie_rules.schedule_faults import schedule_faults
from autotune.model.settings import Settings

Scalar = bool | int | str
"""What can be spliced in."""

_KNOBS: Final[Mapping[str, Field]] = {
    "max_batch_size": Field.MAX_BATCH_SIZE,
    "max_prefill_batch_size": Field.MAX_PREFILL_BATCH_SIZE,
    "max_prefill_tokens": Field.MAX_PREFILL_TOKENS,
    "prefill_time_ms_per_req": Field.PREFILL_TIME_MS_PER_REQ,
    "decode_time_ms_per_req": Field.DECODE_TIME_MS_PER_REQ,
    "support_select_batch": Field.SUPPORT_SELECT_BATCH,
    "max_queue_delay_microseconds": Field.MAX_QUEUE_DELAY_MICROSECONDS,
    "max_link_num": Field.MAX_LINK_NUM,
}
_MENDS: Final = (
    (("of param", "should be bool"), "write true or false, without quotes"),
    (("of param",), "write it with digits alone, without quotes, sign, point or exponent"),
    (("cpuMemSize",), "set maxPreemptCount to 0, or cpuMemSize above 0"),
    (("maxPreemptCount",), "lower maxPreemptCount in the service's own configuration"),
    (("maxInputTokenLen",), "raise maxPrefillTokens to maxInputTokenLen at least"),
    (("maxN",), "lower maxN"),
)
"""Words of the service's messages, and what mends each."""
_WITHIN: Final = "keep the value within these bounds"
_OUTER_BLANKS: Final = " \t\r\n"


@dataclass(frozen=True, kw_only=True, slots=True)
class ConfigText:
    """A text that was read: the service takes it for JSON, and it means one thing only."""

    text: str
    document: Document
    layout: Layout

    def value(self, field: Field) -> JsonValue:
        """The field's value; None when it is absent or null."""
        return read(self.document.value, field)

    def number(self, field: Field) -> int | None:
        """The field when it is a whole number, else None."""
        return read_int(self.document.value, field)

    def string(self, field: Field) -> str | None:
        """The field when it is a string, else None."""
        return read_text(self.document.value, field)

    def flag(self, field: Field) -> bool | None:
        """The field when it is true or false, else None."""
        return read_bool(self.document.value, field)

    def has(self, field: Field) -> bool:
        """Whether the file holds the field, so that it can be set."""
        return place_of(self.document.value, field) is not None

    def path(self, field: Field) -> KeyPath:
        """Where the file holds the field.

        Raises Refused when it does not: a field is never added in a guessed place.
        """
        path = place_of(self.document.value, field)
        if path is None:
            raise missing(self.text, self.document, path_of(field, self.layout))
        return path


def read_config_text(text: str) -> ConfigText:
    """Read a config.json strictly.

    Raises Refused, with line, column and the mend, for what the service would refuse or silently misread:
    comments, trailing commas, NaN, repeated keys, text behind the end, members without braces.
    """
    document = parse(text)
    rest = text[document.end :]
    if rest.strip(_OUTER_BLANKS):
        offset = document.end + len(rest) - len(rest.lstrip(_OUTER_BLANKS))
        raise MalformedJson(text, diagnose(text, offset, "the end of the file"))
    if document.repeated:
        again = document.repeated[0]
        key, place = dotted(again.path), place_at(text, again.offset)
        raise Refused(
            f"{place}: {key} stands there a second time; the service silently takes the last",
            hint="remove one of the two lines",
        )
    return ConfigText(text=text, document=document, layout=known_layout(text, document))


def edit(text: str, values: Mapping[KeyPath, Scalar]) -> str:
    """The text with the values at these paths replaced; every other character stays.

    Raises Refused when the text cannot be read, or holds no such path or an object or a list there.
    """
    config = read_config_text(text)
    changes = sorted(((_span(config, path), value) for path, value in values.items()), reverse=True)
    edited = text
    for (start, end), value in changes:
        edited = edited[:start] + _written(value) + edited[end:]
    _hold_against(config, read_config_text(edited), values)
    return edited


def _span(config: ConfigText, path: KeyPath) -> tuple[int, int]:
    span = config.document.spans.get(path)
    if span is None:
        raise missing(config.text, config.document, path)
    if isinstance(value_at(config.document.value, path), list | dict):
        place = place_at(config.text, span.start)
        raise Refused(f"{place}: {dotted(path)} is no single value", hint="write one value in its place")
    return span.start, span.end


def _written(value: Scalar) -> str:
    return json.dumps(value, ensure_ascii=False)


def _hold_against(before: ConfigText, after: ConfigText, values: Mapping[KeyPath, Scalar]) -> None:
    """The edited text must differ in the named values and in nothing else."""
    old, new = before.document, after.document
    for path in old.spans:
        leaf = not isinstance(value_at(old.value, path), list | dict)
        wanted = values.get(path, value_at(old.value, path))
        if leaf and (value_at(new.value, path) != wanted or path not in new.spans):
            raise Refused(f"{dotted(path)} did not come out of the edit as it should")
    if set(old.spans) != set(new.spans):
        raise Refused("the edit added or removed keys")


def edit_fields(text: str, values: Mapping[Field, Scalar]) -> str:
    """The text with these fields replaced, wherever its layout keeps them. Raises Refused as `edit` does."""
    config = read_config_text(text)
    return edit(text, {config.path(field): value for field, value in values.items()})


def edit_settings(text: str, settings: Settings, *, version: str = "", chip: str = "") -> str:
    """The text with the settings written in one go, checked in the service's own terms before the start.

    What the settings leave None stays as it is, but for a maxPrefillBatchSize that the new maxBatchSize does
    not hold: it becomes half of it, and at least 1. Raises Refused with the service's own words when it would
    not start with the result, UsageError for settings that MindIE does not have.
    """
    config = read_config_text(text)
    values = {config.path(_KNOBS[name]): value for name, value in _values(config, settings).items()}
    edited = edit(text, values)
    faults = (
        *_link_faults(settings, version),
        *schedule_faults(parse(edited).value, version=version, chip=chip),
    )
    if faults:
        section = path_of(Field.MAX_BATCH_SIZE, config.layout)[:-1]
        place = place_of_fault(config.text, config.document, section, faults[0], written=values)
        raise Refused(f"{place}the service would refuse these values: {faults[0]}", hint=_mend(faults[0]))
    return edited


def _link_faults(settings: Settings, version: str) -> tuple[str, ...]:
    """In the service's words; links that a file holds already are not judged."""
    links, bounds = settings.max_link_num, link_bounds(version)
    if links is None or bounds.holds(links):
        return ()
    return (f"serverConfig.maxLinkNum [{links}] is out of bound [{bounds.high}]",)


def _values(config: ConfigText, settings: Settings) -> dict[str, Scalar]:
    values: dict[str, Scalar] = dict(settings.as_dict())
    unknown = sorted(set(values) - set(_KNOBS))
    if unknown:
        raise UsageError(f"not a setting of MindIE: {', '.join(unknown)}")
    if settings.max_prefill_batch_size == 0:
        raise Refused(
            "maxPrefillBatchSize 0 would mean: the same as maxBatchSize",
            hint="set it to 1 at least",
        )
    kept = config.number(Field.MAX_PREFILL_BATCH_SIZE)
    if settings.max_prefill_batch_size is None and kept is not None and kept > settings.max_batch_size:
        values["max_prefill_batch_size"] = max(1, settings.max_batch_size // 2)
    return values


def _mend(fault: str) -> str:
    return next((mend for parts, mend in _MENDS if all(part in fault for part in parts)), _WITHIN)


def settings_of(config: ConfigText) -> Settings:
    """The settings that the file holds now. Raises Refused when it has no maxBatchSize."""
    batch = config.number(Field.MAX_BATCH_SIZE)
    if batch is None:
        raise _no_batch(config)
    return Settings(
        max_batch_size=batch,
        max_prefill_batch_size=config.number(Field.MAX_PREFILL_BATCH_SIZE),
        max_prefill_tokens=config.number(Field.MAX_PREFILL_TOKENS),
        prefill_time_ms_per_req=config.number(Field.PREFILL_TIME_MS_PER_REQ),
        decode_time_ms_per_req=config.number(Field.DECODE_TIME_MS_PER_REQ),
        support_select_batch=config.flag(Field.SUPPORT_SELECT_BATCH),
        max_queue_delay_microseconds=config.number(Field.MAX_QUEUE_DELAY_MICROSECONDS),
    )


def _no_batch(config: ConfigText) -> Refused:
    path = path_of(Field.MAX_BATCH_SIZE, config.layout)
    span = config.document.spans.get(path)
    if span is None:
        return missing(config.text, config.document, path)
    place, found = place_at(config.text, span.start), config.text[span.start : span.end][:20]
    return Refused(
        f"{place}: {dotted(path)} is {found}, which is no whole number",
        hint="write it with digits alone, without quotes, point or exponent",
    )


def same_but_for_logging(one: str, other: str) -> bool:
    """Whether two texts hold the same configuration, LogConfig left aside.

    The service itself rewrites LogConfig when a log level that was set for some hours runs out; that is
    nobody's edit. False when one of them cannot be read.
    """
    first, second = _whole_document(one), _whole_document(other)
    return first is not None and first == second


def _whole_document(text: str) -> dict[str, JsonValue] | None:
    """The document of a text that holds nothing else, LogConfig left out."""
    try:
        document = parse(text)
    except MalformedJson:
        return None
    if text[document.end :].strip(_OUTER_BLANKS) or not isinstance(document.value, dict):
        return None
    return {key: value for key, value in document.value.items() if key != "LogConfig"}
