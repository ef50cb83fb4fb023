"""The shipped vLLM profiles start what they say."""

from pathlib import Path

import pytest

from autotune.campaign.sides.command_words import command_words
from autotune.engines.vllm.facts import facts_of, grid_of
from autotune.engines.vllm.serving import read_command
from autotune.errors import UsageError
from autotune.profile.reading import parse_profile

FOLDER = Path(__file__).parents[3] / "profiles"


def shipped(name):
    path = FOLDER / name
    return parse_profile(path.read_text(encoding="utf-8"), path=path).profile


def facts(name):
    profile = shipped(name)
    words = command_words(profile.engine.command, profile.engine.home, profile.model.path)
    return facts_of(read_command(words), {})


def test_the_tiny_profile_starts_from_the_engines_default_with_257_blocks_of_32():
    found = facts("vllm-cpu-tiny.yaml")
    assert found.model == str(FOLDER.parent / ".venv-vllm" / "tiny-qwen2")
    assert (found.max_num_seqs, found.block_size, found.blocks, found.eager) == (None, 32, 257, True)
    lengths = shipped("vllm-cpu-tiny.yaml").workload.dataset
    assert (lengths.input_tokens.mean, lengths.output_tokens.mean) == (64, 192)


def test_the_profile_for_ascend_names_its_incumbent():
    found = facts("vllm-ascend.yaml")
    assert (found.max_num_seqs, found.max_num_batched_tokens, found.block_size) == (256, 4096, 128)
    assert grid_of(found, most=256)[-1] == 256


def test_the_script_profile_names_the_script_beside_it():
    assert shipped("vllm-run-script.yaml").engine.script == FOLDER / "run_vllm.sh"


def test_only_the_two_placeholders_are_replaced():
    words = ("{home}/bin/vllm", "serve", "{model}", "-O", '{"level": 3}')
    given = command_words(words, Path("/opt/venv"), Path("/data/m"))
    assert given == ("/opt/venv/bin/vllm", "serve", "/data/m", "-O", '{"level": 3}')
    with pytest.raises(UsageError, match=r"model\.path"):
        command_words(words, Path("/opt/venv"), None)
