"""Logs of every generation: block counts, starts, failures; and what is printed is read back."""

import json
from pathlib import Path

import pytest

from autotune.errors import LaunchCause
from autotune.mindie_rules import log_printing
from autotune.mindie_rules.log_failures import MOST_LINES, first_failure, is_failure
from autotune.mindie_rules.log_lines import block_count, has_started, is_start_line, read_lines
from autotune.mindie_rules.log_printing import Stamp

LOGS = Path(__file__).parents[2] / "golden" / "logs"
EXPECTED = json.loads((LOGS / "expected.json").read_text(encoding="utf-8"))
STAMP = Stamp(time="2025-11-25 17:23:11,888", pid=249, tid=281471718846752)


def reading(identity):
    (path,) = LOGS.glob(f"{identity}_*")
    return read_lines(path.read_text(encoding="utf-8").splitlines())


def test_a_cache_shape_in_either_layout_gives_blocks_and_block_size():
    shape = reading("g01").shape
    facts = EXPECTED["g01"]
    assert reading("g01").blocks == facts["num_blocks"]
    assert (shape.layout, shape.block_size) == (facts["layout"], facts["block_size"])
    assert shape.kv_heads_by_head_size == facts["kv_heads_x_head_dim"]
    line = log_printing.cache_shape(STAMP, blocks=2176, block_size=128, kv_heads=4, head_size=128)
    flat = read_lines([line]).shape
    assert (flat.layout, flat.blocks, flat.block_size, flat.kv_heads_by_head_size) == ("ND", 2176, 128, 512)


@pytest.mark.parametrize("identity", ["g02", "g05", "g06", "g08", "g28"])
def test_started_or_not_is_read_from_every_generation(identity):
    assert reading(identity).started == EXPECTED[identity]["started"]


@pytest.mark.parametrize(
    ("identity", "cause"),
    [
        ("g02", LaunchCause.CRASHED),
        ("g05", LaunchCause.MEMORY),
        ("g08", LaunchCause.PORT),
        ("g23", LaunchCause.MEMORY),
    ],
)
def test_a_failed_start_is_classified_with_its_first_lines(identity, cause):
    found = reading(identity)
    assert found.cause is cause
    assert 1 <= len(found.error_lines) <= MOST_LINES


def test_a_service_that_is_up_without_a_model_shows_it_in_its_audit_lines():
    found = reading("g09")
    assert found.started == EXPECTED["g09"]["daemon_started"]
    assert (found.models_status == 200) == EXPECTED["g09"]["model_ready"]


def test_blocks_that_a_guide_tells_in_prose_are_read():
    assert reading("g30").blocks == EXPECTED["g30"]["blocks"]


def result(rank, blocks):
    return log_printing.initialize_result(STAMP, rank=rank, blocks=blocks, block_size=128, positions=8192)


def test_the_least_of_the_ranks_counts():
    assert block_count([result(0, 2176), result(1, 2170), result(2, 2175)]) == 2170


def test_the_last_of_a_rank_counts_since_a_warm_up_prints_a_small_one_first():
    shapes = [
        log_printing.cache_shape(STAMP, blocks=blocks, block_size=128, kv_heads=8, head_size=128)
        for blocks in (9, 2176)
    ]
    assert block_count(shapes) == 2176


@pytest.mark.parametrize(
    "prefix",
    [
        "[2025-02-10 10:55:23,153] [{}] [28] [llm] [INFO] ",
        "[2025-02-10T02:55:23.153Z] [{}] [28] ",
        "2025-02-10T02:55:23Z stdout F [2025-02-10 10:55:23,153] [{}] ",
        "Feb 10 10:55:23 host1 mindie[5]: [2025-02-10 10:55:23,153] [{}] ",
        "2024-08-14 13:59:20.267521 14014{} info x.py:5] ",
        "2024-06-05 07:35:57,341 [INFO] [pid: 25{}] ",
        "local_rank={} ",
        "rank_id: {} ",
    ],
)
def test_ranks_are_told_apart_in_every_form_of_a_line(prefix):
    first, second = prefix.format(4), prefix.format(5)
    shape = "k_caches[0].shape=torch.Size([{}, 128, 4, 128])".format
    lines = [first + shape(9), second + shape(9), first + shape(2170), second + shape(2176)]
    assert block_count(lines) == 2170
    assert block_count([first + shape(2176) + second + shape(2170)]) == 2170


