"""The service's own verdicts on configurations, against those that its checker of May 2026 gave."""

import copy
import json
from pathlib import Path

import pytest

from autotune.mindie_rules.checks import (
    CHECKING_FAILED,
    Accepted,
    FileFacts,
    PathKind,
    Rejected,
    Surroundings,
    check_config,
)

GOLDEN = Path(__file__).parents[2] / "golden"
BASE = json.loads((GOLDEN / "config_checks" / "base.json").read_text(encoding="utf-8"))
VERDICTS = json.loads((GOLDEN / "config_checks" / "verdicts.json").read_text(encoding="utf-8"))
CONFIG = "/opt/mindie/conf/config.json"
WEIGHTS = "HOME/model"
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


def changed(*changes):
    document = copy.deepcopy(BASE)
    for path, value in changes:
        node = document
        *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
        for step in steps:
            node = node[step]
        if value == {"$delete": True}:
            node.pop(last, None)
        else:
            node[last] = value
    return json.dumps(document, indent=4, ensure_ascii=False) + "\n"


def verdict_on(text, mode=0o640, **others):
    facts = FileFacts(path=CONFIG, mode=mode, owner_uid=others.pop("owner_uid", 0))
    surroundings = Surroundings(weights_usable=lambda path: path == WEIGHTS, **others)
    return check_config(text, facts, surroundings)


def said(verdict):
    return verdict.lines if isinstance(verdict, Accepted) else verdict.said


def of_schedule(key, value):
    return f"BackendConfig.ScheduleConfig.{key}", value


def of_server(key, value):
    return f"ServerConfig.{key}", value


@pytest.mark.parametrize("entry", VERDICTS, ids=[entry["id"] for entry in VERDICTS])
def test_every_verdict_of_the_real_checker_comes_out_word_for_word(entry):
    text = changed(*entry.get("set", []))
    if "text" in entry:
        text = TEXTS[entry["text"]](text)
    verdict = verdict_on(text, mode=int(entry.get("mode", "640"), 8))
    lines = [line.replace("CONFIG current", f"{CONFIG} current") for line in entry["says"]]
    # the last words come up to ten seconds later, so that the checker was often stopped before them
    assert said(verdict) == tuple(line for line in lines if line != CHECKING_FAILED)
    assert isinstance(verdict, Accepted) == (entry["verdict"] == "accepted")
    assert CHECKING_FAILED not in lines or verdict.last_words == CHECKING_FAILED


BATCH_SIZE, DEVICES = "BackendConfig.ScheduleConfig.maxBatchSize", "BackendConfig.npuDeviceIds"
MODELS = "BackendConfig.ModelDeployConfig.ModelConfig"
THROWN = "JSON error in ConfigManager: [json.exception.type_error."
FAULTS = {
    "negative": ((BATCH_SIZE, -1), "The value of param maxBatchSize for uint32_t is invalid."),
    "too wide": ((BATCH_SIZE, 2**32), "The value of param maxBatchSize for uint32_t is invalid."),
    "no integer": ((BATCH_SIZE, 2**64), "The type of param maxBatchSize should be uint32_t, but got number"),
    "block": (of_schedule("cacheBlockSize", 129), "scheduleParam.cacheBlockSize [129] is out of bound [128]"),
    "time": (
        of_schedule("prefillTimeMsPerReq", 1001),
        "scheduleParam.prefillTimeMsPerReq [1001] is out of bound [1000]",
    ),
    "any address": (of_server("ipAddress", "0.0.0.0"), "Input ipAddress [0.0.0.0] is invalid"),
    "leading zero": (of_server("ipAddress", "1.2.3.04"), "Input ipAddress [1.2.3.04] is invalid"),
    "any IPv6 address": (of_server("ipAddress", "::"), "Input ipAddress [::] is invalid"),
    "port": (of_server("port", 1120), "Endpoint port cannot be equal to multiNodesInferPort."),
    "missing flag": (
        of_server("distDPServerEnabled", {"$delete": True}),
        f"{THROWN}302] type must be boolean, but is null",
    ),
    "flat devices": (
        (DEVICES, [0]),
        "The type of param in each npuDeviceIds set should be array, but is number",
    ),
    "text devices": ((DEVICES, [["0"]]), "Type of element in json array does not match integer"),
    "device below 0": ((DEVICES, [[-1]]), "The values of npu_ids should not be less than 0, but got -1"),
    "engine name": (("BackendConfig.backendName", "A"), "The pattern of backendName is invalid."),
    "models": (
        (MODELS, {}),
        f"{THROWN}305] cannot use operator[] with a numeric argument with object",
    ),
    "parallel": ((f"{MODELS}.0.dp", 0), "ConfigManager init exception: dp cannot be smaller than 1."),
}


