"""Every generation of MindIE is started, read back and stopped with what its version offers."""

import pytest

from autotune.engines.mindie.options import ConfigMode
from autotune.model.service import BlockSource
from autotune.model.settings import Settings

pytestmark = pytest.mark.slow

WANTED = Settings(max_batch_size=300, max_prefill_batch_size=150)
VERSIONS = ["1.0.RC2", "1.0.0", "2.0", "2.3", "3.0"]


@pytest.mark.parametrize("version", VERSIONS)
def test_it_is_described_launched_and_put_back(make_bench, version):
    bench = make_bench(version=version)
    before = bench.facts()
    engine = bench.engine(monitoring=True)
    description = engine.describe()
    assert description.version == version
    assert description.incumbent.max_batch_size == 200
    with engine.launch(WANTED) as service:
        service.check()
        counters = service.counters()
        assert counters is None or counters.running in {0, None}
    assert bench.facts() == before
    assert bench.events == []


@pytest.mark.parametrize("version", VERSIONS)
def test_a_probing_start_finds_the_blocks(make_bench, version):
    blocks = make_bench(version=version).engine(config_mode=ConfigMode.PRIVATE).probe()
    assert blocks is not None
    assert 2000 <= blocks.count <= 2176
    assert blocks.source in {BlockSource.STATUS, BlockSource.LOG}


@pytest.mark.parametrize(("version", "bound"), [("1.0.0", 5000), ("2.3", 5000), ("3.0", 819200)])
def test_the_largest_batch_follows_the_version(make_bench, version, bound):
    bench = make_bench(version=version)
    assert bench.engine().describe().bounds_high == bound
    assert bench.engine(chip="310P3").describe().bounds_high == 2000
