"""Configurations: reading config.json, splicing values into it, and the daemon's own verdict."""

import contextlib
import json

from autotune.engines.mindie.addresses import addresses_of
from autotune.engines.mindie.config_text import (
    ConfigText,
    edit_fields,
    edit_settings,
    read_config_text,
    same_but_for_logging,
    settings_of,
)
from autotune.errors import Refused
from autotune.mindie_rules.checks import Accepted, Surroundings, check_config
from autotune.mindie_rules.fields import Field
from autotune.mindie_rules.json_text import JsonValue, MalformedJson, parse
from autotune.model.settings import Settings
from tests.fuzz.choices import Choices, steered
from tests.fuzz.target import Target, golden, text_of, words_of

NUMBERS = (
    Field.MAX_BATCH_SIZE,
    Field.MAX_PREFILL_BATCH_SIZE,
    Field.MAX_PREFILL_TOKENS,
    Field.PREFILL_TIME_MS_PER_REQ,
    Field.DECODE_TIME_MS_PER_REQ,
    Field.SUPPORT_SELECT_BATCH,
    Field.MAX_QUEUE_DELAY_MICROSECONDS,
    Field.IP_ADDRESS,
    Field.MANAGEMENT_IP_ADDRESS,
    Field.PORT,
    Field.MANAGEMENT_PORT,
    Field.METRICS_PORT,
    Field.MAX_LINK_NUM,
)
"""What the tool ever writes."""
BASE = golden("config_checks", "base.json")[0]
WORDS = words_of("configs")