@pytest.mark.parametrize(("change", "line"), FAULTS.values(), ids=FAULTS)
def test_faults_beyond_the_recorded_ones_are_told_in_the_checkers_words(change, line):
    verdict = verdict_on(changed(change))
    assert isinstance(verdict, Rejected)
    assert verdict.lines[0] == line


@pytest.mark.parametrize(
    ("text", "kind"), [('"ServerConfig": {}', "string"), ("[]", "array"), ("7", "number"), ("null", "null")]
)
def test_a_text_whose_first_value_is_no_object_has_no_sections(text, kind):
    fault = f"ServerConfig: [json.exception.type_error.304] cannot use at() with {kind}"
    assert verdict_on(text).lines[0] == fault


def test_repeated_device_numbers_are_refused_when_their_count_fits():
    verdict = verdict_on(
        changed(
            ("BackendConfig.npuDeviceIds", [[0, 0]]),
            ("BackendConfig.ModelDeployConfig.ModelConfig.0.worldSize", 2),
        )
    )
    assert verdict.lines == ("npuDeviceID does not allow repetitive element",)


@pytest.mark.parametrize("number", ["1e2", "2E+2", "200.0"])
def test_a_number_with_an_exponent_or_a_point_is_no_integer(number):
    verdict = verdict_on(changed().replace(BATCH, f'"maxBatchSize": {number}'))
    assert verdict.lines[0] == "The type of param maxBatchSize should be uint32_t, but got number"


@pytest.mark.parametrize(
    "value", ["NaN", "Infinity", "-Infinity", "+200", ".5", "5.", "0x10", "1e400", "nul", "True"]
)
def test_what_is_no_json_value_is_refused_as_malformed(value):
    verdict = verdict_on(changed().replace(BATCH, f'"maxBatchSize": {value}'))
    assert verdict.lines[0] == "Json file is invalid. Please check json format! "


def test_of_two_equal_keys_the_last_counts():
    doubled = changed().replace(BATCH, f'{BATCH}, "maxBatchSize": 0')
    assert said(verdict_on(doubled)) == ("scheduleParam.maxBatchSize [0] is less than [1]",)


def test_a_byte_order_mark_and_a_text_behind_the_end_are_passed_over():
    assert isinstance(verdict_on("\ufeff" + changed() + "} trailing"), Accepted)


@pytest.mark.parametrize("raw", [b'"\xff"', b'"\xc3"', b'"a\x01b"', rb'"\ud800"', rb'"\x41"'])
def test_a_string_of_wrong_bytes_or_escapes_is_refused(raw):
    text = changed().replace('"1.0.0"', raw.decode("utf-8", "surrogateescape"), 1)
    assert isinstance(verdict_on(text), Rejected)


def test_the_first_fault_of_the_schedule_is_printed_and_every_fault_of_the_server():
    verdict = verdict_on(
        changed(
            of_schedule("maxBatchSize", 0),
            of_schedule("cacheBlockSize", 0),
            of_server("port", 80),
            of_server("maxLinkNum", 0),
        )
    )
    assert verdict.lines == (
        "scheduleParam.cacheBlockSize [0] is less than [1]",
        "serverConfig.port [80] is less than [1024]",
        "serverConfig.maxLinkNum [0] is less than [1]",
    )


def test_a_fault_that_goes_to_the_log_only_still_has_a_reason():
    verdict = verdict_on(
        changed(
            of_schedule("maxPreemptCount", 250),
            ("BackendConfig.ModelDeployConfig.ModelConfig.0.cpuMemSize", 5),
        )
    )
    assert verdict.lines == ()
    assert verdict.reason.startswith("The maxPreemptCount cannot be set greater than maxBatchsize")


def test_a_notice_about_a_default_is_no_reason():
    text = changed(
        ("EnableDynamicAdjustTimeoutConfig", {"$delete": True}),
        ("BackendConfig.ModelDeployConfig.truncation", "no"),
        of_schedule("templateName", "Standard_llama"),
    )
    verdict = verdict_on(text)
    assert verdict.lines[0] == 'The value of truncation "no" is invalid, use default value.'
    assert verdict.lines[1].startswith("The configName EnableDynamicAdjustTimeoutConfig is not found")
    assert verdict.reason == "The templateName must be Standard_LLM, but is Standard_llama"


