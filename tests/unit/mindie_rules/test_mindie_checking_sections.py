"""Sections of the configuration that few people use, checked by the rules of the public source."""

import copy
import json
from pathlib import Path

import pytest

from autotune.mindie_rules.checks import Accepted, FileFacts, PathKind, Rejected, Surroundings, check_config
from autotune.mindie_rules.schedule_faults import schedule_faults

GOLDEN = Path(__file__).parents[2] / "golden"
BASE = json.loads((GOLDEN / "config_checks" / "base.json").read_text(encoding="utf-8"))
SERVER, BACKEND = "ServerConfig", "BackendConfig"
LAYERWISE = {
    "layerwiseDisaggregated": True,
    "layerwiseDisaggregatedRoleType": "master",
    "layerwiseDisaggregatedMasterIpAddress": "127.0.0.3",
    "layerwiseDisaggregatedSlaveIpAddress": ["127.0.0.4"],
    "layerwiseDisaggregatedDataPort": 10024,
    "layerwiseDisaggregatedCrtlPort": [10001],
}
NO_STRING = "[json.exception.type_error.302] type must be string, but is number"
NO_NUMBER = "[json.exception.type_error.302] type must be number, but is string"


def verdict_on(section, surroundings=None, **values):
    document = copy.deepcopy(BASE)
    document[section].update(values)
    return check_config(json.dumps(document), FileFacts(), surroundings)


def first_line(section, **values):
    verdict = verdict_on(section, **values)
    assert isinstance(verdict, Rejected)
    return verdict.lines[0] if verdict.lines else ""


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ({"layerwiseDisaggregatedRoleType": "both"}, ""),
        (
            {"layerwiseDisaggregatedMasterIpAddress": ""},
            "Input layerwiseDisaggregatedMasterIpAddress is empty",
        ),
        (
            {"layerwiseDisaggregatedSlaveIpAddress": ["300.0.0.1"]},
            "Input layerwiseDisaggregatedSlaveIpAddress [300.0.0.1] is invalid",
        ),
        (
            {"layerwiseDisaggregatedDataPort": 80},
            "serverConfig.layerwiseDisaggregatedDataPort [80] is less than [1024]",
        ),
        (
            {"layerwiseDisaggregatedCrtlPort": [80]},
            "serverConfig.layerwiseDisaggregatedCrtlPort [80] is less than [1024]",
        ),
        ({"layerwiseDisaggregatedCrtlPort": ["a"]}, "Type of element in json array does not match integer"),
        (
            {"layerwiseDisaggregatedSlaveIpAddress": [1]},
            "Type of element in json array does not match string",
        ),
    ],
)
def test_the_layerwise_mode_has_checks_of_its_own(values, line):
    assert isinstance(verdict_on(SERVER, **LAYERWISE), Accepted)
    assert first_line(SERVER, **{**LAYERWISE, **values}) == line


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ({"interCommTlsCert": 1}, f"JSON error in ConfigManager: {NO_STRING}"),
        ({"interCommTlsCaFiles": [1]}, "Type of element in json array does not match string"),
    ],
)
def test_encrypted_traffic_between_the_halves_needs_its_files_as_texts(values, line):
    assert first_line(SERVER, interCommTLSEnabled=True, **values) == line
    assert isinstance(verdict_on(SERVER, interCommTLSEnabled=False, **values), Accepted)


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ({"maxJsonDepth": 5}, "serverConfig.maxJsonDepth [5] is less than [10]"),
        ({"interCommPort": 80}, "serverConfig.interCommPort [80] is less than [1024]"),
        (
            {"HealthCheckConfig": {"npuUsageThreshold": 101}},
            "serverConfig.HealthCheckConfig.npuUsageThreshold [101] is out of bound [100]",
        ),
        (
            {"HealthCheckConfig": {"npuUsageThreshold": -1}},
            "serverConfig.HealthCheckConfig.npuUsageThreshold [4294967295] is out of bound [100]",
        ),
        (
            {"HealthCheckConfig": {"npuUsageThreshold": "1"}},
            f"JSON error in ConfigManager: {NO_NUMBER}",
        ),
        ({"ipAddress": "1" * 30 + ".1.1.1"}, "Input ipAddress format is invalid."),
        ({"ipAddress": "fe80::1%eth0"}, "Input ipAddress [fe80::1%eth0] is invalid"),
        ({"managementIpAddress": "a:b"}, "Input managementIpAddress [a:b] is invalid"),
    ],
)
def test_limits_and_addresses_of_the_server_are_held(values, line):
    assert first_line(SERVER, **values) == line