def _same(ours: JsonValue, theirs: object) -> bool:
    """Equal in value and in kind: true is not 1 and 1 is not 1.0."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(_same(ours[key], theirs[key]) for key in ours)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(_same, ours, theirs))
    return type(ours) is type(theirs) and ours == theirs


def _wide(text: str) -> object:
    """A whole number as the daemon holds it: what 64 bits do not hold is a double."""
    whole = int(text) if len(text) < 21 else 2**64
    return whole if -(2**63) <= whole < 2**64 else float(text)


def read_any(data: bytes) -> None:
    """What is read means the same to a second parser, and every value stands where its span says."""
    text = text_of(data)
    try:
        config = read_config_text(text)
    except MalformedJson as fault:
        assert 0 <= fault.offset <= len(text)
        assert fault.hint
        return
    except Refused as refused:
        assert refused.hint
        return
    again = json.loads(text.removeprefix("\ufeff"), parse_int=_wide)
    assert _same(config.document.value, again), "another parser reads other values"
    for path, span in config.document.spans.items():
        piece = parse(text[span.start : span.end])
        assert piece.end == span.end - span.start, f"the span of {path} is not one value"
    assert same_but_for_logging(text, text)
    addresses_of(config.document.value)
    with contextlib.suppress(Refused):
        settings_of(config)


def _chosen(data: bytes) -> tuple[ConfigText, dict[Field, bool | int | str]] | None:
    choices = Choices(data)
    count = choices.whole(1, 5)
    named = {choices.one(NUMBERS): choices.whole(0, 2**32) for _ in range(count)}
    try:
        config = read_config_text(text_of(choices.rest() or BASE))
    except Refused:
        return None
    values: dict[Field, bool | int | str] = {}
    for field, number in named.items():
        before = config.value(field)
        if config.has(field) and not isinstance(before, list | dict):
            values[field] = f"10.0.0.{number % 256}" if isinstance(before, str) else number
            if isinstance(before, bool):
                values[field] = bool(number % 2)
    return config, values


def splice_any(data: bytes) -> None:
    """Edit then undo gives the same bytes; the edited text differs in the named values alone."""
    chosen = _chosen(data)
    if chosen is None:
        return
    config, values = chosen
    text = config.text
    edited = edit_fields(text, values)
    after = read_config_text(edited)
    at = end = 0
    for path, value in sorted(
        ((config.path(field), value) for field, value in values.items()),
        key=lambda item: config.document.spans[item[0]].start,
    ):
        before, now = config.document.spans[path], after.document.spans[path]
        assert edited[end : now.start] == text[at : before.start], "something else was changed"
        assert json.loads(edited[now.start : now.end]) == value
        at, end = before.end, now.end
    assert edited[end:] == text[at:], "something behind the last value was changed"
    undone = edited
    for path in {config.path(field) for field in values}:
        span, was = read_config_text(undone).document.spans[path], config.document.spans[path]
        undone = undone[: span.start] + text[was.start : was.end] + undone[span.end :]
    assert undone == text
    assert undone.encode("utf-8", "surrogateescape") == text.encode("utf-8", "surrogateescape")


def _wanted(choices: Choices) -> Settings:
    small = choices.whole(0, 1)
    high = 400 if small else 2**21
    return Settings(
        max_batch_size=choices.whole(0, high),
        max_prefill_batch_size=choices.whole(0, high) if choices.whole(0, 1) else None,
        max_prefill_tokens=choices.whole(0, 2**23) if choices.whole(0, 1) else None,
        prefill_time_ms_per_req=choices.whole(0, 1100) if choices.whole(0, 1) else None,
        decode_time_ms_per_req=choices.whole(0, 1100) if choices.whole(0, 1) else None,
        support_select_batch=bool(choices.whole(0, 1)) if choices.whole(0, 1) else None,
        max_queue_delay_microseconds=choices.whole(0, 2**21) if choices.whole(0, 1) else None,
    )


def _daemon_takes(text: str) -> bool:
    return isinstance(check_config(text, surroundings=Surroundings(), version="3.0"), Accepted)


def write_any(data: bytes) -> None:
    """What the daemon refuses we refuse: written settings start wherever the file started before."""
    choices = Choices(data)
    settings = _wanted(choices)
    text = text_of(choices.rest() or BASE)
    try:
        config = read_config_text(text)
    except Refused:
        return
    try:
        edited = edit_settings(text, settings, version="3.0")
    except Refused:
        return
    assert _daemon_takes(edited) or not _daemon_takes(text), "the daemon would refuse what was written"
    written = settings_of(read_config_text(edited)).as_dict()
    for name, value in settings.as_dict().items():
        assert written[name] == value
    assert same_but_for_logging(text, edited) == (settings_of(config).as_dict() == written)


def daemon_any(data: bytes) -> None:
    """A text that the daemon cannot parse is refused by us, with line and column."""
    text = text_of(data)
    verdict = check_config(text, surroundings=Surroundings(), version="3.0")
    if isinstance(verdict, Accepted):
        return
    assert verdict.reason
    if not any("Json file is invalid" in line for line in verdict.said):
        return
    try:
        read_config_text(text)
    except Refused as refused:
        assert refused.message.startswith("line ")
        return
    raise AssertionError("the daemon refuses a text that we took")


def _texts() -> tuple[bytes, ...]:
    return (*golden("configs", "c*.json"), BASE)


CONFIG_READING = Target(
    name="config.json, reading",
    law="a second parser reads the same; every span is its value",
    check=read_any,
    seeds=_texts,
    words=WORDS,
)
CONFIG_SPLICING = Target(
    name="config.json, splicing",
    law="edit then undo is identity; only the named values differ",
    check=splice_any,
    seeds=lambda: [steered(number % 5, *range(20), body=text) for number, text in enumerate(_texts())],
    words=WORDS,
)
CONFIG_WRITING = Target(
    name="config.json, settings",
    law="what the daemon refuses is refused before it is written",
    check=write_any,
    seeds=lambda: [steered(1, 0, 200, 1, 0, 50, 1, 0, 32, 0, 0, 0, 0, 0, body=text) for text in _texts()],
    words=WORDS,
)
CONFIG_VERDICT = Target(
    name="config.json, verdict",
    law="what is no JSON to the daemon is none to us",
    check=daemon_any,
    seeds=_texts,
    words=WORDS,
)