def test_colours_hide_neither_blocks_nor_the_start():
    found = read_lines(["NPU blocks = \x1b[1m2175\x1b[0m, x", "\x1b[32mDaemon start success!\x1b[0m"])
    assert (found.blocks, found.started) == (2175, True)


def test_what_the_scheduler_has_comes_before_what_was_allocated():
    allocated = log_printing.cache_shape(STAMP, blocks=2176, block_size=128, kv_heads=8, head_size=128)
    scheduled = log_printing.cache_overview(STAMP, npu_blocks=2175, cpu_blocks=0, positions=8192)
    assert block_count([scheduled, allocated]) == 2175


@pytest.mark.parametrize(
    ("line", "blocks"),
    [
        ("{'status': 'ok', 'npuBlockNum': '817', 'cpuBlockNum': '0'}", 817),
        ("npuBlockNum: 544", 544),
        ("num_cpu_blocks:100, num_npu_blocks:2048", 2048),
        ("k cache's shape k_caches[0].shape=torch.Size([1747, 128, 1, 128])", 1747),
        ("nothing of the kind", None),
        ("self.k_caches[0].shape = torch.Size([ 2176,128, 4, 128 ])", 2176),
        ("k_caches[0].shape=torch.Size([2176, 12", 2176),
        ("k_caches[0].shape=torch.Size([217", None),
        ("{'npuBlockNum': '217", None),
        ('{"npuBlockNum": "2175"}', 2175),
        ("总块数 npuBlockNum：2175", 2175),
        ("npuBlockNum: 2,175", None),
        ("{'kvCacheDescs': [{'npuBlockNum': 4000}, {'npuBlockNum': 2175}]}", 2175),
        ("free npu blocks: 12, availNpuBlockNum: 12", None),
        ("NPU blocks = 0", None),
    ],
)
def test_older_and_newer_forms_of_the_number_are_read(line, blocks):
    assert block_count([line]) == blocks


def test_only_the_last_start_of_a_file_counts():
    lines = [
        log_printing.main_pid(1),
        log_printing.START_SUCCESS,
        log_printing.main_pid(2),
        "scheduleParam.maxBatchSize [0] is less than [1]",
    ]
    found = read_lines(lines)
    assert not found.started
    assert found.cause is LaunchCause.CONFIG


def test_a_success_line_is_recognised_as_users_retype_it():
    assert is_start_line(log_printing.START_SUCCESS)
    assert is_start_line("daemon start success")
    assert is_start_line("loading 100 %Daemon start success!")
    assert is_start_line("Daemon started successfully")
    assert is_start_line(log_printing.server_started(STAMP, host="host1"))
    assert not is_start_line(log_printing.START_FAILED)


def test_a_daemon_that_went_after_its_success_has_not_started():
    assert not has_started([log_printing.START_SUCCESS, "[Daemon] received exit signal[17]"])


