"""Prints how the llama3-8b preset reads the vendor's three settings, why, and its steady-state curve.

Run it with `python tests/bench/simulator_calibration.py`; it takes about half a minute.
"""

from dataclasses import replace

from autotune.model.settings import Settings
from autotune.simulator.closed_loop import Load
from autotune.simulator.curve import CurveRequest, predict_curve
from autotune.simulator.presets import preset
from autotune.simulator.reading import Window, whole_run

GUIDE = {435: 2845.3, 500: 2980.3, 600: 2520.6}
CURVE = (300, 362, 400, 435, 460, 480, 500, 520, 540, 560, 580, 600, 650, 700)
SMALL = (16, 20, 22, 25, 27, 30, 32, 34, 36, 40, 45, 50, 60, 68)


def settings_for(max_batch_size):
    return Settings(max_batch_size=max_batch_size, max_prefill_batch_size=max(1, max_batch_size // 2))


def print_whole_runs():
    known = preset("llama3-8b")
    print("whole run, 1,319 prompts, 1,000 clients, 2176 blocks; seed: reading (error, preemptions)")
    for seed in (1, 2, 3, 4, 5):
        load = Load(lengths=known.lengths(seed=seed), concurrency=1000, requests=1319)
        cells = []
        for limit, measured in GUIDE.items():
            reading = whole_run(known.rules.with_settings(settings_for(limit)), known.cost, load)
            error = reading.tokens_per_second / measured - 1
            cells.append(f"{limit}: {reading.tokens_per_second:.0f} ({error:+.1%}, {reading.preemptions})")
        print(f"  {seed}: " + "   ".join(cells))


def print_where_the_time_goes():
    known = preset("llama3-8b")
    lengths = known.lengths()
    load = Load(lengths=lengths, concurrency=1000, requests=1319)
    to_the_limit = sum(request.output_tokens >= 512 for request in lengths.requests) / len(lengths.requests)
    print(f"replies that end at 512 tokens: {to_the_limit:.0%}")
    for limit in GUIDE:
        reading = whole_run(known.rules.with_settings(settings_for(limit)), known.cost, load)
        work = replace(reading.work, decodes=0, decode_sequences=0, context_tokens=0)
        prefill = work.seconds(known.cost)
        print(
            f"  {limit}: {reading.preemptions} preemptions, {reading.work.prefills} prefill rounds, "
            f"{prefill:.0f} s prefill ({prefill / reading.seconds:.0%}), "
            f"{reading.seconds - prefill:.0f} s decode"
        )


def print_curve(blocks, limits, *, concurrency):
    known = preset("llama3-8b").with_blocks(blocks)
    request = CurveRequest(
        rules=known.rules,
        cost=known.cost,
        lengths=known.lengths(),
        concurrency=concurrency,
        window=Window(settle=5.0, requests=5000),
    )
    print(f"steady state, {concurrency} clients, {blocks} blocks")
    for point in predict_curve(request, [settings_for(limit) for limit in limits]):
        print(
            f"  {point.settings.max_batch_size:5d}  {point.tokens_per_second:7.1f} token/s"
            f"  running {point.running_mean:6.1f}  preemptions a request {point.preemptions_per_request:5.2f}"
            f"  ttft {point.ttft_ms / 1000:6.1f} s  tpot {point.tpot_ms:6.1f} ms"
        )


if __name__ == "__main__":
    print_whole_runs()
    print_where_the_time_goes()
    print_curve(2176, CURVE, concurrency=1000)
    print_curve(136, SMALL, concurrency=82)
