"""`autotune estimate`: the vendor's worked example, and what is asked for when nothing can be computed."""

import json

import pytest

from autotune.cli.main import run

LLAMA3_8B = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "num_hidden_layers": 32,
    "torch_dtype": "bfloat16",
}


def estimate(capsys, *options: str) -> dict:
    assert run(["estimate", *options, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_worked_example_of_the_guide_from_its_blocks(capsys):
    lengths = ("--input-tokens", "186", "--output-tokens", "346", "--max-output-tokens", "512")
    found = estimate(capsys, "--blocks", "2176", *lengths)
    wanted = {
        "min_blocks": 2,
        "mean_blocks": 5,
        "max_blocks": 6,
        "low": 362,
        "start": 435,
        "high": 1088,
        "start_prefill": 217,
        "blocks": 2176,
        "block_bytes": None,
    }
    assert {key: found[key] for key in wanted} == wanted


def test_the_worked_example_of_the_guide_from_the_model(capsys, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(LLAMA3_8B))
    found = estimate(capsys, "--model", str(tmp_path), "--tp", "2", "--npu-memory", "17GiB")
    assert (found["block_bytes"], found["blocks"], found["start"]) == (8_388_608, 2176, 435)


def test_int8_cache_of_a_quantisation_description_beside_the_model_halves_a_block(capsys, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(LLAMA3_8B))
    (tmp_path / "quant_model_description_w8a8.json").write_text('{"kv_cache_type": "C8"}')
    found = estimate(capsys, "--model", str(tmp_path), "--tp", "2", "--npu-memory", "17GiB")
    assert found["block_bytes"] == 4_194_304


def test_every_term_is_printed_for_a_person(capsys):
    assert run(["estimate", "--blocks", "2176"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("maxBatchSize 362 to 1088, start at 435")
    assert "  mean_blocks = ceil(186 / 128) + ceil(346 / 128) = 5" in lines


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "nothing to compute from"),
        (("--model", "/no/such/model", "--npu-memory", "17GiB"), "can't be read"),
        (("--blocks", "2176", "--output-tokens", "600", "--max-output-tokens", "512"), "above the longest"),
        (("--model", "/no/such/model", "--npu-memory", "much"), "--npu-memory"),
    ],
)
def test_what_cannot_be_computed_is_wrong_usage_with_the_next_step(options, said, capsys):
    assert run(["estimate", *options]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert "next:" in error


def test_a_model_that_no_formula_fits_asks_for_the_blocks(capsys, tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "mamba", "num_hidden_layers": 64}')
    assert run(["estimate", "--model", str(tmp_path), "--npu-memory", "17GiB"]) == 2
    assert "--blocks" in capsys.readouterr().err


def test_a_cache_that_holds_no_whole_request_is_told(capsys):
    assert run(["estimate", "--blocks", "10", "--input-tokens", "5000"]) == 0
    assert "note: A request takes up to 44 blocks, and the cache has 10" in capsys.readouterr().out
    assert run(["estimate", "--blocks", "2176"]) == 0
    assert "note:" not in capsys.readouterr().out
