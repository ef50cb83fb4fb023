"""What every Engine promises, whatever it starts: one suite, run for each of them."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from autotune.emulator.faults import Faults
from autotune.engines.rehearsal.clock import VirtualClock
from autotune.engines.rehearsal.engine import RehearsalEngine
from autotune.engines.rehearsal.options import RehearsalOptions
from autotune.errors import LaunchCause, LaunchFailed
from autotune.model.protocols import Engine
from autotune.model.service import Blocks, Counters, Endpoint
from autotune.model.settings import Settings
from autotune.simulator.lengths import synthetic_lengths
from autotune.simulator.presets import preset

TOO_LARGE = 700


@dataclass(frozen=True)
class Observed:
    """One launch, and what was left of it."""

    endpoint: Endpoint
    blocks: Blocks | None
    counters: Counters | None
    afterwards: LaunchFailed | None
    """What a check says when the launch is over."""


def wanted_of(engine: Engine) -> Settings:
    return replace(engine.describe().incumbent, max_batch_size=300, max_prefill_batch_size=150)


def observe(engine: Engine, settings: Settings) -> Observed:
    with engine.launch(settings) as service:
        service.check()
        endpoint, blocks, counters = service.endpoint, service.blocks, service.counters()
    try:
        service.check()
    except LaunchFailed as failure:
        return Observed(endpoint, blocks, counters, failure)
    return Observed(endpoint, blocks, counters, None)


class EngineContract:
    """Subclasses give a fixture `engine` whose launches at TOO_LARGE and above fail, for memory as a rule."""

    too_large = LaunchCause.MEMORY

    @pytest.fixture
    def wanted(self, engine: Engine) -> Settings:
        return wanted_of(engine)

    @pytest.fixture
    def observed(self, engine: Engine, wanted: Settings) -> Observed:
        """Of an engine that starts slowly, one for all tests that look at it."""
        return observe(engine, wanted)

    def test_describing_twice_gives_the_same(self, engine):
        assert engine.describe() == engine.describe()

    def test_the_description_is_complete_enough_to_plan_with(self, engine):
        description = engine.describe()
        assert description.kind
        assert description.model_name
        assert description.block_size > 0
        assert description.time_scale > 0
        assert 1 <= description.incumbent.max_batch_size <= (description.bounds_high or float("inf"))

    def test_the_incumbent_needs_no_change(self, engine):
        assert engine.preview(engine.describe().incumbent) == ""

    def test_a_preview_shows_the_new_value_where_there_is_a_file(self, engine, wanted):
        diff = engine.preview(wanted)
        assert not diff or "300" in diff

    def test_a_preview_and_a_description_change_nothing_for_each_other(self, engine, wanted):
        before = engine.describe()
        engine.preview(wanted)
        assert engine.describe() == before

    def test_a_running_service_can_be_loaded(self, engine, observed):
        assert observed.endpoint.url
        assert observed.endpoint.model_name == engine.describe().model_name

    def test_blocks_are_positive_or_unknown(self, observed):
        assert observed.blocks is None or observed.blocks.count > 0

    def test_counters_of_an_idle_service_count_nothing(self, observed):
        counters = observed.counters
        if counters is not None:
            assert counters.running in {0, None}
            assert counters.waiting in {0, None}
            assert counters.preemptions in {0, None}
            assert counters.total_blocks is None or counters.total_blocks >= (counters.free_blocks or 0)

    def test_a_service_is_over_when_its_launch_is(self, observed):
        assert observed.afterwards is not None

    def test_launches_follow_each_other_also_after_errors_in_their_bodies(self, engine, wanted):
        for settings, error in (
            (wanted, KeyboardInterrupt),
            (engine.describe().incumbent, ZeroDivisionError),
        ):
            with pytest.raises(error), engine.launch(settings):
                raise error
        with engine.launch(wanted) as service:
            service.check()

    def test_a_start_that_fails_has_its_class_and_its_lines_and_the_next_one_works(self, engine, wanted):
        before = engine.describe()
        large = replace(wanted, max_batch_size=TOO_LARGE)
        with pytest.raises(LaunchFailed) as failure, engine.launch(large):
            pytest.fail("it started")
        assert failure.value.cause is self.too_large
        assert failure.value.lines
        assert engine.describe() == before
        with engine.launch(wanted) as service:
            service.check()


@pytest.mark.slow
class TestMindieOnTheEmulator(EngineContract):
    @pytest.fixture
    def engine(self, make_bench: Callable) -> Engine:
        return make_bench(faults=Faults(out_of_memory_at=TOO_LARGE)).engine()


class TestRehearsal(EngineContract):
    @pytest.fixture
    def engine(self) -> Engine:
        chosen = preset("llama3-8b")
        options = RehearsalOptions(
            preset=chosen, lengths=synthetic_lengths(chosen.shape, seed=1), out_of_memory_from=TOO_LARGE
        )
        return RehearsalEngine(options, VirtualClock())


@pytest.mark.slow
class TestVllmOnItsStandIn(EngineContract):
    @pytest.fixture
    def engine(self, vllm: Callable) -> Engine:
        return vllm.engine("--max-num-seqs", "128", faults={"out_of_memory_at": TOO_LARGE})


@pytest.mark.slow
@pytest.mark.real_vllm
@pytest.mark.timeout(600)
class TestVllm(EngineContract):
    """Real vLLM on CPU takes any number of sequences that a batch of tokens can hold."""

    too_large = LaunchCause.CONFIG

    @pytest.fixture(scope="class")
    @classmethod
    def engine(cls, make_real_vllm: Callable) -> Engine:
        return make_real_vllm("--max-num-seqs", "128", "--max-num-batched-tokens", str(TOO_LARGE - 1))

    @pytest.fixture(scope="class")
    @classmethod
    def wanted(cls, engine: Engine) -> Settings:
        return wanted_of(engine)

    @pytest.fixture(scope="class")
    @classmethod
    def observed(cls, engine: Engine, wanted: Settings) -> Observed:
        return observe(engine, wanted)
