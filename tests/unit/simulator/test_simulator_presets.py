"""The llama3-8b preset against the vendor's readings.

Source: tuning guide of the vendor for LLaMA3-8B, 1,000 clients, GSM8K: 2.8453, 2.9803 and 2.5206 token/s a
client at maxBatchSize 435, 500 and 600.
"""

from dataclasses import replace

import pytest

from autotune.errors import UsageError
from autotune.simulator.closed_loop import Load
from autotune.simulator.presets import PRESETS, preset
from autotune.simulator.reading import Window, steady_state, whole_run

KNOWN = preset("llama3-8b")
GUIDE = {435: 2845.3, 500: 2980.3, 600: 2520.6}


def read_as_the_vendor(limit, seed):
    load = Load(lengths=KNOWN.lengths(seed=seed), concurrency=1000, requests=1319)
    return whole_run(KNOWN.rules.with_batch(limit), KNOWN.cost, load).tokens_per_second


@pytest.mark.parametrize("limit", GUIDE)
def test_the_guide_s_readings_are_met_within_five_percent(limit):
    assert read_as_the_vendor(limit, seed=1) == pytest.approx(GUIDE[limit], rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3, 4, 5])
def test_so_they_are_with_other_draws_of_the_data_set(seed):
    for limit, speed in GUIDE.items():
        assert read_as_the_vendor(limit, seed) == pytest.approx(speed, rel=0.05)


@pytest.mark.slow
def test_the_steady_state_peaks_between_450_and_580():
    load = Load(lengths=KNOWN.lengths(), concurrency=1000)
    window = Window(settle=5.0, requests=4000)
    speeds = {
        limit: steady_state(KNOWN.rules.with_batch(limit), KNOWN.cost, load, window).tokens_per_second
        for limit in (400, 435, 500, 540, 560, 600, 650)
    }
    best = max(speeds, key=speeds.get)
    assert 450 <= best <= 580
    assert speeds[best] > 1.03 * speeds[435]
    assert speeds[600] < 0.97 * speeds[best]
    assert speeds[650] < 0.85 * speeds[best]


def prefill_seconds(reading):
    return replace(reading.work, decodes=0, decode_sequences=0, context_tokens=0).seconds(KNOWN.cost)


def test_what_falls_is_recomputation():
    load = Load(lengths=KNOWN.lengths(), concurrency=1000, requests=1319)
    below = whole_run(KNOWN.rules.with_batch(435), KNOWN.cost, load)
    above = whole_run(KNOWN.rules.with_batch(600), KNOWN.cost, load)
    assert below.preemptions == 0
    assert above.preemptions > 200
    assert prefill_seconds(above) - prefill_seconds(below) > above.seconds - below.seconds > 20.0


def test_the_small_vllm_preset_is_near_its_six_measured_points():
    """Measured with vLLM 0.32 on two cores: generated tokens a second by --max-num-seqs."""
    known = preset("vllm-cpu-tiny")
    measured = {8: 1126, 16: 1527, 32: 1978, 48: 2134, 64: 1819, 128: 1707}
    load = Load(lengths=known.lengths(count=160), concurrency=160, requests=160)
    for limit, speed in measured.items():
        reading = whole_run(known.rules.with_batch(limit), known.cost, load)
        assert reading.tokens_per_second == pytest.approx(speed, rel=0.15)


def test_every_preset_has_its_own_name_and_an_unknown_name_is_refused_with_them():
    names = [known.name for known in PRESETS]
    assert len(set(names)) == len(names)
    with pytest.raises(UsageError) as caught:
        preset("llama9")
    assert all(name in caught.value.hint for name in names)


def test_another_number_of_blocks_changes_nothing_else():
    assert KNOWN.with_blocks(None) is KNOWN
    small = KNOWN.with_blocks(136)
    assert small.rules.blocks == 136
    assert small.with_blocks(2176) == KNOWN
