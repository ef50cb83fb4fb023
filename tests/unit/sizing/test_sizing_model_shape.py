"""Kinds of models beyond the golden files, with numbers from their published configurations."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.errors import UsageError
from autotune.sizing.block_bytes import block_bytes
from autotune.sizing.cache_type import CacheType, read_cache_type, read_quantised_layers
from autotune.sizing.model_shape import read_shape

LLAMA = {"num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "hidden_size": 4096}
QWEN3_NEXT = {
    "model_type": "qwen3_next",
    "num_hidden_layers": 48,
    "num_attention_heads": 16,
    "num_key_value_heads": 2,
    "head_dim": 256,
    "hidden_size": 2048,
}
FALCON = {"model_type": "falcon", "multi_query": True, "torch_dtype": "bfloat16"}


@pytest.mark.parametrize(
    ("config", "layers", "kv_heads", "head_dim"),
    [
        pytest.param({**FALCON, "hidden_size": 4544, "n_head": 71, "n_layer": 32}, 32, 1, 64, id="falcon 7b"),
        pytest.param(
            {
                **FALCON,
                "hidden_size": 4544,
                "num_attention_heads": 71,
                "num_kv_heads": 71,
                "num_hidden_layers": 32,
                "new_decoder_architecture": False,
            },
            32,
            1,
            64,
            id="falcon 7b, newer file",
        ),
        pytest.param(
            {
                **FALCON,
                "hidden_size": 8192,
                "num_attention_heads": 128,
                "num_kv_heads": 8,
                "num_hidden_layers": 60,
                "new_decoder_architecture": True,
            },
            60,
            8,
            64,
            id="falcon 40b",
        ),
        pytest.param(
            {"model_type": "gpt_bigcode", "n_layer": 40, "n_embd": 6144, "n_head": 48, "multi_query": True},
            40,
            1,
            128,
            id="starcoder",
        ),
        pytest.param(
            {"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12}, 12, 12, 64, id="gpt2"
        ),
        pytest.param(
            {"model_type": "bloom", "n_embed": 4096, "num_attention_heads": 32, "n_layer": 30},
            30,
            32,
            128,
            id="bloom",
        ),
        pytest.param(
            {
                "model_type": "dbrx",
                "d_model": 6144,
                "n_heads": 48,
                "n_layers": 40,
                "attn_config": {"kv_n_heads": 8},
            },
            40,
            8,
            128,
            id="dbrx",
        ),
        pytest.param(
            {"dim": 4096, "n_layers": 32, "n_heads": 32, "n_kv_heads": 8}, 32, 8, 128, id="llama params"
        ),
        pytest.param(
            {"model_type": "chatglm", "hidden_size": 4096, "num_attention_heads": 32, "num_layers": 28},
            28,
            32,
            128,
            id="chatglm of the first generation",
        ),
        pytest.param(
            {
                **LLAMA,
                "multi_query_attention": False,
                "multi_query_group_num": 2,
                "num_key_value_heads": None,
            },
            32,
            32,
            128,
            id="groups that are switched off",
        ),
        pytest.param({**LLAMA, "num_key_value_heads": None}, 32, 32, 128, id="null is multi-head"),
        pytest.param(
            {
                "model_type": "mixtral",
                "num_hidden_layers": 32,
                "num_attention_heads": 32,
                "hidden_size": 4096,
            },
            32,
            8,
            128,
            id="mixtral's own default",
        ),
    ],
)
def test_old_and_rare_key_names_are_read(config, layers, kv_heads, head_dim):
    shape = read_shape(config)
    assert (shape.layers, shape.heads.kv_heads, shape.heads.key_dim) == (layers, kv_heads, head_dim)


@pytest.mark.parametrize(
    ("extra", "full", "sliding", "state"),
    [
        pytest.param({}, 32, 0, 0, id="plain"),
        pytest.param({"sliding_window": 4096}, 0, 32, 0, id="mistral: one window for all"),
        pytest.param(
            {"sliding_window": 4096, "use_sliding_window": False}, 32, 0, 0, id="a window not in use"
        ),
        pytest.param(
            {"sliding_window": 4096, "use_sliding_window": True, "max_window_layers": 28},
            28,
            4,
            0,
            id="qwen2",
        ),
        pytest.param({"sliding_window": 4096, "model_type": "gemma2"}, 16, 16, 0, id="gemma 2 alternates"),
        pytest.param(
            {"sliding_window": 1024, "sliding_window_pattern": 6}, 5, 27, 0, id="gemma 3: one full in six"
        ),
        pytest.param({"sliding_window": 128, "sliding_window_pattern": "LLLG"}, 8, 24, 0, id="exaone 4"),
        pytest.param({"full_attention_interval": 4}, 8, 0, 24, id="qwen3-next: one full in four"),
        pytest.param(
            {"layer_types": ["linear_attention"] * 3 + ["full_attention"]}, 8, 0, 24, id="one period listed"
        ),
        pytest.param({"attn_type_list": ([0] * 7 + [1]) * 4}, 4, 0, 28, id="minimax"),
        pytest.param({"hybrid_override_pattern": "M-M*" * 8}, 8, 0, 24, id="nemotron-h"),
        pytest.param({"attn_layer_period": 8, "attn_layer_offset": 4}, 4, 0, 28, id="jamba"),
        pytest.param({"attn_layer_indices": [9, 18, 27]}, 3, 0, 29, id="bamba"),
        pytest.param({"linear_attn_config": {"full_attn_layers": [4, 8, 32]}}, 3, 0, 29, id="kimi linear"),
        pytest.param(
            {"block_types": ["recurrent", "recurrent", "attention"], "attention_window_size": 2048},
            0,
            10,
            22,
            id="recurrent gemma",
        ),
    ],
)
def test_layers_without_a_full_cache_are_counted_apart(extra, full, sliding, state):
    shape = read_shape({**LLAMA, **extra})
    assert (shape.full_layers, shape.sliding_layers, shape.state_layers) == (full, sliding, state)


def test_linear_attention_layers_take_no_blocks():
    # Qwen3-Next-80B-A3B: 12 of 48 layers are full, 2 KV heads of 256
    assert block_bytes(read_shape(QWEN3_NEXT)).total == 128 * 12 * 2 * (256 + 256) * 2


def test_layers_that_share_a_cache_are_left_out():
    gemma3n = {**LLAMA, "num_kv_shared_layers": 15}
    hunyuan = {**LLAMA, "use_cla": True, "cla_share_factor": 2}
    assert read_shape(gemma3n).cached_layers == 17
    assert read_shape(hunyuan).cached_layers == 16


@pytest.mark.parametrize(
    "config",
    [
        pytest.param({"text_config": LLAMA, "vision_config": {"num_hidden_layers": 27}}, id="text_config"),
        pytest.param({"llm_config": LLAMA}, id="llm_config"),
        pytest.param({"thinker_config": {"text_config": LLAMA, "audio_config": {"n_layer": 3}}}, id="omni"),
        pytest.param({**LLAMA, "text_config": {"vocab_size": 5}}, id="outer keys when the inner has none"),
        pytest.param(
            {"torch_dtype": "float16", "language_config": {**LLAMA, "torch_dtype": None}}, id="null inside"
        ),
    ],
)
def test_the_language_model_of_a_multimodal_checkpoint_is_found(config):
    assert block_bytes(read_shape(config)).total == 16_777_216


def test_window_layers_with_heads_of_their_own_are_summed_by_kind():
    config = {
        **LLAMA,
        "num_hidden_layers": 4,
        "hybrid_layer_pattern": [0, 1, 1, 0],
        "num_key_value_heads": 4,
        "head_dim": 192,
        "v_head_dim": 128,
        "swa_num_key_value_heads": 8,
        "swa_head_dim": 192,
        "swa_v_head_dim": 128,
        "sliding_window": 128,
    }
    found = block_bytes(read_shape(config))
    assert found.full_layer_bytes == 128 * 2 * 4 * (192 + 128) * 2
    assert found.sliding_layer_bytes == 128 * 2 * 8 * (192 + 128) * 2
    assert found.total == found.full_layer_bytes + found.sliding_layer_bytes


def test_fa3_packs_only_keys_and_only_in_the_marked_layers():
    shape = read_shape({"num_hidden_layers": 61, "kv_lora_rank": 512, "qk_rope_head_dim": 64})
    assert block_bytes(shape, cache_type=CacheType.FA3).total == 128 * 61 * (512 + 2 * 64)
    partly = block_bytes(shape, cache_type=CacheType.FA3, quantised_layers=60).total
    assert partly == 128 * (60 * (512 + 2 * 64) + 2 * (512 + 64))


def test_the_files_of_quantised_models_tell_the_cache_type():
    assert read_cache_type({"quantization_config": {"kv_quant_type": "C8"}}) is CacheType.C8
    assert read_cache_type({"quantization_config": {"fa_quant_type": "FAKQuant"}}) is CacheType.FA3
    assert read_cache_type({"quantization_config": {"kv_cache_scheme": {"num_bits": 8}}}) is CacheType.C8
    assert read_cache_type({"quantization_config": {"quant_method": "fp8"}}) is CacheType.FLOAT
    marks = {f"model.layers.{n}.self_attn.fa_{part}.scale": "FAQuant" for n in range(3) for part in "kqv"}
    assert read_quantised_layers(marks) == 3
    assert read_quantised_layers({"model.layers.0.mlp.scale": "W8A8"}) is None


def test_nz_chips_round_heads_times_size_up():
    shape = read_shape({"num_hidden_layers": 1, "num_attention_heads": 1, "head_dim": 72})
    assert block_bytes(shape, nz=True).total == 128 * 2 * 80 * 2
    assert block_bytes(shape, nz=True, cache_type=CacheType.C8).total == 128 * 2 * 96
    assert any("rounded up for NZ" in term.formula for term in block_bytes(shape, nz=True).terms)


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({}, "no number of layers"),
        ([], "no JSON object"),
        ({"num_hidden_layers": 24, "hidden_size": 768}, "no attention heads"),
        (
            {"num_hidden_layers": 24, "num_heads": 80, "head_dim": 64, "model_type": "mamba2"},
            "mamba2 keeps a state",
        ),
        ({**LLAMA, "is_encoder_decoder": True}, "encoder"),
        ({**LLAMA, "num_key_value_heads": [4, 8]}, "differs from layer to layer"),
        ({**LLAMA, "block_configs": [{}]}, "block_configs"),
        ({**LLAMA, "layer_types": ["dreaming"]}, "unknown kind 'dreaming'"),
        ({**LLAMA, "hybrid_override_pattern": "M?"}, "unknown kind"),
        ({**LLAMA, "layer_types": ["mamba"]}, "no layer keeps"),
        ({**LLAMA, "num_hidden_layers": True}, "no number of layers"),
    ],
)
def test_a_model_that_no_formula_fits_asks_for_the_blocks(config, reason):
    with pytest.raises(UsageError, match=reason) as caught:
        read_shape(config)
    assert "--blocks N" in caught.value.hint
    assert caught.value.exit_code == 2


def test_what_was_assumed_is_said():
    assert read_shape(LLAMA).remarks == ("no torch_dtype is given; bfloat16 is assumed",)
    assert "float32" in read_shape({**LLAMA, "torch_dtype": "float32"}).remarks[0]
    assert read_shape({**LLAMA, "torch_dtype": "torch.float16"}).remarks == ()


def test_every_term_shows_its_numbers():
    terms = block_bytes(read_shape(LLAMA), tensor_parallel=2).terms
    assert [str(term) for term in terms] == [
        "layers = 32 = 32",
        "kv_heads_on_card = ceil(8 KV heads / 2 cards) = 4",
        "key_bytes = 4 x 128 x 2 bytes = 1,024",
        "value_bytes = 4 x 128 x 2 bytes = 1,024",
        "cache_bytes = 128 tokens x 32 layers x (1024 + 1024) bytes = 8,388,608",
        "block_bytes = 8388608 = 8,388,608",
    ]


@given(
    heads=st.integers(1, 128),
    cards=st.integers(1, 64),
    layers=st.integers(1, 100),
    dim=st.integers(1, 512),
    nz=st.booleans(),
)
def test_more_cards_never_need_more_and_all_cards_hold_all_heads(heads, cards, layers, dim, nz):
    shape = read_shape({"num_hidden_layers": layers, "num_attention_heads": heads, "head_dim": dim})
    one = block_bytes(shape, nz=nz).total
    each = block_bytes(shape, tensor_parallel=cards, nz=nz).total
    assert each <= one <= cards * each
    assert block_bytes(shape, tensor_parallel=cards).total <= each


@given(cards=st.integers(1, 16), block_size=st.sampled_from([16, 64, 128]), mtp=st.integers(0, 2))
def test_the_last_term_is_the_total(cards, block_size, mtp):
    found = block_bytes(read_shape(LLAMA), block_size=block_size, tensor_parallel=cards, mtp_layers=mtp)
    assert (
        found.terms[-1].value
        == found.total
        == sum(int(t.value) for t in found.terms if t.name == "cache_bytes")
    )


@pytest.mark.parametrize("wrong", [{"block_size": 0}, {"tensor_parallel": 0}, {"mtp_layers": -1}])
def test_sizes_below_one_are_refused(wrong):
    with pytest.raises(UsageError, match="too small"):
        block_bytes(read_shape(LLAMA), **wrong)


@pytest.mark.parametrize("layers", [10_001, 10**30])
def test_a_number_of_layers_that_no_model_has_is_asked_about_and_not_counted_through(layers):
    config = {"num_hidden_layers": layers, "num_attention_heads": 32, "hidden_size": 4096}
    with pytest.raises(UsageError, match="no number of layers"):
        read_shape(config)
