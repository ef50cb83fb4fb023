"""Whatever is stored can be reported: no campaign makes a renderer fail."""

import dataclasses
import json

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autotune.report.document import document_text, report_document, schema
from autotune.report.html import page
from autotune.report.markdown import markdown_text
from autotune.report.redact import redacted
from autotune.report.reproduce import reproduce_text
from autotune.report.sections import build
from autotune.report.table import launches_csv
from autotune.report.texts.languages import language

from ..store.model_values import CAMPAIGN  # noqa: TID252 - no second copy


def tame(value):
    """The same with every real number between 0 and a million million, as clocks and rates give them."""
    if isinstance(value, float):
        return min(abs(value), 1e12)
    if isinstance(value, tuple):
        return tuple(map(tame, value))
    if dataclasses.is_dataclass(value):
        named = {field.name: tame(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return dataclasses.replace(value, **named)
    return value


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(CAMPAIGN.map(tame), st.sampled_from(["en", "zh"]))
def test_any_campaign_is_rendered_in_every_form(campaign, code):
    words = language(code)
    for shown in (campaign, redacted(campaign)):
        report = build(shown, words)
        assert page(report, shown, words).startswith("<!DOCTYPE html>")
        assert markdown_text(report, shown, words).startswith("# ")
        assert reproduce_text(shown, words).startswith("# ")
        assert launches_csv(shown).startswith("launch,")
        document = json.loads(document_text(report_document(shown, words)))
        jsonschema.validate(document, schema())
