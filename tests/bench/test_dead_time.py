"""What the controller adds to a launch stays below a second, in either mode."""

import pytest

from autotune.engines.mindie.options import ConfigMode
from tests.bench.dead_time import measure


@pytest.mark.slow
@pytest.mark.real_time
@pytest.mark.parametrize("mode", [ConfigMode.PRIVATE, ConfigMode.IN_PLACE])
def test_a_launch_has_at_most_a_second_of_dead_time(mode, tmp_path):
    assert min(one.total for one in measure(tmp_path, mode, launches=2)) <= 1.0