@pytest.mark.parametrize("address", ["::1", "[::1]", "10.0.0.1", "2001:db8::1"])
def test_addresses_of_both_families_are_accepted(address):
    assert isinstance(verdict_on(SERVER, ipAddress=address), Accepted)


INTER_NODE = "Failed to init tls cfg. [BackendConfigManager::InitFromJson]"


@pytest.mark.parametrize(
    ("values", "line"),
    [
        (
            {"kvPoolConfig": {"backend": "redis"}},
            "Unknow kv pool backend. And only [`unifiedcache`, `mooncake`, `memcache`, ``] is available!",
        ),
        ({"kvPoolConfig": {"configPath": "x" * 501}}, "The length of kvPool Config Path exceeds 500."),
        ({"kvPoolConfig": {"backend": 1}}, f"JSON error in ConfigManager: {NO_STRING}"),
        ({"backendName": "a" * 51}, "The length of backendName exceeds 50."),
        (
            {"modelInstanceNumber": 0, "npuDeviceIds": []},
            "backendConfig.modelInstanceNumber [0] is less than [1]",
        ),
        ({"multiNodesInferPort": 80}, "backendConfig.multiNodesInferPort [80] is less than [1024]"),
        ({"interNodeTLSEnabled": True, "interNodeTlsCaFiles": []}, "interNodeTlsCaFiles size is invalid"),
        (
            {"interNodeTLSEnabled": True, "interNodeTlsCaFiles": [1]},
            "Type of element in json array does not match string",
        ),
        ({"npuDeviceIds": [[None]]}, "The values of npu_ids should not be less than 0, but got null"),
        ({"npuDeviceIds": "0"}, "The type of param npuDeviceIds should be array, but is string"),
        ({"ScheduleConfig": []}, "The type of param ScheduleConfig should be object, but got array"),
    ],
)
def test_the_backend_has_checks_beyond_its_devices(values, line):
    assert first_line(BACKEND, **values) == line


def test_a_missing_certificate_name_between_nodes_is_a_type_fault():
    document = copy.deepcopy(BASE)
    document[BACKEND]["interNodeTLSEnabled"] = True
    del document[BACKEND]["interNodeTlsPk"]
    verdict = check_config(json.dumps(document))
    assert (
        verdict.lines[0] == f"{INTER_NODE} [json.exception.type_error.302] type must be string, but is null"
    )


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ({"maxNumPartialPrefills": 65}, "scheduleParam.maxNumPartialPrefills [65] is out of bound [64]"),
        (
            {"maxNumPartialPrefills": 4, "maxLongPartialPrefills": 5},
            "scheduleParam.maxLongPartialPrefills [5] is out of bound [4]",
        ),
        ({"longPrefillTokenThreshold": 0}, "scheduleParam.longPrefillTokenThreshold [0] is less than [1]"),
        ({"policyType": 3}, ""),
        (
            {"layerwiseDisaggregated": {"nextPHeadPrior": 1}},
            "The type of param nextPHeadPrior should be bool, but got number",
        ),
        ({"maxN": 8193}, "scheduleParam.maxN [8193] is out of bound [8192]"),
        ({"prefillChunkSize": "a"}, f"JSON error in ConfigManager: {NO_NUMBER}"),
    ],
)
def test_rare_scheduling_fields_are_held(values, line):
    schedule = {**BASE[BACKEND]["ScheduleConfig"], **values}
    assert first_line(BACKEND, ScheduleConfig=schedule) == line


def test_a_select_policy_counts_only_without_select_batch_and_in_sixteen_bits():
    schedule = BASE[BACKEND]["ScheduleConfig"]
    for values in ({"stageSelectPolicy": 3, "supportSelectBatch": True}, {"stageSelectPolicy": 65536}):
        assert isinstance(verdict_on(BACKEND, ScheduleConfig={**schedule, **values}), Accepted)


