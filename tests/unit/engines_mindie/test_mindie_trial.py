"""The configuration of a launch: the named values, and on a private copy the addresses, nothing else."""

from dataclasses import replace
from difflib import unified_diff
from pathlib import Path

import pytest

from autotune.engines.mindie.config_text import read_config_text, settings_of
from autotune.engines.mindie.trial import plan_trial
from autotune.errors import LaunchCause, LaunchFailed
from autotune.model.settings import Settings

CONFIGS = Path(__file__).parents[2] / "golden" / "configs"


def found(name: str = "c26_llm_server_head"):
    return read_config_text((CONFIGS / f"{name}.json").read_text(encoding="utf-8"))


def plan(config, settings, *, private=None, version="3.0"):
    return plan_trial(
        config,
        settings,
        version=version,
        chip="",
        private_path=private,
        model_name=None,
        environment={"MIES_CONTAINER_IP": "192.0.2.7"},
    )


def changed(before: str, after: str) -> set[str]:
    lines = unified_diff(before.splitlines(), after.splitlines(), n=0)
    return {line[1:].strip() for line in lines if line.startswith("+") and not line.startswith("+++")}


def test_the_incumbent_in_place_changes_nothing():
    config = found()
    assert plan(config, settings_of(config)).text == config.text


def test_what_was_found_is_not_judged_even_where_a_change_to_it_would_be():
    config = read_config_text(found().text.replace('"maxPrefillBatchSize" : 50', '"maxPrefillBatchSize" : 0'))
    assert settings_of(config).max_prefill_batch_size == 0
    assert plan(config, settings_of(config)).text == config.text


def test_in_place_only_the_named_values_differ():
    config = found()
    trial = plan(config, Settings(max_batch_size=500, max_prefill_batch_size=250, support_select_batch=True))
    assert changed(config.text, trial.text) == {
        '"maxPrefillBatchSize" : 250,',
        '"maxBatchSize" : 500,',
        '"supportSelectBatch" : true,',
    }
    assert trial.addresses.business == "https://192.0.2.7:1025"  # a container's address comes first


def test_a_private_copy_has_loopback_ports_of_its_own(tmp_path):
    config = read_config_text(found().text.replace('"ipAddress" : "127.0.0.1"', '"ipAddress" : "192.0.2.1"'))
    trial = plan(config, settings_of(config), private=tmp_path / "config.json")
    assert trial.addresses.host == "127.0.0.1"
    assert trial.addresses.management_host == "127.0.0.2"
    assert len(trial.addresses.ports) == 3
    assert not {1025, 1026, 1027} & set(trial.addresses.ports)
    assert len(changed(config.text, trial.text)) == 4  # the address and three ports


def test_a_layout_without_a_metrics_port_gets_none(tmp_path):
    config = found("c02_rc1_chatglm3_6b_tp2")
    trial = plan(config, settings_of(config), private=tmp_path / "config.json", version="1.0.RC1")
    assert trial.addresses.metrics_port is None


def test_links_that_are_raised_on_request_are_in_the_text_and_held_to_the_versions_bound():
    wanted = Settings(max_batch_size=300, max_prefill_batch_size=150, max_link_num=1200)
    trial = plan(found(), wanted)
    assert changed(found().text, trial.text) >= {'"maxLinkNum" : 1200,', '"maxBatchSize" : 300,'}
    with pytest.raises(LaunchFailed, match=r"maxLinkNum \[9000\] is out of bound \[4096\]"):
        plan(found(), replace(wanted, max_link_num=9000))


def test_values_that_the_daemon_would_refuse_fail_before_the_start_in_its_words():
    with pytest.raises(LaunchFailed, match="out of bound") as failure:
        plan(found(), Settings(max_batch_size=100, max_prefill_batch_size=200))
    assert failure.value.cause is LaunchCause.CONFIG


def test_the_trial_knows_what_it_left_as_found():
    assert plan(found(), Settings(max_batch_size=300)).settings.max_prefill_batch_size == 50
