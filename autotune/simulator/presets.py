"""Presets: step costs, rules and lengths of a known model and host.

llama3-8b
    Calibrated on the three readings that the vendor's tuning guide prints for LLaMA3-8B on two cards of
    32 GB (2176 KV blocks, GSM8K's 1,319 prompts, 1,000 clients, input 186, output 346 on average and 512
    at most, whole run): 2845.3 token/s at maxBatchSize 435, 2980.3 at 500 and 2520.6 at 600, with
    maxPrefillBatchSize half of it and supportSelectBatch true. It meets them within 3 %, also with other
    draws of the lengths.

    What gives the fall at 600 is recomputation. When a run starts, hundreds of sequences are prefilled
    within one residence time and grow together; above about 560 they outgrow the blocks, the youngest
    lose theirs, and what comes back is prefilled again with all it had generated, in many small rounds:
    at 600 a run of 1,319 prompts has 272 preemptions, 129 prefill rounds instead of 33 at 500, and 33 s
    more of prefill against 5 s less of decode. The fit needs three things: prefill must be dear (69 ms a
    request, more than half of the time), replies must often run to the limit (over a third of them end at
    512), and prefillTimeMsPerReq must be small against decodeTimeMsPerReq (here 45 / 90), so that the
    running count stays near maxBatchSize; at 600 / 50 it lags so far behind that the blocks last to 800.
    Not needed for the fit, so left out of it, are swapping, a decode cost that grows faster than the
    batch, and the older recomputation threshold, which makes the fall milder. Whether the vendor's service
    had them, three readings cannot tell.

    In the steady state the throughput rises to about 3,250 token/s at 560 and falls by 9 % at 600 and by
    24 % at 650, so part of the fall that a whole run shows at 600 is its start. With 136 blocks and 82
    clients the peak is at 32.

    A run's time is linear in the step costs once its rounds are known, so the costs were found by
    minimising the largest error over the three readings and four draws of the lengths. Three readings do
    not fix six coefficients: these were kept in the range that two such cards allow (KV cache read at up
    to 800 GB/s, prefill of about 3,000 token/s). The guide's latencies belong to another set-up and are
    not fitted. `python tests/bench/simulator_calibration.py` prints the readings, where the time of a run
    goes, and the curves.

vllm-cpu-tiny
    vLLM on two CPU cores with a 4-layer model and 256 blocks of 32 tokens, 64 tokens in and 192 out;
    fitted to six measured --max-num-seqs by `calibrate`. It meets them within 9 %, and preempts as often.
"""

from dataclasses import dataclass, replace

from autotune.errors import UsageError
from autotune.simulator.cost import StepCost
from autotune.simulator.lengths import Lengths, LengthShape, synthetic_lengths
from autotune.simulator.noise import Noise
from autotune.simulator.policies import Rules
from autotune.simulator.rules import MindieRules
from autotune.simulator.vllm_rules import VllmRules


@dataclass(frozen=True, kw_only=True, slots=True)
class Preset:
    """All that a simulated service needs beside its settings and its load."""

    name: str
    model_name: str
    summary: str
    rules: Rules
    """As the service's own configuration has them; a launch's settings go on top."""
    cost: StepCost
    shape: LengthShape
    """The workload that the costs were calibrated with."""
    noise: Noise
    """Within a launch."""

    def with_blocks(self, blocks: int | None) -> "Preset":
        """The same model with another number of KV blocks; None changes nothing."""
        return self if blocks is None else replace(self, rules=replace(self.rules, blocks=blocks))

    def lengths(self, *, count: int = 1319, seed: int = 1) -> Lengths:
        """The data set of its workload; 1,319 prompts are the GSM8K test set."""
        return synthetic_lengths(self.shape, count=count, seed=seed)


_LLAMA3_8B = Preset(
    name="llama3-8b",
    model_name="llama3-8b",
    summary="LLaMA3-8B on two cards of 32 GB, calibrated on the throughput readings of the vendor's guide",
    rules=MindieRules(
        blocks=2176,
        max_batch_size=200,
        max_prefill_batch_size=100,
        support_select_batch=True,
        prefill_time_ms_per_req=45,
        decode_time_ms_per_req=90,
    ),
    cost=StepCost(
        decode_base=0.0313,
        decode_per_sequence=1.6e-5,
        decode_per_context_token=8.9e-8,
        prefill_base=0.159,
        prefill_per_token=3.47e-4,
        prefill_per_sequence=1.1e-3,
        swap_per_block=1e-3,
    ),
    shape=LengthShape(input_tokens=186, output_tokens=346, max_output_tokens=512),
    noise=Noise(step=0.02, drift=0.01, drift_seconds=20.0),
)

_VLLM_CPU_TINY = Preset(
    name="vllm-cpu-tiny",
    model_name="tiny",
    summary="vLLM on two CPU cores with a 4-layer model, fitted to six measured values of --max-num-seqs",
    rules=VllmRules(blocks=256, max_batch_size=128, max_num_batched_tokens=2048, cache_block_size=32),
    cost=StepCost(
        decode_base=4.41e-3,
        decode_per_sequence=2.14e-4,
        decode_per_context_token=5.17e-7,
        prefill_per_token=1.82e-4,
    ),
    shape=LengthShape(
        input_tokens=64,
        max_input_tokens=64,
        output_tokens=192,
        max_output_tokens=192,
        input_spread=0.0,
        output_spread=0.0,
    ),
    noise=Noise(step=0.05, drift=0.03, drift_seconds=5.0),
)

PRESETS = (_LLAMA3_8B, _VLLM_CPU_TINY)


def preset(name: str) -> Preset:
    """Find a preset. Raises UsageError that names those that exist."""
    for candidate in PRESETS:
        if candidate.name == name:
            return candidate
    known = ", ".join(candidate.name for candidate in PRESETS)
    raise UsageError(f"no preset is called {name!r}", hint=f"choose one of: {known}")
