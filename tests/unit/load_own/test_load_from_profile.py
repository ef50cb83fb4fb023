"""A profile's workload section becomes what the clients send."""

import json

import pytest

from autotune.errors import UsageError
from autotune.load.from_profile import dataset_of, own_source_of, workload_of
from autotune.profile.workload_section import WorkloadSection


def section(**values):
    return WorkloadSection.model_validate(values)


def test_the_default_is_the_guides_own_example():
    load = workload_of(section())
    asked = [load.asked_tokens(index) for index in range(len(load))]
    assert sum(asked) / len(asked) == pytest.approx(346, rel=0.05)
    assert max(asked) <= 512
    assert load.sampling.ignore_eos


def test_the_same_seed_sends_the_same_requests():
    assert workload_of(section(), seed=3) == workload_of(section(), seed=3)
    assert workload_of(section(), seed=3) != workload_of(section(), seed=4)


def test_a_file_keeps_its_natural_ends(tmp_path):
    file = tmp_path / "test.jsonl"
    file.write_text(json.dumps({"question": "why?", "answer": "1"}))
    load = workload_of(section(dataset={"type": "gsm8k", "path": str(file)}))
    assert (load.prompts[0].text, load.sampling.ignore_eos, load.asked_tokens(0)) == ("why?", False, 512)


def test_input_lengths_of_a_file_are_a_filter(tmp_path):
    file = tmp_path / "test.jsonl"
    file.write_text("\n".join(json.dumps({"question": "w" * size, "answer": "1"}) for size in (4, 80, 800)))
    wanted = section(
        dataset={"type": "gsm8k", "path": str(file), "input_tokens": {"mean": 20, "min": 10, "max": 50}}
    )
    assert [len(prompt.text) for prompt in dataset_of(wanted).prompts] == [80]


def test_token_ids_are_made_for_the_api_that_takes_nothing_else():
    load = workload_of(section(api="triton-tokens"))
    assert len(load.prompts[0].token_ids) == 186


def test_secrets_are_read_where_the_profile_says_and_do_not_show(tmp_path):
    wanted = section(headers={"Authorization": {"env": "TOKEN"}, "X-Team": "a"})
    source = own_source_of(wanted, environment={"TOKEN": "s3cret"})
    assert source._headers == (("Authorization", "s3cret"), ("X-Team", "a"))
    with pytest.raises(UsageError, match="TOKEN"):
        own_source_of(wanted, environment={})