def test_a_message_without_a_line_end_is_lost_unless_a_line_follows_it():
    outside = "scheduleParam.decodePolicyType [4] is outside the expected schedule policy range: 0, 1, 2, 3"
    assert verdict_on(changed(of_schedule("decodePolicyType", 4))).lines == ()
    both = verdict_on(changed(of_schedule("decodePolicyType", 4), of_schedule("maxIterTimes", 0)))
    assert both.lines == (f"{outside}The value of ScheduleParam.maxIterTimes can not be 0.",)


@pytest.mark.parametrize(
    ("mode", "accepted"),
    [
        (0o640, True),
        (0o600, True),
        (0o440, True),
        (0o400, True),
        (0o644, False),
        (0o641, False),
        (0o740, False),
    ],
)
def test_rights_up_to_640_are_accepted(mode, accepted):
    assert isinstance(verdict_on(changed(), mode=mode), Accepted) == accepted


def test_rights_for_others_are_named_as_the_checker_names_them():
    verdict = verdict_on(changed(), mode=0o644)
    assert verdict.lines[0] == (
        f"Check path: config.json failed, by: Check Other group permission failed: {CONFIG} "
        "current permission is 4, but required no greater than 0. "
        "Required permisssion is 640, but got permission is 644"
    )


def test_a_file_of_somebody_else_is_refused():
    verdict = verdict_on(changed(), owner_uid=1000)
    assert verdict.lines[0] == (
        "Check path: config.json failed, by:owner id diff: "
        "current process user id is 0, file owner id is 1000"
    )


def test_a_file_of_ten_megabytes_is_accepted_and_one_byte_more_is_not():
    text = changed()
    limit = 10 * 1024 * 1024
    assert isinstance(verdict_on(text + " " * (limit - len(text))), Accepted)
    assert verdict_on(text + " " * (limit - len(text) + 1)).lines[0].endswith("file is too large")


def test_encryption_asks_for_the_certificates_of_every_plane():
    verdict = verdict_on(
        changed(of_server("httpsEnabled", value=True)),
        home="/opt/mindie",
        path_kind=lambda _path: PathKind.ABSENT,
    )
    wrong = "path is invalid by: The input file: server.pem is not a regular file or not exists"
    assert verdict.lines[0] == f"The serverConfig_.tlsCert {wrong}"
    assert f"The ServerConfig.metricsTlsCert {wrong}" in verdict.lines
    assert "ERR: serverConfig_.managementTlsCaFile file not exit ." in verdict.lines


def test_one_plane_needs_one_set_of_certificates():
    together = [of_server("managementIpAddress", "127.0.0.1"), of_server("managementPort", 1025)]
    verdict = verdict_on(
        changed(of_server("httpsEnabled", value=True), of_server("metricsPort", 1025), *together),
        path_kind=lambda _path: PathKind.ABSENT,
    )
    assert not any("anagement" in line for line in verdict.lines)


def test_several_nodes_need_a_rank_table():
    wanted = "please set a valid ranktable file path with RANK_TABLE_FILE environment."
    verdict = verdict_on(changed(("BackendConfig.multiNodesInferEnabled", True)), rank_table_usable=False)
    assert verdict.lines == (
        f"Ranktable file is not exist, {wanted}",
        "ConfigManager init exception: init rank table config error.",
    )


def test_the_bound_of_the_batch_is_that_of_the_version():
    text = changed(of_schedule("maxBatchSize", 5001))
    facts = FileFacts(path=CONFIG)
    assert isinstance(check_config(text, facts, version="3.0"), Accepted)
    older = check_config(text, facts, version="2.2.RC1")
    assert said(older) == ("scheduleParam.maxBatchSize [5001] is out of bound [5000]",)


def test_a_speculation_plugin_that_is_no_json_is_complained_of_and_accepted():
    plugins = ("BackendConfig.ModelDeployConfig.ModelConfig.0.plugin_params", "not json")
    assert isinstance(verdict_on(changed(plugins)), Accepted)


@pytest.mark.parametrize(
    ("name", "accepted"),
    [
        ("c22_llm_server_20251222", True),
        ("c26_llm_server_head", True),
        ("c27_ut_config_dynamicbatch", True),
        ("c02_rc1_chatglm3_6b_tp2", False),
        ("c09_rc3_mindformers_llama32_mbs30", False),
        ("c12_rc3_modelarts_inline_comments", False),
        ("c16_multinode_jsonc_fragment", False),
        ("c31_ut_utils_plugin_params", False),
        ("c54_pd_motor_user_config_A2", False),
        ("c59_rc2_default_no_trailing_newline", False),
    ],
)
def test_published_configurations_get_the_verdict_of_the_newest_checker(name, accepted):
    text = (GOLDEN / "configs" / f"{name}.json").read_text(encoding="utf-8")
    assert isinstance(check_config(text, FileFacts(path=CONFIG)), Accepted) == accepted