@pytest.mark.parametrize(
    ("lines", "cause"),
    [
        (log_printing.port_busy(STAMP, address="127.0.0.1", port=1025), LaunchCause.PORT),
        (log_printing.out_of_memory(STAMP, gib=2.5), LaunchCause.MEMORY),
        ((log_printing.warm_up_out_of_memory(STAMP, max_input_token_len=8192),), LaunchCause.MEMORY),
        ((log_printing.child_died(pid=7, signal=9, name="Killed"),), LaunchCause.CRASHED),
        (("Killed",), LaunchCause.CRASHED),
        (("LLMPythonModel initializes fail: modelWrapper return status is error",), LaunchCause.MODEL),
        (
            ("Check path: config.json failed, by: Check Other group permission failed: c",),
            LaunchCause.PERMISSION,
        ),
        (("Json file is invalid. Please check json format! ",), LaunchCause.CONFIG),
        (("[ERROR] acl graph capture failed",), LaunchCause.GRAPH),
        (("Num_npu_blocks must be non-negative, got -3",), LaunchCause.MEMORY),
        (("Memory_Allocation_Failure(EL0004): Failed to allocate memory.",), LaunchCause.MEMORY),
        (("[ERROR] rtMalloc execute failed, ErrCode=207001",), LaunchCause.MEMORY),
        (("torch_npu error code is 207008: Insufficient_Stream_Resources(EL0009)",), LaunchCause.GRAPH),
        (("Set visible device failed, invalid device=6, input visible devices:6",), LaunchCause.CONFIG),
        (("[HCCL] port 65536 have already been bound",), LaunchCause.PORT),
        (("OSError: [Errno 30] Read-only file system: '/opt/kernel_meta'",), LaunchCause.PERMISSION),
        (("Semaphore /llm_x is owned by uid 1001",), LaunchCause.PERMISSION),
        (("dcmi module initialize failed. ret is -8005", "Killed"), LaunchCause.PERMISSION),
        (
            ("The value of modelParam.cpuMemSize can not be 0 when maxPreemptCount is not 0.",),
            LaunchCause.CONFIG,
        ),
    ],
)
def test_every_kind_of_failure_is_told_by_its_lines(lines, cause):
    failure = first_failure(lines)
    assert failure.cause is cause
    assert failure.lines[0] in [line.strip() for line in lines]


@pytest.mark.parametrize(
    ("cause", "lines"),
    [
        (
            LaunchCause.MEMORY,
            [
                "[ERROR] alloc device memory failed, size:1234",
                "[ERROR] drvMemAllocHugePageManaged failed",
                "ACL_ERROR_RT_MEMORY_ALLOCATION",
                "KV cache memory is not enough, npuBlockNum is 0",
                "Available KV cache memory: -0.87 GiB",
                "MemoryError",
                "oom-kill:constraint=CONSTRAINT_MEMCG,task=mindie_llm_back",
                "DefaultCPUAllocator: can't allocate memory: you tried to allocate 12 bytes",
            ],
        ),
        (
            LaunchCause.PORT,
            [
                "bind() failed: EADDRINUSE",
                "The port 1025 has been used",
                "Failed to bind 127.0.0.1:1025",
                "Bind port 1120 failed",
                "RuntimeError: [1] bind(): port 29500 already in use",
            ],
        ),
        (
            LaunchCause.PERMISSION,
            [
                "open /dev/davinci0: Operation not permitted",
                "OSError: [Errno 28] No space left on device: '/dev/shm/llm_backend_1'",
                "mkdir failed: Read-only file system",
                "The file permission of config.json is not 640",
            ],
        ),
        (
            LaunchCause.CONFIG,
            [
                "terminate: nlohmann::detail::type_error",
                "Failed to parse config.json",
                "Config file not exist: /x/conf/config.json",
                "param maxBatchSize is invalid",
                "worldSize is not equal to the number of npuDeviceIds",
                "Failed to load certificate",
                "unable to load private key",
                "tlsCert is expired",
            ],
        ),
        (
            LaunchCause.MODEL,
            [
                "safetensors_rust.SafetensorError: Error while deserializing header",
                "ValueError: Unrecognized model in /data/x",
                "size mismatch for lm_head.weight",
                "libatb.so: cannot open shared object file: No such file or directory",
                "AssertionError: weight lm_head.weight does not exist",
                "tokenizer init failed",
                "TypeError: unsupported operand",
            ],
        ),
        (LaunchCause.GRAPH, ["capture_begin failed: aclmdlRICaptureBegin", "GraphManager build failed"]),
        (LaunchCause.CRASHED, ["*** SIGSEGV received ***", "已杀死", "double free or corruption (out)"]),
    ],
)
def test_other_wordings_of_a_failure_have_the_same_class(cause, lines):
    assert {line: first_failure([line]) and first_failure([line]).cause for line in lines} == dict.fromkeys(
        lines, cause
    )


