"""Example campaigns, marked as examples.

Throughputs of the guide are the vendor's published readings for LLaMA3-8B (435: 2845.3, 500: 2980.3,
600: 2520.6 token/s at 1000 clients); latencies follow from them by Little's law, all else is made up.
"""

from dataclasses import replace

from autotune.errors import LaunchCause
from autotune.model.bracket import Bracket
from autotune.model.campaign import Campaign, Decision, Forecast, Reading, Verdict
from autotune.model.launch import LaunchRecord, Outcome, PhaseSeconds, Purpose
from autotune.model.measurement import Distribution, FailureCount, Invalid, InvalidReason, Measurement
from autotune.model.move import Expected, VerdictCode
from autotune.model.service import Description, Fact
from autotune.model.settings import Settings

CLIENTS = 1000
REPLY_TOKENS = 346
STARTED = 1_796_032_800.0
PROFILE = """\
name: example-llama3-8b
engine:
  kind: mindie
  home: /usr/local/Ascend/mindie/latest/mindie-service
model: {path: /data/LLaMa3-8B, name: llama3-8b}
workload:
  api: tgi
  dataset: {type: gsm8k, path: /data/GSM8K/test.jsonl}
  max_output_tokens: 512
  concurrency: 1000
objective: {maximise: output_tokens_per_second, limits: []}
search: {strategy: guide, step: 100, seed: 1}
"""
DIFF = """\
--- config.json (found)
+++ config.json (recommended)
@@ -71,8 +71,8 @@
         "ScheduleConfig" :
         {
             "templateType" : "Standard",
-            "maxBatchSize" : 435,
-            "maxPrefillBatchSize" : 217,
+            "maxBatchSize" : 500,
+            "maxPrefillBatchSize" : 250,
             "maxIterTimes" : 512,
         }
"""


