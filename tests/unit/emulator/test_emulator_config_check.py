"""The daemon's look at its file: the verdicts of the vendor's own checker, on real files."""

import copy
import json
import os
import re
from pathlib import Path

import pytest

from autotune.emulator.config_check import check_file, config_path, modernised
from autotune.mindie_rules.checks import Rejected
from autotune.mindie_rules.fields import Field, read
from autotune.mindie_rules.json_text import parse

GOLDEN = Path(__file__).parents[2] / "golden"
BASE = json.loads((GOLDEN / "config_checks" / "base.json").read_text(encoding="utf-8"))
VERDICTS = json.loads((GOLDEN / "config_checks" / "verdicts.json").read_text(encoding="utf-8"))
LATE = "ConfigManager init exception: [ConfigManager] Checking Config Failed"
"""Printed only when the daemon lives on for ten seconds."""
BATCH = '"maxBatchSize": 200'
TEXTS = {
    "line comment #": lambda text: text.replace(BATCH, f"{BATCH} # most"),
    "block comment": lambda text: text.replace(BATCH, f"{BATCH} /* most */"),
    "comma before brace": lambda text: text.rstrip()[:-1] + ",}",
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "no final newline": lambda text: text.rstrip("\n"),
    "tabs": lambda text: text.replace("    ", "\t"),
    "empty": lambda _text: "",
    "spaces only": lambda _text: "    ",
    "cut off": lambda text: text[: len(text) // 2],
    "leading zero": lambda text: text.replace(BATCH, '"maxBatchSize": 0200'),
    "single quotes": lambda text: text.replace('"', "'"),
}


@pytest.fixture
def home(tmp_path):
    weights = tmp_path / "model"
    weights.mkdir(mode=0o750)
    (weights / "config.json").write_text("{}", encoding="utf-8")
    (weights / "config.json").chmod(0o640)
    (tmp_path / "conf").mkdir()
    return tmp_path


def written(home, entry):
    """The file of an entry, on disk with its mode."""
    document = copy.deepcopy(BASE)
    for path, value in entry.get("set", []):
        node = document
        *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
        for step in steps:
            node = node[step]
        if value == {"$delete": True}:
            node.pop(last, None)
        else:
            node[last] = value
    text = json.dumps(document, indent=4, ensure_ascii=False) + "\n"
    if "text" in entry:
        text = TEXTS[entry["text"]](text)
    path = home / "conf" / "config.json"
    path.write_bytes(text.replace("HOME", str(home)).encode())
    path.chmod(int(entry.get("mode", "640"), 8))
    if entry.get("symlink"):
        link = home / "conf" / "link.json"
        link.symlink_to(path)
        return link
    return path


@pytest.mark.parametrize("entry", VERDICTS, ids=[entry["id"] for entry in VERDICTS])
def test_every_verdict_of_the_vendors_checker_is_the_daemons(home, entry):
    path = written(home, entry)
    checked = check_file(path, install=home, version="3.0")
    assert checked.accepted == (entry["verdict"] == "accepted")
    verdict = checked.verdict
    said = verdict.lines + (verdict.errors if isinstance(verdict, Rejected) else ())
    wanted = [line.replace("CONFIG current", f"{path} current") for line in entry["says"] if line != LATE]
    assert sorted(line.replace(str(home), "HOME") for line in said) == sorted(
        line.replace(str(home), "HOME") for line in wanted
    )


def test_a_file_of_somebody_else_is_refused(home, monkeypatch):
    path = written(home, {})
    monkeypatch.setattr(os, "getuid", lambda: 4711)
    verdict = check_file(path, install=home, version="3.0").verdict
    assert "current process user id is 4711, file owner id is" in verdict.lines[0]


def test_a_file_that_is_not_there_is_refused(home):
    verdict = check_file(home / "conf" / "none.json", install=home, version="3.0").verdict
    assert verdict.lines[0] == "The input file: none.json is not a regular file or not exists"


@pytest.mark.parametrize(
    "spoil",
    [
        lambda model: model.chmod(0o755),
        lambda model: (model / "config.json").chmod(0o644 | 0o007),
        lambda model: (model / "config.json").write_text("{no json"),
        lambda model: (model / "config.json").unlink(),
        lambda model: (model / "config.json").rename(model / "c") and (model / "config.json").symlink_to("c"),
    ],
    ids=["open folder", "open file", "no JSON", "no file", "link"],
)
def test_weights_that_the_daemon_would_not_read_are_refused_without_a_line(home, spoil):
    path = written(home, {})
    spoil(home / "model")
    checked = check_file(path, install=home, version="3.0")
    assert not checked.accepted
    assert checked.verdict.lines == ()


@pytest.mark.parametrize("version", ["2.3", "3.0"])
def test_the_upper_bound_of_the_batch_follows_the_version(home, version):
    entry = {"set": [["BackendConfig.ScheduleConfig.maxBatchSize", 5001]]}
    accepted = check_file(written(home, entry), install=home, version=version).accepted
    assert accepted == (version == "3.0")


RC2 = "c59_rc2_default_no_trailing_newline"


def with_weights(home, name):
    """A public configuration whose weights lie here, on disk."""
    text = (GOLDEN / "configs" / f"{name}.json").read_text(encoding="utf-8")
    document = json.loads(text)
    for model in document.get("ModelDeployParam", {}).get("ModelParam", []):
        model["modelWeightPath"] = str(home / "model")
    path = home / "conf" / "config.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    path.chmod(0o640)
    return path


def test_the_oldest_layout_is_accepted_by_its_own_version_only(home):
    path = with_weights(home, RC2)
    document = json.loads(path.read_text(encoding="utf-8"))
    document["OtherParam"]["ServeParam"]["httpsEnabled"] = False
    path.write_text(json.dumps(document), encoding="utf-8")
    assert check_file(path, install=home, version="1.0.RC2").accepted
    assert not check_file(path, install=home, version="3.0").accepted


NO_JSON = "Json file is invalid. Please check json format! "
NO_OBJECT = "ServerConfig: [json.exception.type_error.304] cannot use at() with string"
"""The parser stops after the first value, which is the first key of a bare list of members."""
NO_SERVER = "ServerConfig: [json.exception.out_of_range.403] key 'ServerConfig' not found"
NO_TIMEOUT_FLAG = "The configName EnableDynamicAdjustTimeoutConfig is not found, using default value false. "
PUBLISHED = {
    "c02_rc1_chatglm3_6b_tp2": ("1.0.RC1", True, ""),
    "c09_rc3_mindformers_llama32_mbs30": ("1.0.RC3", True, ""),
    "c12_rc3_modelarts_inline_comments": ("1.0.RC3", False, NO_JSON),
    "c13_910a_comments_partial_fields": ("1.0.T71", False, NO_JSON),
    "c16_multinode_jsonc_fragment": ("2.0.T9", False, NO_OBJECT),
    "c17_mixed_generation_wrong_nesting": ("1.0.RC3", False, NO_JSON),
    "c19_motor_benchmark_mock_trailing_comma_nulls": ("1.0.RC3", False, NO_JSON),
    "c20_motor_perf_doc_typo_keys": ("2.2.RC1", False, NO_OBJECT),
    "c22_llm_server_20251222": ("2.3.0", True, ""),
    "c26_llm_server_head": ("3.0", True, ""),
    "c27_ut_config_dynamicbatch": ("3.0", True, NO_TIMEOUT_FLAG),
    "c31_ut_utils_plugin_params": ("3.0", False, NO_SERVER),
    "c35_doc_kv_cache_pool_mooncake": ("3.0", False, NO_OBJECT),
    "c37_doc_mtp_plugin_params": ("3.0", False, NO_OBJECT),
    "c38_doc_splitfuse_Mix_trailing_comma": ("3.0", False, NO_OBJECT),
    "c39_doc_thinking_budget_CRLF": ("3.0", False, NO_OBJECT),
    "c43_dsr1_readme_multinode": ("2.0.RC1", False, NO_JSON),
    "c45_A3_single_dsv3": ("2.2.RC1", True, ""),
    "c50_doc_long_sequence": ("3.0", False, NO_JSON),
    "c54_pd_motor_user_config_A2": ("2.2.RC1", False, NO_SERVER),
    "c56_aisbench_dsr1_2node_hash_comment": ("2.0.RC1", False, NO_JSON),
    "c59_rc2_default_no_trailing_newline": ("1.0.RC2", True, ""),
    "c60_rc1_inline_slash_comments": ("1.0.RC1", False, NO_JSON),
    "c64_pymotor_vllm_user_config_dsv31": ("2.3.0", False, NO_SERVER),
}
"""Whether the version that a file was written for takes it, and the first line that it prints."""
CERTIFICATES = (
    "certs/server.pem",
    "keys/server.key.pem",
    "certs/server_crl.pem",
    "ca/ca.pem",
    "ca/management_ca.pem",
    "ca/metrics_ca.pem",
    "certs/management/server.pem",
    "keys/management/server.key.pem",
    "management/certs/server_crl.pem",
    "certs/metrics/server.pem",
    "keys/metrics/server.key.pem",
    "metrics/certs/server_crl.pem",
)


def test_every_published_configuration_is_in_the_table():
    assert {path.stem for path in (GOLDEN / "configs").glob("c*.json")} == set(PUBLISHED)


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_published_configuration_is_taken_or_refused_by_its_own_version(home, name):
    """Weights and certificates lie here, so that only the file's own text decides."""
    version, accepted, first_line = PUBLISHED[name]
    for certificate in CERTIFICATES:
        place = home / "security" / certificate
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch(0o600)
    text = (GOLDEN / "configs" / f"{name}.json").read_bytes().decode()
    path = home / "conf" / "config.json"
    path.write_bytes(re.sub(r'("modelWeightPath"\s*:\s*)"[^"]*"', rf'\1"{home}/model"', text).encode())
    path.chmod(0o640)
    checked = check_file(path, install=home, version=version)
    assert checked.accepted == accepted
    assert "".join(checked.verdict.lines[:1]).startswith(first_line)


def test_what_was_wrong_before_is_wrong_after_modernising(home):
    path = with_weights(home, RC2)
    document = json.loads(path.read_text(encoding="utf-8"))
    document["OtherParam"]["ServeParam"]["httpsEnabled"] = False
    document["ScheduleParam"]["maxPreemptCount"] = 5
    document["ModelDeployParam"]["ModelParam"][0]["cpuMemSize"] = 0
    path.write_text(json.dumps(document), encoding="utf-8")
    verdict = check_file(path, install=home, version="1.0.RC2").verdict
    assert "can not be 0 when maxPreemptCount is not 0" in verdict.lines[0]


def test_modernising_keeps_every_field_of_the_oldest_layout():
    document = parse((GOLDEN / "configs" / f"{RC2}.json").read_text(encoding="utf-8")).value
    newer = modernised(document)
    for field in (Field.MAX_BATCH_SIZE, Field.MAX_PREFILL_TOKENS, Field.CACHE_BLOCK_SIZE, Field.PORT):
        assert read(newer, field) == read(document, field)


@pytest.mark.parametrize("value", [None, 5, [], "text", {"a": 1}])
def test_what_is_no_configuration_is_not_modernised(value):
    assert modernised(value) == value


def test_the_command_line_wins_over_the_environment_and_both_over_the_home(tmp_path):
    environment = {"MIES_CONFIG_JSON_PATH": "/e.json", "MIES_INSTALL_PATH": "/home"}
    assert config_path({"--config-file": "/a.json"}, environment, tmp_path) == Path("/a.json")
    assert config_path({}, environment, tmp_path) == Path("/e.json")
    del environment["MIES_CONFIG_JSON_PATH"]
    assert config_path({}, environment, tmp_path) == Path("/home/conf/config.json")
    assert config_path({}, {}, tmp_path) == tmp_path / "conf" / "config.json"
