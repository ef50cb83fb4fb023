"""Fields of a configuration by their logical names, in every layout."""

import json
from pathlib import Path

import pytest

from autotune.errors import Refused, UsageError
from autotune.mindie_rules.bounds import Bounds, batch_bounds, bounds_of, link_bounds, parse_version
from autotune.mindie_rules.fields import (
    Field,
    Layout,
    devices,
    dotted,
    layout_of,
    path_of,
    place_of,
    read,
    read_bool,
    read_int,
    read_text,
)
from autotune.model.settings import Settings

CONFIGS = Path(__file__).parents[2] / "golden" / "configs"
EXPECTED = json.loads((CONFIGS / "expected.json").read_text(encoding="utf-8"))
STRICT = [name for name, facts in EXPECTED.items() if facts["json"].startswith("strict")]
MINDIE = [name for name in STRICT if not name.startswith("c64")]


def document(name):
    return json.loads((CONFIGS / f"{name}.json").read_text(encoding="utf-8"))


def by_dotted_path(config, path):
    node = config
    for step in path.split("."):
        node = node[int(step[1:-1])] if step.startswith("[") else node[step]
    return node


@pytest.mark.parametrize("name", MINDIE)
def test_every_field_of_a_published_file_is_found_where_it_lies(name):
    config = document(name)
    values = EXPECTED[name]["fields"]
    prefix = "mindie_server_decode_config." if layout_of(config) is Layout.PD else ""
    for field in Field:
        path = dotted(path_of(field, layout_of(config)))
        expected = path.replace(".0.", ".[0].")
        if expected in values:
            assert read(config, field) == values[expected]
            assert expected.startswith(prefix)


@pytest.mark.parametrize(
    ("name", "layout", "batch"),
    [
        ("c02_rc1_chatglm3_6b_tp2", Layout.GEN1, "ScheduleParam.maxBatchSize"),
        ("c26_llm_server_head", Layout.GEN2, "BackendConfig.ScheduleConfig.maxBatchSize"),
        (
            "c54_pd_motor_user_config_A2",
            Layout.PD,
            "mindie_server_decode_config.BackendConfig.ScheduleConfig.maxBatchSize",
        ),
    ],
)
def test_the_layout_is_told_by_the_keys(name, layout, batch):
    assert layout_of(document(name)) is layout
    assert dotted(place_of(document(name), Field.MAX_BATCH_SIZE)) == batch


def test_a_deployment_of_vllm_is_sent_to_the_other_engine():
    with pytest.raises(Refused, match="vLLM"):
        layout_of(document("c64_pymotor_vllm_user_config_dsv31"))


@pytest.mark.parametrize("other", [{}, [], "text", {"BackendConfig": 1}])
def test_what_is_no_configuration_is_refused(other):
    with pytest.raises(Refused):
        layout_of(other)


def test_every_setting_of_mindie_is_a_field():
    settings = set(Settings.__dataclass_fields__) - {"max_num_batched_tokens"}
    assert settings <= {field.value for field in Field}


def test_a_number_is_no_bool_and_a_bool_is_no_number():
    config = {"BackendConfig": {"ScheduleConfig": {"maxBatchSize": True, "supportSelectBatch": 1}}}
    assert read_int(config, Field.MAX_BATCH_SIZE) is None
    assert read_bool(config, Field.SUPPORT_SELECT_BATCH) is None


def test_devices_are_found_where_a_transitional_file_keeps_them():
    config = {"BackendConfig": {"ModelDeployConfig": {"npuDeviceIds": [[6, 7]]}}}
    assert devices(config) == ((6, 7),)
    assert read_text(config, Field.MODEL_NAME) is None
    assert place_of(config, Field.MODEL_NAME) is None


def test_versions_are_ordered_as_they_were_released():
    names = ["1.0.RC1", "1.0.RC3", "1.0.0", "2.0.T3", "2.0.RC1", "2.1.RC1", "2.3.0", "3.0.RC1", "3.1.0"]
    versions = [parse_version(f"mindie_{name}") for name in names]
    assert versions == sorted(versions)
    assert parse_version("unknown") is None


@pytest.mark.parametrize(
    ("version", "chip", "high"),
    [
        ("3.0.RC1", "", 819200),
        ("2.3.0", "", 5000),
        ("", "", 5000),
        ("2.1.RC1", "Ascend310P3", 2000),
        ("3.1.0", "300I Duo", 2000),
    ],
)
def test_the_largest_batch_is_that_of_version_and_chip(version, chip, high):
    assert batch_bounds(version, chip) == Bounds(low=1, high=high)


@pytest.mark.parametrize(
    ("version", "high"), [("1.0.RC1", 300), ("1.0.RC2", 1000), ("1.0.0", 1000), ("2.3.0", 4096), ("", 4096)]
)
def test_most_links_are_those_of_the_version(version, high):
    assert link_bounds(version).high == high
    assert bounds_of(Field.MAX_LINK_NUM, version).high == high


def test_times_are_clamped_to_what_the_service_takes():
    times = bounds_of(Field.DECODE_TIME_MS_PER_REQ)
    assert [times.clamp(value) for value in (-3, 50, 2000)] == [0, 50, 1000]
    assert times.holds(1000)
    with pytest.raises(UsageError):
        bounds_of(Field.MODEL_NAME)
