"""Blocks before any start come from the formula, where the configuration fixes the memory of a card."""

import json
from pathlib import Path

import pytest

from autotune.campaign.mindie_blocks import formula_blocks
from autotune.engines.mindie.config_text import read_config_text

GOLDEN = Path(__file__).parents[2] / "golden"


def config(model: Path, *, memory: int, cards: int = 2, plugins: str = ""):
    document = json.loads((GOLDEN / "configs" / "c26_llm_server_head.json").read_text())
    entry = document["BackendConfig"]["ModelDeployConfig"]["ModelConfig"][0]
    entry |= {"npuMemSize": memory, "worldSize": cards, "modelWeightPath": str(model)}
    if plugins:
        entry["plugin_params"] = plugins
    return read_config_text(json.dumps(document))


@pytest.fixture
def llama(tmp_path) -> Path:
    (tmp_path / "config.json").write_bytes((GOLDEN / "models" / "m01_llama3_8b_gqa.json").read_bytes())
    return tmp_path


def test_the_formula_gives_what_the_guide_computes_with_the_models_own_heads(llama):
    """17 GB and 2 cards: 17 x 1024^3 / (32 layers x 128 tokens x 8 heads x 128 x 2 bytes x 2 / 2 cards)."""
    assert formula_blocks(config(llama, memory=17), None) == 17 * 1024**3 // (32 * 128 * 8 * 128 * 2 * 2 // 2)


def test_a_profile_names_the_model_before_the_configuration_does(llama, tmp_path):
    assert formula_blocks(config(tmp_path / "none", memory=17), llama) == 2176


def test_multi_token_prediction_takes_a_layer_more(llama):
    plugins = '{"plugin_type":"mtp","num_speculative_tokens": 1}'
    assert formula_blocks(config(llama, memory=17, plugins=plugins), None) < 2176


@pytest.mark.parametrize("memory", [-1, 0])
def test_memory_that_the_service_finds_out_itself_gives_no_number(llama, memory):
    assert formula_blocks(config(llama, memory=memory), None) is None


def test_a_model_without_files_gives_no_number(tmp_path):
    assert formula_blocks(config(tmp_path, memory=17), None) is None
