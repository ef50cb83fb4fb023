"""A campaign's engine, source and clock in virtual time."""

from dataclasses import replace

import pytest

from autotune.engines.rehearsal.clock import VirtualClock
from autotune.engines.rehearsal.engine import RehearsalEngine
from autotune.engines.rehearsal.options import RehearsalOptions, options_from_profile
from autotune.engines.rehearsal.source import RehearsalSource
from autotune.errors import LaunchCause, LaunchFailed, UsageError
from autotune.events import LevelProgress
from autotune.model.measurement import Invalid, InvalidReason, Measurement
from autotune.model.protocols import Clock, Engine, LevelRequest, Service, Source
from autotune.model.service import Blocks, BlockSource
from autotune.model.settings import Settings
from autotune.profile.schema import Profile
from autotune.simulator.presets import preset

SMALL = preset("llama3-8b").with_blocks(136)
OPTIONS = RehearsalOptions(
    preset=SMALL, lengths=SMALL.lengths(), max_batch_size=27, noise=SMALL.noise, start_seconds=60.0
)
AT_30 = Settings(max_batch_size=30, max_prefill_batch_size=15)
LEVEL = LevelRequest(concurrency=82, half_width=0.05, cap_seconds=150.0)
LONG = LevelRequest(concurrency=82, half_width=0.01, cap_seconds=600.0)
"""Long enough for a 99th percentile."""


def ignore(_event):
    pass


