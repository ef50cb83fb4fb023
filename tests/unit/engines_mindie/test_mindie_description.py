"""What an install is described as, and the configurations that no campaign may begin with."""

from pathlib import Path

import pytest

from autotune.engines.mindie.config_text import edit_fields, read_config_text
from autotune.engines.mindie.description import least_batch, refuse_unfit
from autotune.engines.mindie.installation import find
from autotune.errors import Refused
from autotune.mindie_rules.bounds import batch_bounds, link_bounds
from autotune.mindie_rules.fields import Field

CONFIGS = Path(__file__).parents[2] / "golden" / "configs"


def config(name, **fields):
    text = (CONFIGS / f"{name}.json").read_bytes().decode()
    return read_config_text(edit_fields(text, {Field(key): value for key, value in fields.items()}))


def with_policy(policy: int, *, select: str = "false"):
    text = (CONFIGS / "c26_llm_server_head.json").read_text()
    old = '"supportSelectBatch" : false'
    assert old in text
    return read_config_text(
        text.replace(old, f'"stageSelectPolicy" : {policy}, "supportSelectBatch" : {select}')
    )


def test_the_smallest_batch_is_held_to_the_preempt_count():
    """MindIE: maxPreemptCount must not be above maxBatchSize; a published 1.0.RC1 file has 200 and 200."""
    assert least_batch(config("c02_rc1_chatglm3_6b_tp2")) == 200
    assert least_batch(config("c26_llm_server_head")) == 1


def test_a_service_that_schedules_by_latency_targets_is_refused_and_not_overridden():
    with pytest.raises(Refused, match="stageSelectPolicy is 2") as refused:
        refuse_unfit(Path("config.json"), with_policy(2))
    assert "stageSelectPolicy to 0 or 1" in refused.value.hint
    for policy in (0, 1):
        refuse_unfit(Path("config.json"), with_policy(policy))
    refuse_unfit(Path("config.json"), with_policy(2, select="true"))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "c54_pd_motor_user_config_A2",
            r"P/D deployment.* mindie_server_decode_config\.\S+\.maxBatchSize is 64 \(line \d+, column \d+\)",
        ),
        ("c27_ut_config_dynamicbatch", r"multiNodesInferEnabled is true \(line \d+, column \d+\)"),
        ("c31_ut_utils_plugin_params", r"multiNodesInferEnabled is true \(line \d+, column \d+\)"),
    ],
)
def test_published_files_that_one_daemon_cannot_be_tuned_with_are_refused(name, words):
    with pytest.raises(Refused, match=words) as refused:
        refuse_unfit(CONFIGS / name, config(name))
    assert refused.value.hint


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ('"inferMode" : "standard"', '"inferMode" : "dmi"', "half of a P/D deployment"),
        ('"distDPServerEnabled":false', '"distDPServerEnabled":true', "behind a coordinator"),
        (
            '"layerwiseDisaggregated" : false',
            '"layerwiseDisaggregated" : true',
            "layers run on several",
        ),
    ],
)
def test_one_of_several_daemons_is_refused_with_the_place_that_says_so(before, after, words):
    text = (CONFIGS / "c26_llm_server_head.json").read_text()
    assert before in text
    with pytest.raises(Refused, match=rf"\(line \d+, column \d+\): .*{words}") as refused:
        refuse_unfit(Path("config.json"), read_config_text(text.replace(before, after)))
    assert refused.value.hint


def test_the_directory_of_a_deployer_is_no_install(tmp_path):
    (tmp_path / "user_config.json").write_bytes((CONFIGS / "c54_pd_motor_user_config_A2.json").read_bytes())
    with pytest.raises(Refused, match=r"P/D deployment.*maxBatchSize is 64") as refused:
        find(tmp_path, {})
    assert "autotune load --url" in refused.value.hint


@pytest.mark.parametrize(
    ("version", "chip", "batch", "links"),
    [
        ("1.0.RC1", "", 5000, 300),
        ("1.0.RC2", "", 5000, 1000),
        ("1.0.RC3", "", 5000, 1000),
        ("2.3.0", "910B4", 5000, 4096),
        ("3.0", "910B4", 819200, 4096),
        ("3.0", "310P3", 2000, 4096),
        ("2.2.RC1", "Atlas 300I Duo", 2000, 4096),
        ("", "", 5000, 4096),
    ],
)
def test_bounds_follow_version_and_chip(version, chip, batch, links):
    """300I Duo: 2000, 1.0.RC1: 300 links (MindIE service parameter documentation)."""
    assert batch_bounds(version, chip).high == batch
    assert link_bounds(version).high == links
