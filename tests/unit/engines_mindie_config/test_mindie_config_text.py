"""Values spliced into config.json, and the faults that keep a file from being touched."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.engines.mindie.config_text import (
    edit,
    edit_fields,
    edit_settings,
    read_config_text,
    same_but_for_logging,
    settings_of,
)
from autotune.errors import Refused, UsageError
from autotune.mindie_rules.fields import Field, Layout
from autotune.model.settings import Settings

CONFIGS = Path(__file__).parents[2] / "golden" / "configs"
READABLE = [
    "c02_rc1_chatglm3_6b_tp2",
    "c09_rc3_mindformers_llama32_mbs30",
    "c22_llm_server_20251222",
    "c26_llm_server_head",
    "c27_ut_config_dynamicbatch",
    "c31_ut_utils_plugin_params",
    "c45_A3_single_dsv3",
    "c54_pd_motor_user_config_A2",
    "c59_rc2_default_no_trailing_newline",
]
NUMBERS = [
    Field.MAX_BATCH_SIZE,
    Field.MAX_PREFILL_BATCH_SIZE,
    Field.MAX_PREFILL_TOKENS,
    Field.PREFILL_TIME_MS_PER_REQ,
    Field.DECODE_TIME_MS_PER_REQ,
    Field.MAX_QUEUE_DELAY_MICROSECONDS,
    Field.MAX_ITER_TIMES,
    Field.PORT,
]


def text_of(name):
    return (CONFIGS / f"{name}.json").read_bytes().decode()


TEXTS = {name: text_of(name) for name in READABLE}


@st.composite
def edits(draw):
    """A published file, and new values for some of the fields that it holds."""
    text = TEXTS[draw(st.sampled_from(READABLE))]
    if draw(st.booleans()):
        text = "\ufeff" + text.replace("\n", "\r\n")
    config = read_config_text(text)
    fields = [field for field in NUMBERS if config.has(field)]
    chosen = draw(st.lists(st.sampled_from(fields), min_size=1, unique=True))
    values = {field: draw(st.integers(0, 10**6)) for field in chosen}
    if config.has(Field.MODEL_NAME):
        values[Field.MODEL_NAME] = draw(st.text(max_size=6))
    return text, values


@settings(max_examples=40, deadline=None)
@given(edits())
def test_edit_and_edit_back_gives_the_same_bytes(case):
    text, values = case
    config = read_config_text(text)
    before = {field: config.value(field) for field in values}
    assert edit_fields(edit_fields(text, values), before) == text


@settings(max_examples=40, deadline=None)
@given(edits())
def test_an_edit_changes_the_named_values_and_no_other_byte(case):
    text, values = case
    config = read_config_text(text)
    edited = edit_fields(text, values)
    spans = sorted((config.document.spans[config.path(field)].start, field.value) for field in values)
    at = end = 0
    for start, name in spans:
        written = json.dumps(values[Field(name)], ensure_ascii=False)
        assert edited.startswith(text[at:start] + written, end)
        end += start - at + len(written)
        at = config.document.spans[config.path(Field(name))].end
    assert edited[end:] == text[at:]
    assert read_config_text(edited).value(Field.NPU_DEVICE_IDS) == config.value(Field.NPU_DEVICE_IDS)


@pytest.mark.parametrize("name", READABLE)
def test_a_published_file_keeps_its_line_ends_and_its_missing_final_newline(name):
    text = TEXTS[name]
    batch = settings_of(read_config_text(text)).max_batch_size
    edited = edit_fields(text, {Field.MAX_BATCH_SIZE: batch + 300})
    assert edited.endswith("\n") == text.endswith("\n")
    assert re.sub(r'("maxBatchSize"\s*:\s*)\d+', r"\1", edited) == re.sub(
        r'("maxBatchSize"\s*:\s*)\d+', r"\1", text
    )


def test_json_inside_a_string_stays_as_it_is():
    edited = edit_fields(TEXTS["c45_A3_single_dsv3"], {Field.MAX_BATCH_SIZE: 300})
    assert r'"{\"plugin_type\":\"mtp\",\"num_speculative_tokens\": 1}"' in edited


def test_in_a_p_d_file_only_the_decode_half_changes():
    edited = edit_settings(
        TEXTS["c54_pd_motor_user_config_A2"], Settings(max_batch_size=100, max_prefill_batch_size=8)
    )
    document = json.loads(edited)
    decode = document["mindie_server_decode_config"]["BackendConfig"]["ScheduleConfig"]
    prefill = document["mindie_server_prefill_config"]["BackendConfig"]["ScheduleConfig"]
    assert (decode["maxBatchSize"], decode["maxPrefillBatchSize"]) == (100, 8)
    assert prefill["maxPrefillBatchSize"] == 16


@pytest.mark.parametrize(
    ("name", "place", "fault", "mend"),
    [
        ("c12_rc3_modelarts_inline_comments", "line 20, column 33", "a comment", "remove the comment"),
        ("c13_910a_comments_partial_fields", "line 11, column 33", "a comment", "remove the comment"),
        ("c43_dsr1_readme_multinode", "line 19, column 30", "a comment", "remove the comment"),
        ("c56_aisbench_dsr1_2node_hash_comment", "line 78, column 56", "a comment", "remove the comment"),
        ("c60_rc1_inline_slash_comments", "line 12, column 49", "a comment", "remove the comment"),
        ("c17_mixed_generation_wrong_nesting", "line 6, column 28", "a comma before }", "remove the comma"),
        ("c19_motor_benchmark_mock_trailing_comma_nulls", "line 31, column 71", "a comma before }", "comma"),
        ("c16_multinode_jsonc_fragment", "line 1, column 1", "an excerpt", "the whole config.json"),
        ("c20_motor_perf_doc_typo_keys", "line 1, column 4", "an excerpt", "the whole config.json"),
        ("c35_doc_kv_cache_pool_mooncake", "line 1, column 5", "an excerpt", "the whole config.json"),
        ("c37_doc_mtp_plugin_params", "line 1, column 5", "an excerpt", "the whole config.json"),
        ("c38_doc_splitfuse_Mix_trailing_comma", "line 1, column 13", "an excerpt", "the whole config.json"),
        ("c39_doc_thinking_budget_CRLF", "line 1, column 6", "an excerpt", "the whole config.json"),
        ("c50_doc_long_sequence", "line 4, column 7", "`...` stands for lines", "the whole file"),
    ],
)
def test_what_the_service_would_refuse_is_refused_with_its_place_and_its_mend(name, place, fault, mend):
    with pytest.raises(Refused) as caught:
        read_config_text(text_of(name))
    assert caught.value.message.startswith(f"{place}: {fault}")
    assert mend in caught.value.hint


def test_a_configuration_of_vllm_is_refused():
    with pytest.raises(Refused, match="vLLM"):
        read_config_text(text_of("c64_pymotor_vllm_user_config_dsv31"))


def test_a_repeated_key_is_refused_where_it_stands_again():
    text = '{"BackendConfig": {"ScheduleConfig": {"maxBatchSize": 1,\n  "maxBatchSize": 2}}}'
    with pytest.raises(Refused, match=r"line 2, column 3: BackendConfig\.ScheduleConfig\.maxBatchSize"):
        read_config_text(text)


def test_text_behind_the_end_is_refused_though_the_service_passes_over_it():
    with pytest.raises(Refused, match="text behind the end") as caught:
        read_config_text(TEXTS["c26_llm_server_head"] + "}\n")
    assert "does not read it" in caught.value.hint


def test_a_missing_field_is_never_added_in_a_guessed_place():
    with pytest.raises(Refused, match=r"mindie_server_decode_config\..* has no supportSelectBatch"):
        edit_fields(TEXTS["c54_pd_motor_user_config_A2"], {Field.SUPPORT_SELECT_BATCH: True})


def test_an_object_is_no_value_to_replace():
    with pytest.raises(Refused, match=r"line \d+, column \d+: .* is no single value"):
        edit(TEXTS["c26_llm_server_head"], {("BackendConfig", "ScheduleConfig"): 1})


def test_both_batch_sizes_are_written_in_one_go():
    edited = edit_settings(
        TEXTS["c26_llm_server_head"],
        Settings(max_batch_size=30, max_prefill_batch_size=15, support_select_batch=True),
    )
    now = settings_of(read_config_text(edited))
    assert (now.max_batch_size, now.max_prefill_batch_size, now.support_select_batch) == (30, 15, True)
    assert '"supportSelectBatch": true' in edited.replace(" :", ":")


@pytest.mark.parametrize(("batch", "prefill"), [(1, 1), (2, 1), (49, 24), (50, 50), (500, 50)])
def test_a_prefill_batch_that_the_new_batch_does_not_hold_is_halved_and_never_zero(batch, prefill):
    edited = edit_settings(TEXTS["c26_llm_server_head"], Settings(max_batch_size=batch), version="3.0")
    if batch < 128:
        assert settings_of(read_config_text(edited)).max_prefill_batch_size == prefill


def test_a_prefill_batch_of_zero_is_refused_since_it_would_mean_the_whole_batch():
    with pytest.raises(Refused, match="the same as maxBatchSize"):
        edit_settings(TEXTS["c26_llm_server_head"], Settings(max_batch_size=100, max_prefill_batch_size=0))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (Settings(max_batch_size=0), "scheduleParam.maxBatchSize [0] is less than [1]"),
        (Settings(max_batch_size=6000), "scheduleParam.maxBatchSize [6000] is out of bound [5000]"),
        (
            Settings(max_batch_size=100, max_prefill_batch_size=101),
            "scheduleParam.maxPrefillBatchSize [101] is out of bound [100]",
        ),
        (
            Settings(max_batch_size=200, max_prefill_tokens=1024),
            "The value of maxPrefillTokens should not be less than maxInputTokenLen.",
        ),
        (
            Settings(max_batch_size=200, prefill_time_ms_per_req=2000),
            "scheduleParam.prefillTimeMsPerReq [2000] is out of bound [1000]",
        ),
        (
            Settings(max_batch_size=200, max_queue_delay_microseconds=50),
            "scheduleParam.maxQueueDelayMicroseconds [50] is less than [500]",
        ),
    ],
)
def test_values_that_the_service_would_refuse_are_refused_in_its_own_words(values, words):
    with pytest.raises(Refused) as caught:
        edit_settings(TEXTS["c26_llm_server_head"], values, version="2.3.0")
    assert words in caught.value.message
    assert caught.value.hint


def test_a_batch_below_max_preempt_count_is_refused_before_the_start():
    with pytest.raises(Refused, match="maxPreemptCount cannot be set greater") as caught:
        edit_settings(TEXTS["c02_rc1_chatglm3_6b_tp2"], Settings(max_batch_size=150))
    assert "maxPreemptCount" in caught.value.hint


def test_an_oldest_layout_is_edited_at_its_own_paths():
    edited = edit_settings(TEXTS["c59_rc2_default_no_trailing_newline"], Settings(max_batch_size=435))
    assert json.loads(edited)["ScheduleParam"]["maxBatchSize"] == 435
    assert read_config_text(edited).layout is Layout.GEN1


def test_a_setting_of_the_other_engine_is_a_usage_error():
    with pytest.raises(UsageError, match="max_num_batched_tokens"):
        edit_settings(TEXTS["c26_llm_server_head"], Settings(max_batch_size=100, max_num_batched_tokens=4096))


def test_a_file_without_a_batch_size_has_no_settings():
    config = read_config_text('{"BackendConfig": {"ScheduleConfig": {}}}')
    with pytest.raises(Refused, match=r"BackendConfig\.ScheduleConfig has no maxBatchSize"):
        settings_of(config)


def test_fields_are_read_by_their_kind():
    config = read_config_text(TEXTS["c26_llm_server_head"])
    assert config.number(Field.PORT) == 1025
    assert config.string(Field.MODEL_NAME) == "llama_65b"
    assert config.flag(Field.HTTPS_ENABLED) is True
    assert config.string(Field.PORT) is None


def test_a_log_level_that_ran_out_is_nobodys_edit():
    text = TEXTS["c26_llm_server_head"]
    rewritten = text.replace('"dynamicLogLevelValidTime" : ""', '"dynamicLogLevelValidTime" : "x"')
    rewritten = rewritten.replace('"dynamicLogLevelValidTime": ""', '"dynamicLogLevelValidTime": "x"')
    assert rewritten != text
    assert same_but_for_logging(text, rewritten)
    assert not same_but_for_logging(text, edit_fields(text, {Field.PORT: 1}))
    assert not same_but_for_logging(text, "not json")


@pytest.mark.parametrize("written", ['"200"', "200.0", "2e2", "true", "null", "[200]"])
def test_a_batch_size_that_is_no_whole_number_is_told_with_its_place(written):
    text = TEXTS["c26_llm_server_head"].replace('"maxBatchSize" : 200', f'"maxBatchSize" : {written}')
    with pytest.raises(
        Refused, match=r"line \d+, column \d+: .*maxBatchSize is .*no whole number"
    ) as refused:
        settings_of(read_config_text(text))
    assert written in refused.value.message
