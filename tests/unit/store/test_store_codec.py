import json
import math

import pytest
from hypothesis import HealthCheck, given, settings

from autotune.model.campaign import Campaign
from autotune.model.change import Change, FileChanged, ProcessStarted
from autotune.model.launch import BudgetLeft
from autotune.model.measurement import Invalid, InvalidReason, Level
from autotune.model.settings import Settings
from autotune.store.codec import Unreadable, decode, encode

from .model_values import CAMPAIGN, LAUNCH, LEVEL

PROCESS = ProcessStarted(pid=4, create_time=1.5, boot_id="b", command="./bin/mindieservice_daemon")


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(CAMPAIGN)
def test_a_campaign_comes_back_equal_through_json_text(campaign):
    text = json.dumps(encode(campaign, Campaign))
    assert decode(json.loads(text), Campaign) == campaign


@given(LEVEL)
def test_a_level_says_what_it_is(level):
    document = encode(level, Level)
    assert document["$type"] == type(level).__name__
    assert decode(document, Level) == level


@given(LAUNCH)
def test_strict_json_readers_take_every_document(launch):
    json.dumps(encode(launch, type(launch)), allow_nan=False)


def test_an_endless_budget_is_written_as_text():
    document = encode(BudgetLeft(launches=3), BudgetLeft)
    assert document == {"launches": 3, "seconds": "inf"}
    assert decode(document, BudgetLeft).seconds == math.inf


def test_a_bool_never_becomes_an_int():
    settings = Settings(max_batch_size=500, support_select_batch=True)
    back = decode(encode(settings, Settings), Settings)
    assert back.support_select_batch is True
    with pytest.raises(Unreadable):
        decode({"max_batch_size": True}, Settings)


def test_a_missing_field_takes_its_default():
    assert decode({"max_batch_size": 435}, Settings) == Settings(max_batch_size=435)


@pytest.mark.parametrize(
    ("document", "shape", "words"),
    [
        ({}, Settings, "max_batch_size"),
        ({"max_batch_size": 1, "max_batch_width": 2}, Settings, "max_batch_width"),
        ({"$type": "Campaign", "concurrency": 1, "reason": "stalled"}, Level, "Measurement"),
        ({"$type": "Invalid", "concurrency": 1, "reason": "bad mood"}, Level, "bad mood"),
        ({"concurrency": 1, "reason": "stalled"}, Level, "is not"),
        ([1], Settings, "is not Settings"),
    ],
)
def test_another_document_is_refused_with_its_place(document, shape, words):
    with pytest.raises(Unreadable, match=words):
        decode(document, shape)


def test_a_value_of_another_shape_is_never_written():
    with pytest.raises(TypeError):
        encode(Invalid(concurrency=1, reason=InvalidReason.STALLED), FileChanged)


def test_changes_are_told_apart():
    assert decode(encode(PROCESS, Change), Change) == PROCESS
