"""vLLM's flags in the deployment file of MindIE PyMotor; only the decode half is read and edited."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.engines.vllm.description import refuse_unusable
from autotune.engines.vllm.facts import facts_of, grid_of
from autotune.engines.vllm.flags import Flag
from autotune.engines.vllm.motor_config import DECODE, is_motor_config, read_motor_config
from autotune.engines.vllm.options import VllmOptions
from autotune.engines.vllm.serving import read_file
from autotune.engines.vllm.winner import edit_script
from autotune.errors import Refused
from autotune.model.settings import Settings

# MindIE PyMotor, examples/infer_engines/vllm/models/deepseek/v3_1/user_config.json, CRLF
FILE = Path(__file__).parents[2] / "golden/configs/c64_pymotor_vllm_user_config_dsv31.json"


@pytest.fixture
def text():
    return FILE.read_bytes().decode()


def small(**engine):
    half = {"model_config": {"model_path": "/m"}, "engine_config": engine}
    return json.dumps({"motor_engine_prefill_config": half, DECODE: half})


def test_the_decode_half_is_read_and_not_the_prefill_half(text):
    found = facts_of(read_file(text, {}), {})
    assert (found.max_num_seqs, found.max_num_batched_tokens, found.max_model_len) == (24, 256, 73000)
    assert (found.model_name, found.tensor_parallel, found.tokens_a_step) == ("dsv3_1", 1, 4)


def test_captured_sizes_are_tokens_and_three_guessed_ones_make_a_sequence_take_four(text):
    # sizes 4, 8, 16 ... 96 hold 1, 2, 4 ... 24 sequences, and 24 is what the vendor's file serves
    assert grid_of(facts_of(read_file(text, {}), {}), most=24) == (1, 2, 4, 8, 12, 16, 20, 24)


def test_an_edit_changes_the_decode_half_only_and_no_other_byte(text):
    edit = edit_script(text, Settings(max_batch_size=16), {})
    assert edit.found == 24
    assert edit.text == text.replace('"max-num-seqs": 24', '"max-num-seqs": 16')
    assert '"max-num-seqs": 16,\r\n      "quantization"' in edit.text
    assert edit_script(edit.text, Settings(max_batch_size=24), {}).text == text


@given(st.integers(1, 4096), st.integers(1, 10**6))
def test_what_is_written_is_what_is_read(seqs, tokens):
    config = read_motor_config(small(max_num_seqs=1, **{"max-num-batched-tokens": 2}))
    changed = config.with_flags({Flag.MAX_NUM_SEQS: str(seqs), Flag.MAX_NUM_BATCHED_TOKENS: str(tokens)})
    found = facts_of(changed, {})
    assert (found.max_num_seqs, found.max_num_batched_tokens) == (seqs, tokens)
    assert (
        json.loads(changed.text)["motor_engine_prefill_config"]
        == json.loads(config.text)["motor_engine_prefill_config"]
    )


def test_members_become_flags_as_the_deployer_passes_them():
    config = read_motor_config(
        small(**{"enforce-eager": True, "no-enable-prefix-caching": False, "max_model_len": 8, "o": [1, 2]})
    )
    assert config.arguments == ("--model", "/m", "--enforce-eager", "--max-model-len", "8", "--o", "[1, 2]")


@pytest.mark.parametrize("engine", [{}, {"max-num-seqs": 1, "max_num_seqs": 2}])
def test_a_flag_that_is_missing_or_there_in_both_spellings_is_not_written(engine):
    with pytest.raises(Refused, match="max-num-seqs"):
        read_motor_config(small(**engine)).with_flags({Flag.MAX_NUM_SEQS: "4"})


@pytest.mark.parametrize("damaged", ["{", '{"a": 1, "a": 2}', "{}", "[]", f'{{"{DECODE}": {{}}}}'])
def test_what_is_no_such_file_is_refused(damaged):
    with pytest.raises(Refused):
        read_motor_config(damaged)


def test_a_script_is_told_from_a_file_of_this_kind(text):
    assert is_motor_config(text)
    assert not is_motor_config("#!/bin/sh\nvllm serve m\n")


def test_a_campaign_on_it_is_refused_with_the_way_round(text, tmp_path):
    config = read_file(text, {})
    options = VllmOptions(work_dir=tmp_path, journal=None, environment={}, script=FILE)
    with pytest.raises(Refused, match="own deployer"):
        refuse_unusable(config, facts_of(config, {}), options, live=False)
