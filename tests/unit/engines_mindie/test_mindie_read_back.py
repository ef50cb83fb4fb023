"""What is served must be what was written, as far as the version tells."""

import pytest

from autotune.engines.mindie.read_back import Served, check_served
from autotune.errors import LaunchCause, LaunchFailed
from autotune.model.settings import Settings

BEFORE = Settings(max_batch_size=200, max_prefill_batch_size=50, max_prefill_tokens=8192)


def check(served, written, version="3.0"):
    check_served(served, written, before=BEFORE, version=version)


@pytest.mark.parametrize("version", ["2.2", "1.0.0", ""])
def test_of_an_old_version_only_the_value_of_before_counts_as_another(version):
    check(Served(max_batch_size=1000), Settings(max_batch_size=500), version)
    with pytest.raises(LaunchFailed, match="500 was written, 200 is served"):
        check(Served(max_batch_size=200), Settings(max_batch_size=500), version)


def test_equal_values_pass():
    served = Served(max_batch_size=500, max_prefill_batch_size=250, max_prefill_tokens=8192)
    check(served, Settings(max_batch_size=500, max_prefill_batch_size=250, max_prefill_tokens=8192))


def test_a_version_that_tells_nothing_passes():
    check(Served(), Settings(max_batch_size=500, max_prefill_batch_size=250))


def test_what_was_left_as_found_is_not_compared():
    check(Served(max_batch_size=500, max_prefill_batch_size=50), Settings(max_batch_size=500))


def test_prefill_zero_means_as_max_batch_size():
    check(
        Served(max_batch_size=500, max_prefill_batch_size=500),
        Settings(max_batch_size=500, max_prefill_batch_size=0),
    )


@pytest.mark.parametrize(
    ("served", "name"),
    [
        (Served(max_batch_size=200), "maxBatchSize: 500 was written, 200 is served"),
        (Served(max_batch_size=500, max_prefill_batch_size=50), "maxPrefillBatchSize: 250 was written, 50"),
        (Served(max_prefill_tokens=4096), "maxPrefillTokens: 8192 was written, 4096"),
    ],
)
def test_another_value_is_named(served, name):
    written = Settings(max_batch_size=500, max_prefill_batch_size=250, max_prefill_tokens=8192)
    with pytest.raises(LaunchFailed, match=name) as failure:
        check(served, written)
    assert failure.value.cause is LaunchCause.READ_BACK
