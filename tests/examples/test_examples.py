"""An engine, a source and a strategy of somebody else: each under 100 lines, registered, run, and proven."""

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from autotune.campaign.interruption import InterruptibleClock
from autotune.campaign.parts import Bounds, Parts
from autotune.campaign.run import CampaignRun
from autotune.engines.rehearsal.clock import VirtualClock
from autotune.engines.rehearsal.engine import RehearsalEngine
from autotune.engines.rehearsal.options import RehearsalOptions
from autotune.engines.rehearsal.source import RehearsalSource
from autotune.model.bracket import RequestBlocks
from autotune.model.campaign import Campaign
from autotune.model.launch import Purpose
from autotune.model.measurement import Invalid, InvalidReason, Measurement
from autotune.model.move import VerdictCode
from autotune.model.protocols import LevelRequest
from autotune.process.clock import SystemClock
from autotune.search import strategy
from autotune.search.options import Options
from autotune.search.space import Space
from autotune.simulator.lengths import synthetic_lengths
from autotune.simulator.presets import preset
from autotune.store.study import CampaignStore
from tests.examples.small_engine import SmallEngine
from tests.examples.small_source import SmallSource
from tests.examples.small_strategy import Doubling

HERE = Path(__file__).parent
NAMES = ("small_engine.py", "small_source.py", "small_strategy.py")


def _contract():
    path = HERE.parent / "contracts" / "test_engine_contract.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = sys.modules.setdefault(path.stem, importlib.util.module_from_spec(spec))
    if not hasattr(module, "EngineContract"):
        spec.loader.exec_module(module)
    return module.EngineContract, module.LaunchCause


EngineContract, LaunchCause = _contract()


@pytest.mark.parametrize("name", NAMES)
def test_each_is_under_100_lines(name):
    assert len((HERE / name).read_text(encoding="utf-8").splitlines()) < 100


@pytest.fixture
def doubling(monkeypatch):
    """Registered by its name, as one line of `make_inner` would do it."""
    known = strategy.make_inner

    def make_inner(name, space, options, *others):
        return Doubling(space, options) if name == "doubling" else known(name, space, options, *others)

    monkeypatch.setattr(strategy, "make_inner", make_inner)
    return "doubling"


def campaign_of(engine, strategy_name) -> Campaign:
    return Campaign(
        run="example",
        profile_name="example",
        profile_text="name: example\n",
        description=engine.describe(),
        bracket=None,
        strategy=strategy_name,
        started_wall=0.0,
    )


def run(engine, source, clock, space, name, tmp_path, events, **options):
    with CampaignStore(f"sqlite:///{tmp_path / 'campaigns.db'}") as store:
        campaign = campaign_of(engine, name)
        store.begin(campaign)
        wanted = Options(max_launches=8, **options)
        parts = Parts(
            engine=engine,
            source=source,
            strategy=strategy.make_strategy(name, space, wanted),
            store=store,
            clock=InterruptibleClock(clock),
            listener=events.append,
        )
        return CampaignRun(campaign, parts, Bounds(max_launches=8, level_cap_seconds=600)).run().campaign


def test_a_new_strategy_tunes_the_rehearsed_service_with_incumbent_and_confirmation(tmp_path, doubling):
    chosen, clock = preset("llama3-8b"), VirtualClock()
    options = RehearsalOptions(preset=chosen, lengths=synthetic_lengths(chosen.shape, seed=1))
    engine = RehearsalEngine(options, clock)
    space = Space(
        incumbent=engine.describe().incumbent,
        request=RequestBlocks(min_blocks=2, mean_blocks=5, max_blocks=6),
        mean_input_tokens=186,
        max_input_token_len=2048,
        bounds_high=5000,
        concurrency=800,
        blocks=2176,
    )
    source = RehearsalSource(clock, warm_up_seconds=options.warm_up_seconds)
    campaign = run(engine, source, clock, space, doubling, tmp_path, [], final_half_width=0.014)
    purposes = [launch.purpose for launch in campaign.launches]
    assert purposes[0] is Purpose.INCUMBENT
    assert purposes.count(Purpose.CANDIDATE) >= 2
    assert purposes[-1] is Purpose.CONFIRMATION
    assert campaign.verdict.code is VerdictCode.IMPROVED


@pytest.mark.slow
@pytest.mark.real_time
def test_a_new_engine_and_a_new_source_are_tuned_end_to_end_by_a_new_strategy(tmp_path, doubling):
    engine, clock = SmallEngine(tmp_path, SystemClock()), SystemClock()
    space = Space(
        incumbent=engine.describe().incumbent,
        request=RequestBlocks(min_blocks=1, mean_blocks=2, max_blocks=4),
        mean_input_tokens=3,
        max_input_token_len=100,
        bounds_high=64,
        concurrency=16,
        blocks=16,
        tune_prefill=False,
    )
    campaign = run(engine, SmallSource(), clock, space, doubling, tmp_path, [], final_half_width=0.2)
    assert campaign.verdict.code is VerdictCode.IMPROVED
    assert 6 <= campaign.verdict.best.settings.max_batch_size <= 12  # the server is fastest at 8


@pytest.mark.slow
class TestSmallEngine(EngineContract):
    """The suite that every engine passes, over the new one."""

    too_large = LaunchCause.CONFIG

    @pytest.fixture
    def engine(self, tmp_path):
        return SmallEngine(tmp_path, SystemClock(), most=640)

    @pytest.fixture
    def wanted(self, engine):
        return replace(engine.describe().incumbent, max_batch_size=300)


@pytest.mark.slow
def test_a_new_source_reads_a_number_and_never_one_of_a_dead_service(tmp_path):
    request = LevelRequest(concurrency=4, half_width=0.05, cap_seconds=30)
    engine, source = SmallEngine(tmp_path, SystemClock()), SmallSource()
    with engine.launch(engine.describe().incumbent) as service:
        source.warm_up(service)
        level = source.measure(service, request, lambda _event: None)
    assert isinstance(level, Measurement)
    assert level.tokens_per_second > 0
    gone = source.measure(service, request, lambda _event: None)
    assert isinstance(gone, Invalid)
    assert gone.reason is InvalidReason.REQUESTS_FAILED
