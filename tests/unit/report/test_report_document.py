import json
from pathlib import Path

import jsonschema
import pytest

from autotune.model.move import VerdictCode
from autotune.report.document import SCHEMA_VERSION, document_text, report_document, schema
from autotune.report.texts.languages import LANGUAGES, language
from tests.docs.report_json import keys, page

from . import example_campaigns as examples
from .stored_campaigns import NAMES, stored

EVERY = [
    examples.guide(),
    examples.with_failures(),
    examples.interrupted(),
    examples.incumbent_stays(),
    examples.hostile(),
    examples.vllm(),
    *[examples.ended_as(code) for code in VerdictCode],
]
CONTRACT_KEYS = {
    "schema_version",
    "verdict",
    "incumbent",
    "best",
    "gain",
    "gain_low",
    "launches",
    "bracket",
    "restored",
    "applied",
    "emulated",
    "environment",
}


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize("campaign", EVERY, ids=lambda campaign: campaign.run)
def test_every_document_keeps_to_the_shipped_schema(campaign, code):
    document = json.loads(document_text(report_document(campaign, language(code))))
    jsonschema.Draft202012Validator.check_schema(schema())
    jsonschema.validate(document, schema())
    assert document["schema_version"] == SCHEMA_VERSION


def test_the_keys_that_programs_rely_on_are_there():
    document = report_document(examples.guide(), language("en"))
    assert set(document) >= CONTRACT_KEYS
    assert document["verdict"]["code"] == "improved"
    assert document["incumbent"]["settings"]["max_batch_size"] == 435
    assert document["best"]["tokens_per_second"] == 2982.5
    assert (document["gain"], document["gain_low"]) == (0.047, 0.039)
    assert document["bracket"] | {"start_prefill": 0} == {
        "low": 362,
        "start": 435,
        "high": 1088,
        "start_prefill": 0,
        "blocks": 2176,
        "source": "log",
    }
    third = document["launches"][2]
    assert (third["purpose"], third["outcome"], third["blocks"]) == ("candidate", "ended", 2176)
    assert third["reason"] == "next multiple of 100"
    assert third["levels"][0]["preemptions"] == 118
    assert set(third["seconds"]) == {"start", "warm_up", "measure", "stop"}


def test_a_level_that_is_invalid_has_no_number():
    document = report_document(examples.with_failures(), language("en"))
    (level,) = document["launches"][5]["levels"]
    assert level["invalid"] == "stalled"
    assert level["tokens_per_second"] is None


def test_only_the_texts_depend_on_the_language():
    english = report_document(examples.guide(), language("en"))
    chinese = report_document(examples.guide(), language("zh"))
    for document in (english, chinese):
        document["verdict"].pop("text")
        document.pop("next_step")
    assert english == chinese


def test_an_endless_interval_is_written_as_null():
    assert '"half_width": null' in document_text({"half_width": float("inf")})


def test_a_log_line_of_a_megabyte_is_cut_and_counted():
    text = document_text(report_document(examples.hostile(), language("en")))
    assert len(text) < 100_000
    assert "\x1b" not in text
    assert "\u202e" not in text


@pytest.mark.parametrize("name", NAMES)
def test_documents_of_real_runs_keep_to_the_schema(name):
    document = json.loads(document_text(report_document(stored(name), language("en"))))
    jsonschema.validate(document, schema())


def test_what_was_expected_of_a_launch_is_in_its_decision():
    document = report_document(examples.with_failures(), language("en"))
    assert [decision["expected"] for decision in document["decisions"]][2:4] == [
        None,
        {"tokens_per_second": 2940.0, "half_width": 0.03},
    ]


def test_every_key_is_explained_on_the_page_of_the_docs():
    place = Path(__file__).parents[3] / "docs" / "report-json.md"
    assert all(words for *_, words in keys(schema(), ""))
    assert place.read_text(encoding="utf-8") == page(), "make docs"