def settings(batch):
    """Half of the batch for prefill, as the guide does."""
    return Settings(
        max_batch_size=batch, max_prefill_batch_size=max(1, batch // 2), support_select_batch=True
    )


def level(batch, tokens_per_second, *, half_width=0.01, clients=CLIENTS, preemptions=0, running=None):
    """A valid level whose latencies follow from Little's law."""
    served = min(batch, clients) if running is None else running
    tpot = 1000 * served / tokens_per_second
    wait = 1000 * (clients - served) * REPLY_TOKENS / tokens_per_second
    requests = round(tokens_per_second * 600 / REPLY_TOKENS)
    return Measurement(
        concurrency=clients,
        tokens_per_second=tokens_per_second,
        half_width=half_width,
        whole_run_tokens_per_second=tokens_per_second * 0.87,
        seconds=600.0,
        requests=requests,
        completed=requests,
        ttft_ms=Distribution(mean=wait + 400, p50=wait + 300, p90=wait + 900, p99=wait + 1500),
        tpot_ms=Distribution(mean=tpot, p50=tpot * 0.98, p75=tpot * 1.05, p90=tpot * 1.1, p99=tpot * 1.3),
        e2e_ms=Distribution(mean=wait + tpot * REPLY_TOKENS),
        output_tokens=round(tokens_per_second * 600),
        input_tokens=requests * 186,
        mean_output_tokens=float(REPLY_TOKENS),
        concurrency_reached=clients,
        client_cpu_seconds=84.0,
        preemptions=preemptions,
        running_mean=float(served),
    )


def launch(number, purpose, batch, *levels, **more):
    """An ended launch with plausible times."""
    times = PhaseSeconds(start=148.0, warm_up=22.0, measure=612.0 * max(1, len(levels)), stop=11.0)
    return LaunchRecord(
        number=number,
        purpose=purpose,
        settings=settings(batch),
        **{"outcome": Outcome.ENDED, "blocks": 2176, "levels": levels, "seconds": times, **more},
    )


def failed(number, batch, cause, detail):
    """A launch that did not start."""
    return launch(
        number,
        Purpose.CANDIDATE,
        batch,
        outcome=Outcome.FAILED,
        cause=cause,
        detail=detail,
        blocks=None,
        seconds=PhaseSeconds(start=61.0, stop=2.0),
    )


def decided(after, batch, reason, expected=None):
    """The decision to launch `batch` after so many launches."""
    return Decision(
        after_launches=after,
        after_levels=after,
        kind="launch",
        settings=settings(batch),
        concurrency=None,
        reason=reason,
        expected=expected,
    )


def guide():
    """The vendor's three values, and two confirming launches a side: improved."""
    first, second = level(435, 2845.3), level(500, 2980.3)
    launches = (
        launch(1, Purpose.INCUMBENT, 435, first),
        launch(2, Purpose.CANDIDATE, 500, second),
        launch(3, Purpose.CANDIDATE, 600, level(600, 2520.6, preemptions=118)),
        launch(4, Purpose.CONFIRMATION, 500, level(500, 2991.4)),
        launch(5, Purpose.CONFIRMATION, 435, level(435, 2851.9)),
    )
    return Campaign(
        run="2026-11-30-example-llama3-8b-1",
        profile_name="example-llama3-8b",
        profile_text=PROFILE,
        description=Description(
            kind="mindie",
            version="1.0.0",
            place="/usr/local/Ascend/mindie/latest/mindie-service",
            model_name="llama3-8b",
            incumbent=settings(435),
            block_size=128,
            max_link_num=1000,
            facts=(Fact(name="Example", value="throughputs of the vendor's guide, all else made up"),),
        ),
        bracket=Bracket(low=362, start=435, high=1088, start_prefill=217, blocks=2176, source="log"),
        strategy="guide",
        started_wall=STARTED,
        ended_wall=STARTED + 4215,
        launches=launches,
        decisions=(
            decided(0, 435, "the setting found on the host"),
            decided(1, 500, "next multiple of 100"),
            decided(2, 600, "next multiple of 100"),
            decided(3, 500, "confirm the best value in a fresh launch"),
            decided(4, 435, "confirm the incumbent in a fresh launch"),
            Decision(
                after_launches=5,
                after_levels=5,
                kind="finish",
                settings=settings(500),
                concurrency=None,
                reason="throughput dropped at 600",
            ),
        ),
        verdict=Verdict(
            code=VerdictCode.IMPROVED,
            reason="throughput dropped at 600",
            incumbent=Reading(
                settings=settings(435),
                tokens_per_second=2848.6,
                half_width=0.006,
                launches=2,
                measurement=first,
            ),
            best=Reading(
                settings=settings(500),
                tokens_per_second=2982.5,
                half_width=0.006,
                launches=2,
                measurement=second,
            ),
            gain=0.047,
            gain_low=0.039,
            gain_high=0.055,
            compared=(2, 2),
        ),
        restored=True,
        config_diff=DIFF,
        environment=(
            Fact(name="NPU", value="2 x 910B4, 32 GB"),
            Fact(name="CPU governor", value="performance (was schedutil; put back)"),
            Fact(name="Transparent huge pages", value="always (was madvise; put back)"),
            Fact(name="CPUs of the daemon", value="24-47 (NUMA node 1)"),
        ),
        forecast=Forecast(
            launches_low=4, launches_high=7, seconds_low=3100.0, seconds=4300.0, seconds_high=5600.0
        ),
    )


SWEEP = ((120, 1462.0), (190, 2051.0), (300, 2520.0), (480, 2943.0), (640, 2790.0), (760, 2411.0))


EXPECTED = {
    3: Expected(tokens_per_second=2940.0, half_width=0.03),
    4: Expected(tokens_per_second=2990.0, half_width=0.008),
    5: Expected(tokens_per_second=2900.0, half_width=0.02),
}
"""Number of launches before -> what the next one was expected to read."""


def with_failures():
    """An emulated run with a sweep, a start without memory, a stalled level and a level cut by its cap."""
    base = guide()
    sweep = [
        level(850, rate, half_width=0.02, clients=at, running=at, preemptions=max(0, at - 500))
        for at, rate in SWEEP
    ]
    stalled = Invalid(concurrency=CLIENTS, reason=InvalidReason.STALLED, detail="no token for 60 s")
    errors = replace(
        level(540, 2961.0), failed=(FailureCount(cause="connection reset", count=2),), capped=True
    )
    launches = (
        base.launches[0],
        launch(2, Purpose.SCOUT, 850, *sweep),
        failed(3, 1000, LaunchCause.MEMORY, "RuntimeError: NPU out of memory. Tried to allocate 2.57 GiB"),
        launch(4, Purpose.CANDIDATE, 500, level(500, 2980.3)),
        launch(5, Purpose.CANDIDATE, 540, errors),
        launch(6, Purpose.CANDIDATE, 560, stalled),
        launch(7, Purpose.CONFIRMATION, 500, level(500, 2991.4)),
        failed(8, 500, LaunchCause.PORT, "Socket bind failed, bind_result is -1. Address already in use"),
    )
    reasons = (
        "the setting found on the host",
        "near the top of the bracket, to sweep concurrency",
        "does the curve still rise above the sweep?",
        "predicted best after the sweep",
        "between the best and the first drop",
        "between the best and the first drop",
        "confirm the best value in a fresh launch",
        "confirm the best value in a fresh launch",
    )
    return replace(
        base,
        run="2026-11-30-example-failures",
        strategy="scout",
        description=replace(base.description, emulated=True, time_scale=20.0),
        launches=launches,
        decisions=tuple(
            decided(at, run.settings.max_batch_size, reason, EXPECTED.get(at))
            for at, (run, reason) in enumerate(zip(launches, reasons, strict=True))
        ),
    )


def interrupted():
    """Stopped by Ctrl-C while the third launch was measured."""
    base = guide()
    return replace(
        base,
        run="2026-11-30-example-interrupted",
        launches=base.launches[:2],
        decisions=base.decisions[:3],
        verdict=None,
        ended_wall=None,
        config_diff="",
    )


def incumbent_stays():
    """Nothing better was found."""
    base = guide()
    verdict = base.verdict
    assert verdict is not None
    return replace(
        base,
        run="2026-11-30-example-stays",
        verdict=replace(
            verdict, code=VerdictCode.INCUMBENT_BEST, gain=0.004, gain_low=-0.003, gain_high=0.011
        ),
        config_diff="",
    )


def ended_as(code):
    """The same campaign with another verdict."""
    base = guide()
    if code is VerdictCode.NOT_MEASURABLE:
        verdict = Verdict(code=code, reason="every level stalled")
        return replace(base, launches=(), decisions=(), verdict=verdict, config_diff="")
    assert base.verdict is not None
    return replace(base, verdict=replace(base.verdict, code=code))


ALARM = "<script>alert(1)</script>"
HOSTILE = f"{ALARM}\x1b[31mred\x1b[0m\x00=HYPERLINK(1)|`*_[x](javascript:1)_*`\u202egnp.exe$x^2$"


def hostile():
    """Every text that others can put in is an attack; one log line is 1 MB long."""
    base = guide()
    bad = replace(
        base.launches[1],
        outcome=Outcome.FAILED,
        cause=LaunchCause.UNKNOWN,
        detail=HOSTILE + "A" * 1_000_000,
        host="=cmd|' /C calc'!A0",
        levels=(Invalid(concurrency=1, reason=InvalidReason.STALLED, detail=HOSTILE),),
    )
    return replace(
        base,
        profile_name=HOSTILE,
        profile_text=f"name: '{ALARM}'\n```\n# {ALARM}\n````\n",
        description=replace(base.description, model_name=HOSTILE, place=HOSTILE, version=HOSTILE),
        strategy=HOSTILE,
        launches=(base.launches[0], bad, *base.launches[2:]),
        decisions=(decided(0, 435, HOSTILE), decided(1, 500, HOSTILE)),
        environment=(Fact(name=HOSTILE, value=HOSTILE), Fact(name="=1+1", value="@SUM(1)")),
        config_diff=f"--- a\n+++ b\n-{ALARM}\n+```{ALARM}\n",
    )


def vllm():
    """A vLLM run: other names, no bracket."""
    base = guide()
    runs = tuple(
        replace(
            run, settings=Settings(max_batch_size=run.settings.max_batch_size, max_num_batched_tokens=8192)
        )
        for run in base.launches
    )
    assert base.verdict is not None
    assert base.verdict.incumbent is not None
    assert base.verdict.best is not None
    return replace(
        base,
        run="2026-11-30-example-vllm",
        description=replace(
            base.description, kind="vllm", version="0.11.0", place="vllm serve", incumbent=runs[0].settings
        ),
        launches=runs,
        bracket=None,
        verdict=replace(
            base.verdict,
            incumbent=replace(base.verdict.incumbent, settings=runs[0].settings),
            best=replace(base.verdict.best, settings=runs[1].settings),
        ),
    )


def large(launches=200):
    """A very long campaign."""
    base = guide()
    runs = tuple(
        launch(at, Purpose.CANDIDATE, 300 + 4 * at, level(300 + 4 * at, 2900 - abs(at - 60) * 9.0))
        for at in range(1, launches + 1)
    )
    reasons = tuple(decided(at, 304 + 4 * at, f"probe {at}") for at in range(launches))
    return replace(base, run="2026-11-30-example-large", launches=runs, decisions=reasons)
