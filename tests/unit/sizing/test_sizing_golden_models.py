"""Real config.json files give the block bytes of the table that was worked out for them by hand."""

import json
from pathlib import Path

import pytest

from autotune.errors import UsageError
from autotune.sizing.block_bytes import block_bytes
from autotune.sizing.cache_type import CacheType, read_cache_type
from autotune.sizing.model_shape import Attention, read_shape

GOLDEN = Path(__file__).parents[2] / "golden" / "models"
EXPECTED = json.loads((GOLDEN / "expected.json").read_text())
MODELS = sorted(name for name, values in EXPECTED.items() if "skip" not in values)


def shape_of(name):
    return read_shape(json.loads((GOLDEN / f"{name}.json").read_text()))


def expected_total(values):
    return values.get("block_bytes_with_index", values["block_bytes"])


@pytest.mark.parametrize("name", MODELS)
def test_the_block_of_the_whole_model_has_its_known_size(name):
    values = EXPECTED[name]
    found = block_bytes(shape_of(name), block_size=values["block_size"])
    assert found.total == expected_total(values)
    assert found.total - found.indexer_bytes == values["block_bytes"]


@pytest.mark.parametrize("cards", [2, 4, 8, 16])
@pytest.mark.parametrize("name", MODELS)
def test_cards_share_the_heads_but_never_go_below_one(name, cards):
    values = EXPECTED[name]
    known = values.get(f"per_card_tp{cards}", expected_total(values))
    assert block_bytes(shape_of(name), tensor_parallel=cards).total == known


@pytest.mark.parametrize("name", [n for n in MODELS if EXPECTED[n]["kind"] == "MLA"])
def test_a_latent_cache_is_the_same_on_every_card(name):
    shape = shape_of(name)
    assert shape.attention is Attention.LATENT
    assert block_bytes(shape, tensor_parallel=16) == block_bytes(shape, tensor_parallel=16)
    assert block_bytes(shape, tensor_parallel=16).total == block_bytes(shape).total


@pytest.mark.parametrize("name", [n for n in MODELS if "block_bytes_with_mtp1" in EXPECTED[n]])
def test_multi_token_prediction_adds_one_layer(name):
    shape = shape_of(name)
    assert shape.mtp_layers == 1
    assert block_bytes(shape, mtp_layers=1).total == EXPECTED[name]["block_bytes_with_mtp1"]


@pytest.mark.parametrize("name", [n for n in MODELS if "full_attention_layers" in EXPECTED[n]])
def test_full_and_sliding_layers_are_told_apart(name):
    values, shape = EXPECTED[name], shape_of(name)
    found = block_bytes(shape)
    assert (shape.full_layers, shape.sliding_layers) == (
        values["full_attention_layers"],
        values["other_layers"],
    )
    assert found.full_layer_bytes == values["full_layer_bytes_per_block"]
    assert found.sliding_layer_bytes == values["sliding_layer_bytes_per_block"]
    assert shape.window == values["sliding_window"]


@pytest.mark.parametrize("name", [n for n in MODELS if "wrong_if_hidden_div_heads" in EXPECTED[n]])
def test_an_explicit_head_size_wins_over_hidden_size_by_heads(name):
    assert block_bytes(shape_of(name)).total != EXPECTED[name]["wrong_if_hidden_div_heads"]


def test_the_vendors_worked_example_has_a_block_of_eight_mebibytes():
    found = block_bytes(shape_of("m01_llama3_8b_gqa"), tensor_parallel=2)
    assert found.total == 8_388_608


def test_a_quantisation_description_has_no_shape_but_tells_the_cache_type():
    description = json.loads((GOLDEN / "m32_w8a8_c8_int8_kvcache_quant_description.json").read_text())
    assert read_cache_type(description) is CacheType.C8
    with pytest.raises(UsageError, match="no number of layers") as caught:
        read_shape(description)
    assert "--blocks" in caught.value.hint


def test_an_int8_cache_of_llama_70b_takes_one_byte_for_keys_and_values():
    # MindIE guide on int8 KV cache: 128*80*8*(128+128)*1
    config = {"num_hidden_layers": 80, "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 128}
    assert block_bytes(read_shape(config), cache_type=CacheType.C8).total == 20_971_520