@pytest.mark.parametrize(
    "line",
    [
        "[2025-12-15 15:19:22.682+08:00] [38] [41] [server] [INFO] prompt: what does out of memory mean?",
        "2024-08-14 13:59:20.267521 140144 info x.py:5] KeyError: asked by a user",
        "[DEBUG] ImportError: flash_attn",
        "WARNING: ImportError: no triton, done without it",
        "[WARN] KV cache memory is not enough: recompute",
        "[INFO] port 1025 is used by this service",
        "[INFO] failed requests: 0",
    ],
)
def test_a_line_that_tells_of_no_failure_is_none_whatever_words_are_in_it(line):
    assert first_failure([line]) is None


def test_a_memory_failure_outranks_the_model_that_did_not_load_for_it():
    lines = ["LLMPythonModel initializes fail", "RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB"]
    assert first_failure(lines).cause is LaunchCause.MEMORY


def test_normal_lines_of_a_start_and_a_stop_are_no_failure():
    lines = [
        log_printing.main_pid(1),
        log_printing.load_config("/opt/conf/config.json"),
        log_printing.INIT_SUCCESS,
        log_printing.START_SUCCESS,
        log_printing.schedule_round(STAMP, running=10, waiting_size=0, swapped=0, batch=10),
        log_printing.killing(),
        log_printing.waiting(1),
        log_printing.ALL_EXITED,
    ]
    assert first_failure(lines) is None


VERDICTS = json.loads((LOGS.parent / "config_checks" / "verdicts.json").read_text(encoding="utf-8"))
SAID = [
    [line.replace("CONFIG", "/opt/mindie/conf/config.json") for line in entry["says"]]
    for entry in VERDICTS
    if entry["verdict"] == "refused" and entry["says"]
]


def test_whatever_the_checker_says_of_a_configuration_is_told_from_its_first_line_on():
    """254 verdicts of the vendor's own checker: each line by itself is a failure."""
    for lines in SAID:
        failure = first_failure(lines)
        assert failure.cause in {LaunchCause.CONFIG, LaunchCause.PERMISSION}
        assert failure.lines[0] == lines[0].strip()
        assert all(map(is_failure, lines)), lines


def test_what_the_checker_says_of_a_configuration_that_it_accepts_is_no_failure():
    accepted = [line for entry in VERDICTS if entry["verdict"] == "accepted" for line in entry["says"]]
    assert accepted
    assert first_failure(accepted) is None


@pytest.mark.parametrize(
    "line",
    [
        "ERR: serverConfig_.tlsCrlFiles file not exit .",
        "ERR: serverConfig_.managementTlsCaFile size must in [1, 3].",
        "The serverConfig_.tlsCaPath path is not a dir by: ",
        "The ServerConfig.managementTlsCert path is invalid by: The input file: x is not a regular file",
        "The maxN cannot be set greater than maxBatchSize, please set 'maxN' to be not greater",
        "The templateName must be Standard_LLM, but is Standard_llama",
        "The value of modelName must meet the following rules: The string length is [1, 256]",
        "There should be one modelParam for Standard templateType.",
        "The values of npu_ids should not be less than 0, but got -1",
        "The length of kvPool Config Path exceeds 500.",
        "The scheduleParam.policyType [9] is outside the expected range: 0 or 4~7.",
        "tlsCaFile init error",
        "Type of element in json array does not match string",
        "ConfigManager init exception: dp cannot be smaller than 1.",
        "modelWeightPath is no folder of mode 750 with a readable config.json",
    ],
)
def test_other_messages_of_the_checker_are_of_its_class_too(line):
    assert first_failure([line]).cause is LaunchCause.CONFIG


def test_a_refused_certificate_says_more_than_the_exception_that_follows():
    lines = [
        "The serverConfig_.tlsCaPath path is not a dir by: ",
        "ConfigManager init exception: [ConfigManager] Checking Config Failed",
        "Failed to init endpoint! Please check the service log or console output.",
    ]
    assert first_failure(lines).lines == tuple(line.strip() for line in lines)
    assert first_failure(lines[1:]).cause is LaunchCause.CONFIG
