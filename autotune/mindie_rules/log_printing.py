"""MindIE's console and log lines as a stand-in prints them; `log_lines` and `log_failures` read them.

Source: public source of MindIE-LLM (2.3 and 3.x) and public logs of older versions.
"""

from dataclasses import dataclass
from typing import Final

START_SUCCESS: Final = "Daemon start success!"
"""On standard output, once engine, tokenizers and HTTP servers are up."""
INIT_SUCCESS: Final = "[ConfigManager::InitConfigManager] Successfully init config manager"
START_FAILED: Final = "Failed to init endpoint! Please check the service log or console output."
ALL_EXITED: Final = "All subprocesses exited gracefully."
FORCED: Final = "Timeout reached, some subprocesses still alive. Force to kill them."


def main_pid(pid: int) -> str:
    """The first line on standard error."""
    return f"g_mainPid = {pid}"


def load_config(path: str) -> str:
    """The first line on standard output."""
    return f"ConfigManager: Load Config from {path}."


def unrecognized_argument(expected: str = "--config-file, --expert-parallel") -> str:
    """A wrong command line; the daemon then exits with 255."""
    return f"Unrecognized command-line argument, expect [{expected}]"


def killing(seconds: int = 15) -> str:
    """On standard error after SIGTERM; 15 seconds in 3.x, 10 before."""
    return f"Daemon is killing, please wait about {seconds} seconds..."


def waiting(second: int, seconds: int = 15) -> str:
    """Once a second while the children end."""
    return f"Waiting for subprocess exits for {second}/{seconds} seconds."


@dataclass(frozen=True, kw_only=True, slots=True)
class Stamp:
    """What stands before the text of a log line."""

    time: str
    """As printed: `2025-11-25 17:23:11,888` in Python logs, `2025-09-29 10:42:08.023+08:00` in others."""
    pid: int
    tid: int

    def head(self, component: str, level: str, place: str) -> str:
        """The bracketed head of a verbose line."""
        return f"[{self.time}] [{self.pid}] [{self.tid}] [{component}] [{level}] [{place}] : "


def cache_shape(stamp: Stamp, *, blocks: int, block_size: int, kv_heads: int, head_size: int) -> str:
    """The line of a Python rank with its KV cache in the ND layout; printed at INFO."""
    shape = f"torch.Size([{blocks}, {block_size}, {kv_heads}, {head_size}])"
    return f"{stamp.head('llm', 'INFO', 'logging.py-227')}<<<<<<< ori k_caches[0].shape={shape}"


def initialize_result(stamp: Stamp, *, rank: int, blocks: int, block_size: int, positions: int) -> str:
    """What a rank returns once its model is loaded; `blocks` are those of the scheduler (3.x form)."""
    result = (
        f"{{'status': 'ok', 'cpuBlockNum': '0', 'maxPositionEmbeddings': '{positions}', "
        f"'kvCacheDescs': [{{'npuBlockNum': {blocks}, 'blockSize': {block_size}}}]}}"
    )
    head = stamp.head("llm", "INFO", "router_impl.py:260")
    return f"{head}>>>global rank:{rank}: return initialize success result: {result}"


def cache_overview(stamp: Stamp, *, npu_blocks: int, cpu_blocks: int, positions: int) -> str:
    """The engine's own line (3.x): blocks of the scheduler."""
    text = (
        "[Executor::HandleInitResult]: Initialized KV cache overview: "
        f"CPU blocks = {cpu_blocks}, NPU blocks = {npu_blocks}, MaxPosEmb = {positions}"
    )
    return f"{stamp.head('llm', 'INFO', 'executor.cpp:231')}{text}"


def server_started(stamp: Stamp, *, host: str) -> str:
    """The audit line of a start that came up."""
    return f"[{stamp.time}] [{stamp.pid}] [{host}] [system] [server] [Start mindie server] [success]"


def port_busy(stamp: Stamp, *, address: str, port: int) -> tuple[str, ...]:
    """The lines of a start that could not bind; the daemon then kills its own group."""
    listen = stamp.head("server", "ERROR", "http_server.cpp:163") + "[MIE04E02041C] [endpoint] "
    wrapper = stamp.head("server", "ERROR", "endpoint.cpp:99") + "[MIE04E02011C] [endpoint] "
    legal = "please check if business ip and port are legal."
    return (
        "Socket bind failed, bind_result is -1. Address already in use",
        "Management or Business or Metrics Http server listen port is occupied",
        f"{listen}Failed to listen {address}:{port}, {legal}",
        f"{wrapper}Failed to start http wrapper",
    )


def out_of_memory(stamp: Stamp, *, gib: float) -> tuple[str, ...]:
    """The lines of a start whose model or KV cache did not fit."""
    place = stamp.head("llm", "ERROR", "logging.py-348")
    return (
        f"RuntimeError: NPU out of memory. Tried to allocate {gib:.2f} GiB.",
        f"{place}LLMPythonModel initializes fail: modelWrapper return status is error",
    )


def warm_up_out_of_memory(stamp: Stamp, *, max_input_token_len: int) -> str:
    """The line of a start whose warm-up did not fit; its advice names maxPrefillTokens."""
    return (
        f"{stamp.head('llm', 'ERROR', 'logging.py-348')}Warmup failed, because of inference out of memory "
        f"when `maxInputTokenLen` set to {max_input_token_len}. Please try to decrease `maxPrefillTokens` "
        "in config.json of mindie-service."
    )


def child_died(*, pid: int, signal: int, name: str) -> str:
    """The line of the daemon when one of its children dies; the whole group goes down."""
    return f"Process {pid} was terminated by signal {signal} ({name})"


def schedule_round(stamp: Stamp, *, running: int, waiting_size: int, swapped: int, batch: int) -> str:
    """The request log's line, each prefill and each 100 decodes at INFO."""
    text = (
        f"[Scheduler|Schedule-scheduling] DP RankId: 0. After Backfill, running size:{running} ; "
        f"waiting size: {waiting_size} ; swapped size:{swapped} ; batch size:{batch}"
    )
    return f"{stamp.head('llm', 'INFO', 'scheduler.cpp:301')}{text}"
