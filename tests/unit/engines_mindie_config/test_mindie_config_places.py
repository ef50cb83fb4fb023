"""Where a config.json that is JSON is at fault all the same, with what mends it there."""

import json
from pathlib import Path

import pytest

from autotune.engines.mindie.config_text import edit_settings, read_config_text, settings_of
from autotune.errors import Refused
from autotune.model.settings import Settings

CONFIGS = Path(__file__).parents[2] / "golden" / "configs"
CURRENT = (CONFIGS / "c26_llm_server_head.json").read_text()
OLDEST = (CONFIGS / "c59_rc2_default_no_trailing_newline.json").read_text()


def refusal(text, **values):
    with pytest.raises(Refused) as caught:
        edit_settings(text, Settings(max_batch_size=500, **values))
    return caught.value.message, caught.value.hint


@pytest.mark.parametrize("spelt", ["maxbatchsize", "maxBatchSize ", "max_batch_size", "MaxBatchSize"])
def test_a_key_that_is_spelt_otherwise_is_told_where_it_stands(spelt):
    message, hint = refusal(CURRENT.replace('"maxBatchSize"', f'"{spelt}"'))
    assert message.startswith("line 111, column ")
    assert f"{spelt} is no key of the service's" in message
    assert hint == "write maxBatchSize"


def test_a_field_in_another_section_is_told_where_it_is():
    document = json.loads(CURRENT)
    document["BackendConfig"]["maxBatchSize"] = document["BackendConfig"]["ScheduleConfig"].pop(
        "maxBatchSize"
    )
    message, hint = refusal(json.dumps(document, indent=2))
    assert "BackendConfig.maxBatchSize (line 142, column 21) is not read by the service" in message
    assert hint == "move it to BackendConfig.ScheduleConfig.maxBatchSize"


def test_a_field_that_is_nowhere_is_told_with_the_section_that_lacks_it():
    message, hint = refusal('{"BackendConfig":\n {"ScheduleConfig":\n  {"maxIterTimes": 1}}}')
    assert message == "line 3, column 3: BackendConfig.ScheduleConfig has no maxBatchSize"
    assert hint == "add BackendConfig.ScheduleConfig.maxBatchSize to it by hand"


@pytest.mark.parametrize("section", ["null", "[]", '{"ScheduleConfig": null}', "{}"])
def test_a_section_that_is_none_is_told_with_its_place(section):
    with pytest.raises(Refused, match=r"^line 1, column \d+: BackendConfig"):
        settings_of(read_config_text(f'{{"BackendConfig": {section}}}'))


def test_a_section_that_is_spelt_otherwise_is_told_where_it_stands():
    message, hint = refusal(CURRENT.replace("BackendConfig", "backendConfig"))
    assert message == "line 56, column 23: backendConfig is no key of the service's"
    assert hint == "write BackendConfig"


def test_the_schedules_of_two_generations_in_one_file_are_refused_with_both_places():
    message, hint = refusal(json.dumps({**json.loads(CURRENT), **json.loads(OLDEST)}, indent=1))
    assert message.count("(line ") == 2
    assert "ScheduleParam is that of 1.0.RC1 and RC2" in hint


@pytest.mark.parametrize(
    ("found", "written", "place", "mend"),
    [
        ('"maxPrefillBatchSize" : 50', '"maxPrefillBatchSize" : "50"', "line 103, column 37", "with digits"),
        ('"supportSelectBatch" : false', '"supportSelectBatch" : 1', "line 114, column 36", "true or false"),
        ('"maxPreemptCount" : 0', '"maxPreemptCount" : -1', "line 113, column 33", "with digits alone"),
        ('"maxPreemptCount" : 0', '"maxPreemptCount" : 2', "line 113, column 33", "or cpuMemSize above 0"),
    ],
)
def test_a_value_that_stays_and_that_the_service_would_refuse_is_told_with_its_place(
    found, written, place, mend
):
    assert found in CURRENT
    message, hint = refusal(CURRENT.replace(found, written))
    assert message.startswith(f"{place}: the service would refuse these values: ")
    assert mend in hint


def test_a_new_value_that_the_service_would_refuse_has_no_place_in_the_file():
    message, _ = refusal(CURRENT, prefill_time_ms_per_req=1001)
    assert message.startswith(
        "the service would refuse these values: scheduleParam.prefillTimeMsPerReq [1001]"
    )
