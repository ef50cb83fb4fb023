"""The plan shows what decides which code runs as the service, before anybody says yes."""

from autotune.campaign.plan import _loader
from autotune.model.service import Description, Fact
from autotune.model.settings import Settings


def test_path_and_the_loaders_variables_are_shown_and_nothing_else_of_the_environment():
    facts = (
        Fact(name="layout", value="BackendConfig"),
        Fact(name="LD_PRELOAD", value="/usr/lib64/libjemalloc.so.2"),
        Fact(name="PATH", value="/usr/bin"),
    )
    description = Description(
        kind="mindie",
        version="3.0",
        place="/opt/mindie",
        model_name="m",
        incumbent=Settings(max_batch_size=200),
        block_size=128,
        facts=facts,
    )
    assert [fact.value for fact in _loader(description)] == [
        "LD_PRELOAD=/usr/lib64/libjemalloc.so.2",
        "PATH=/usr/bin",
    ]