def readings(options, batch_sizes=(25, 30), level=LEVEL):
    clock = VirtualClock()
    engine, source = RehearsalEngine(options, clock), RehearsalSource(clock)
    found = []
    for size in batch_sizes:
        with engine.launch(Settings(max_batch_size=size, max_prefill_batch_size=size // 2)) as service:
            source.warm_up(service)
            found.append(source.measure(service, level, ignore))
    return found, clock.now()


def test_engine_source_and_clock_keep_the_protocols():
    clock: Clock = VirtualClock(wall=1_000.0)
    engine: Engine = RehearsalEngine(OPTIONS, clock)
    source: Source = RehearsalSource(clock)
    with engine.launch(AT_30) as service:
        kept: Service = service
        source.warm_up(kept)
    assert clock.wall() == 1_000.0 + clock.now()


@pytest.mark.slow
def test_the_same_options_give_the_same_readings_and_another_seed_gives_others():
    first, elapsed = readings(OPTIONS)
    assert readings(OPTIONS) == (first, elapsed)
    other, _ = readings(replace(OPTIONS, seed=2))
    assert other[0].tokens_per_second != first[0].tokens_per_second


def test_launches_differ_by_the_launch_noise_and_not_without_it():
    noisy, _ = readings(replace(OPTIONS, launch_noise=0.05), (25,) * 5)
    speeds = [level.tokens_per_second for level in noisy]
    assert 0.04 < max(speeds) / min(speeds) - 1 < 0.4
    quiet, _ = readings(replace(OPTIONS, launch_noise=0.0), (25,) * 2, level=LONG)
    speeds = [level.tokens_per_second for level in quiet]
    assert max(speeds) / min(speeds) - 1 < 0.03


def test_a_campaign_that_goes_on_does_not_use_the_noise_of_its_first_launches_again():
    whole, _ = readings(OPTIONS, (25, 30))
    rest, _ = readings(replace(OPTIONS, first_launch=1), (30,))
    assert rest == whole[1:]


def test_a_level_is_a_measurement_with_all_that_the_report_shows():
    (level, _), _ = readings(OPTIONS, level=LONG)
    assert isinstance(level, Measurement)
    assert level.concurrency == level.concurrency_reached == 82
    assert 0 < level.half_width < 0.2
    assert level.whole_run_tokens_per_second < level.tokens_per_second
    assert level.requests >= level.completed > 50
    assert level.ttft_ms.mean > 0
    assert level.tpot_ms.p50 <= level.tpot_ms.p90 <= level.tpot_ms.p99
    assert level.mean_output_tokens == pytest.approx(346, rel=0.2)
    assert len(level.batch_means) >= 3
    assert level.preemptions >= 0


def test_more_than_the_peak_is_slower_with_more_preemptions():
    (at_peak, beyond), _ = readings(replace(OPTIONS, launch_noise=0.0), (30, 45))
    assert beyond.tokens_per_second < 0.9 * at_peak.tokens_per_second
    assert beyond.preemptions > 3 * at_peak.preemptions


def test_time_passes_for_start_warm_up_load_and_stop():
    clock = VirtualClock()
    engine, source = RehearsalEngine(OPTIONS, clock), RehearsalSource(clock, warm_up_seconds=7.0)
    with engine.launch(AT_30) as service:
        assert clock.now() == 60.0
        source.warm_up(service)
        assert clock.now() == 67.0
        source.measure(service, LEVEL, ignore)
        loaded = clock.now()
        assert loaded > 120.0
    assert clock.now() == loaded + OPTIONS.stop_seconds


def test_progress_is_told_on_the_way():
    clock = VirtualClock()
    events = []
    with RehearsalEngine(OPTIONS, clock).launch(AT_30) as service:
        RehearsalSource(clock).measure(service, LEVEL, events.append)
    assert events
    assert all(isinstance(event, LevelProgress) for event in events)
    assert [event.seconds for event in events] == [10.0 * (n + 1) for n in range(len(events))]
    assert events[-1].tokens_per_second is not None


def test_memory_runs_out_at_and_above_the_given_limit():
    clock = VirtualClock()
    engine = RehearsalEngine(replace(OPTIONS, out_of_memory_from=30), clock)
    with pytest.raises(LaunchFailed) as caught, engine.launch(AT_30):
        pass
    assert caught.value.cause is LaunchCause.MEMORY
    assert clock.now() == 60.0
    with engine.launch(Settings(max_batch_size=29)) as service:
        service.check()


def test_a_second_launch_beside_a_running_one_finds_the_port_taken():
    engine = RehearsalEngine(OPTIONS, VirtualClock())
    with engine.launch(AT_30), pytest.raises(LaunchFailed) as caught, engine.launch(AT_30):
        pass
    assert caught.value.cause is LaunchCause.PORT


def test_an_ended_service_fails_its_check_and_gives_no_number():
    clock = VirtualClock()
    source = RehearsalSource(clock)
    with RehearsalEngine(OPTIONS, clock).launch(AT_30) as service:
        pass
    with pytest.raises(LaunchFailed):
        service.check()
    with pytest.raises(LaunchFailed):
        source.warm_up(service)
    level = source.measure(service, LEVEL, ignore)
    assert isinstance(level, Invalid)
    assert level.reason is InvalidReason.SERVICE_DIED


def test_a_level_that_is_cut_before_anything_is_known_is_invalid():
    clock = VirtualClock()
    with RehearsalEngine(OPTIONS, clock).launch(AT_30) as service:
        level = RehearsalSource(clock).measure(service, replace(LEVEL, cap_seconds=1.0), ignore)
    assert isinstance(level, Invalid)
    assert level.reason is InvalidReason.TOO_SHORT


def test_counters_and_blocks_are_those_of_the_service():
    clock = VirtualClock()
    with RehearsalEngine(OPTIONS, clock).launch(AT_30) as service:
        assert service.blocks == Blocks(count=136, source=BlockSource.STATUS)
        assert service.counters().preemptions == 0
        assert service.counters().total_blocks == 136
        first = RehearsalSource(clock).measure(service, LEVEL, ignore)
        second = RehearsalSource(clock).measure(service, LEVEL, ignore)
        counters = service.counters()
    assert counters.preemptions == first.preemptions + second.preemptions
    assert 0 < counters.running <= 82
    assert counters.free_blocks < 136


def test_describe_touches_nothing_and_names_the_incumbent():
    clock = VirtualClock()
    description = RehearsalEngine(OPTIONS, clock).describe()
    assert clock.now() == 0.0
    assert description.kind == "rehearsal"
    assert description.emulated
    assert description.incumbent.max_batch_size == 27
    assert description.incumbent.max_prefill_batch_size == 13
    assert description.incumbent.support_select_batch is True


def test_options_come_from_a_profile():
    profile = Profile.model_validate(
        {
            "name": "rehearsed",
            "engine": {"kind": "rehearsal", "blocks": 136, "noise": 0.01, "max_batch_size": 22},
            "workload": {
                "dataset": {
                    "type": "synthetic",
                    "input_tokens": 100,
                    "output_tokens": {"mean": 50, "max": 80},
                }
            },
            "search": {"seed": 9},
        }
    )
    options = options_from_profile(profile)
    assert options.preset.rules.blocks == 136
    assert (options.launch_noise, options.seed, options.max_batch_size) == (0.01, 9, 22)
    assert {request.prompt_tokens for request in options.lengths.requests} == {100}
    assert options.lengths.mean_output == pytest.approx(50, abs=0.5)
    assert max(request.output_tokens for request in options.lengths.requests) == 80


def test_a_profile_without_noise_is_without_any():
    profile = Profile.model_validate({"name": "quiet", "engine": {"kind": "rehearsal", "noise": 0.0}})
    options = options_from_profile(profile)
    assert options.noise.step == options.noise.drift == options.launch_noise == 0.0
    assert options.lengths.mean_output == pytest.approx(346, abs=0.5)


def test_lengths_that_never_fit_into_the_blocks_are_refused_before_anything_starts():
    with pytest.raises(UsageError, match="do not fit"):
        replace(OPTIONS, preset=SMALL.with_blocks(5))


def test_an_unknown_preset_is_refused_with_those_that_exist():
    with pytest.raises(UsageError) as caught:
        preset("llama9")
    assert "llama3-8b" in caught.value.hint


def test_the_virtual_clock_does_not_go_back():
    with pytest.raises(ValueError, match="back"):
        VirtualClock().sleep(-1.0)


def test_a_data_set_of_texts_is_stood_in_for_by_the_preset_s_lengths(tmp_path):
    texts = {"type": "gsm8k", "path": str(tmp_path / "test.jsonl")}
    profile = Profile.model_validate(
        {"name": "texts", "engine": {"kind": "rehearsal"}, "workload": {"dataset": texts}}
    )
    options = options_from_profile(profile)
    assert options.lengths.mean_prompt == pytest.approx(186, abs=0.5)
    assert options.lengths.mean_output == pytest.approx(346, abs=0.5)


def test_vllm_s_rules_can_be_rehearsed_too():
    known = preset("vllm-cpu-tiny")
    clock = VirtualClock()
    options = RehearsalOptions(preset=known, lengths=known.lengths(count=50), max_batch_size=16)
    engine = RehearsalEngine(options, clock)
    assert engine.describe().incumbent == Settings(max_batch_size=16, max_num_batched_tokens=2048)
    with engine.launch(Settings(max_batch_size=32)) as service:
        assert service.endpoint.url.startswith("rehearsal:")
        level = RehearsalSource(clock).measure(
            service, LevelRequest(concurrency=48, half_width=0.05, cap_seconds=60.0), ignore
        )
    assert isinstance(level, Measurement)
    assert level.running_mean == pytest.approx(32, rel=0.05)


def test_a_rehearsed_load_refuses_any_other_service():
    with pytest.raises(LaunchFailed, match="rehearsed service"):
        RehearsalSource(VirtualClock()).measure(Stranger(), LEVEL, ignore)


class Stranger:
    endpoint = blocks = None

    def counters(self):
        return None

    def check(self):
        pass