@pytest.mark.parametrize(
    ("plugins", "line"),
    [
        ('{"plugin_type": 5}', f"JSON error in ConfigManager: {NO_STRING}"),
        (
            '{"plugin_type": "mtp", "num_speculative_tokens": "1"}',
            f"JSON error in ConfigManager: {NO_NUMBER}",
        ),
    ],
)
def test_a_speculation_plugin_of_wrong_types_ends_the_check(plugins, line):
    deploy = copy.deepcopy(BASE[BACKEND]["ModelDeployConfig"])
    deploy["ModelConfig"][0]["plugin_params"] = plugins
    assert first_line(BACKEND, ModelDeployConfig=deploy) == line


@pytest.mark.parametrize("plugins", ["{}", "[]", '{"plugin_type": "splitfuse"}', {"plugin_type": "mtp"}, ""])
def test_other_plugins_are_accepted(plugins):
    deploy = copy.deepcopy(BASE[BACKEND]["ModelDeployConfig"])
    deploy["ModelConfig"][0]["plugin_params"] = plugins
    assert isinstance(verdict_on(BACKEND, ModelDeployConfig=deploy), Accepted)


@pytest.mark.parametrize(("size", "accepted"), [("2", True), (1.5, True), ("x", False), (-1, False)])
def test_a_parallel_size_is_read_as_a_number(size, accepted):
    deploy = copy.deepcopy(BASE[BACKEND]["ModelDeployConfig"])
    deploy["ModelConfig"][0]["dp"] = size
    assert isinstance(verdict_on(BACKEND, ModelDeployConfig=deploy), Accepted) == accepted


def test_two_models_need_the_mixed_template():
    deploy = copy.deepcopy(BASE[BACKEND]["ModelDeployConfig"])
    deploy["ModelConfig"] *= 2
    refused = verdict_on(BACKEND, ModelDeployConfig=deploy)
    assert refused.logged == ("There should be one modelParam for Standard templateType.",)
    mixed = {**BASE[BACKEND]["ScheduleConfig"], "templateType": "Mix"}
    assert isinstance(verdict_on(BACKEND, ModelDeployConfig=deploy, ScheduleConfig=mixed), Accepted)


def test_weights_that_cannot_be_read_are_told_in_words_of_our_own():
    verdict = check_config(json.dumps(BASE), None, Surroundings(weights_usable=lambda _path: False))
    assert verdict.said == ()
    assert "modelWeightPath" in verdict.reason


def test_certificates_that_are_there_are_accepted():
    def kind(path):
        return PathKind.FILE if path.endswith(".pem") else PathKind.FOLDER

    around = Surroundings(home="/opt", path_kind=kind)
    assert isinstance(verdict_on(SERVER, around, httpsEnabled=True), Accepted)


def test_no_authority_and_too_many_revocation_lists_are_told():
    def kind(path):
        return PathKind.FILE if path.endswith(".pem") else PathKind.FOLDER

    verdict = verdict_on(
        SERVER,
        Surroundings(path_kind=kind),
        httpsEnabled=True,
        tlsCaFile=[],
        tlsCrlFiles=["a.pem", "b.pem", "c.pem", "d.pem"],
    )
    assert verdict.lines == (
        "ERR: serverConfig_.tlsCrlFiles size must in [0, 3] .",
        "ERR: serverConfig_.tlsCaFile size must in [1, 3] .",
    )


def test_certificate_lists_of_wrong_types_are_told():
    assert first_line(SERVER, httpsEnabled=True, tlsCaFile=[1]) == (
        "Type of element in json array does not match string"
    )


@pytest.mark.parametrize(
    ("facts", "line"),
    [
        (FileFacts(is_link=True), "The file: config.json is a link."),
        (FileFacts(exists=False), "The input file: config.json is not a regular file or not exists"),
    ],
)
def test_a_link_inside_of_the_path_and_a_missing_file_are_refused(facts, line):
    assert check_config(json.dumps(BASE), facts).lines[0] == line


def test_scheduling_values_of_any_layout_are_held_against_what_all_versions_check():
    oldest = json.loads((GOLDEN / "configs" / "c02_rc1_chatglm3_6b_tp2.json").read_text(encoding="utf-8"))
    assert schedule_faults(oldest, version="1.0.RC1") == ()
    oldest["ScheduleParam"]["supportSelectBatch"] = 1
    assert schedule_faults(oldest)[0] == "The type of param supportSelectBatch should be bool, but got number"
    newest = copy.deepcopy(BASE)
    newest[BACKEND]["ScheduleConfig"]["prefillChunkSize"] = "a"
    assert schedule_faults(newest)[0].startswith("JSON error in ConfigManager")
