"""How many client processes a level gets: one until it is busy, then enough, never beyond the CPUs."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.events import Warned
from autotune.load import own_source
from autotune.load.client.tally import ClientHealth
from autotune.load.company import processes_wanted
from autotune.load.measuring.reading import Fault
from autotune.load.outcome import unreached
from autotune.load.workload.prompt import Prompt
from autotune.load.workload.workload import Workload
from autotune.model.measurement import Invalid, InvalidReason
from autotune.model.protocols import LevelRequest
from autotune.model.service import Endpoint


@pytest.mark.parametrize(
    ("workers", "share", "most", "wanted"),
    [
        (1, 0.2, 8, 1),
        (1, 0.69, 8, 1),
        (1, 0.75, 8, 2),
        (1, 0.98, 8, 2),
        (2, 0.9, 8, 4),
        (2, 0.9, 3, 3),
        (1, 0.9, 1, 1),
    ],
)
def test_a_busy_process_gets_company(workers, share, most, wanted):
    assert processes_wanted(workers, share, most) == wanted


@given(workers=st.integers(1, 64), share=st.floats(0, 1), most=st.integers(1, 64))
def test_there_are_never_fewer_than_before_nor_new_ones_beyond_the_cpus(workers, share, most):
    wanted = processes_wanted(workers, share, most)
    assert workers <= wanted <= max(workers, most)


class Service:
    """One that answers nothing and lives."""

    endpoint = Endpoint(url="http://127.0.0.1:9", model_name="m")

    def counters(self):
        return None

    def check(self):
        pass


LEVEL = LevelRequest(concurrency=64, half_width=0.02, cap_seconds=600.0)


@pytest.fixture
def measured(monkeypatch):
    """Measure one level whose client is as busy as the list says, test by test; gives tests and warnings."""

    def measure(shares, *, cpus, seconds=30.0):
        tests, warnings = [], []

        def run(test, **_others):
            share = shares[len(tests)]
            tests.append(test)
            health = ClientHealth(cpu_seconds=share, elapsed=1.0, lag_p90=0.0, lag_max=0.0)
            slow = share > 0.95
            fault = Fault(reason=InvalidReason.CLIENT_OVERLOADED, detail="slow") if slow else None
            reading = replace(unreached(test, ""), health=health, fault=fault, test_seconds=seconds)
            return replace(reading, requests=10, completed=10)

        monkeypatch.setattr(own_source, "run_load_test", run)
        workload = Workload(prompts=(Prompt(text="a"),), max_output_tokens=8)
        source = own_source.OwnSource(workload, "tgi", cpus=cpus)
        level = source.measure(Service(), LEVEL, warnings.append)
        return level, tests, [one.message for one in warnings if isinstance(one, Warned)]

    return measure


def test_a_level_whose_client_was_too_slow_is_measured_again_with_more_processes(measured):
    level, tests, warnings = measured([0.99, 0.6], cpus=(4, 5, 6))
    assert [test.workers for test in tests] == [1, 2]
    assert not (isinstance(level, Invalid) and level.reason is InvalidReason.CLIENT_OVERLOADED)
    assert warnings == ["the load client used 99% of a core at 64 clients: 2 client processes from now on"]
    assert all(test.cpus == (4, 5, 6) for test in tests)


def test_without_another_cpu_a_slow_client_makes_the_level_invalid(measured):
    level, tests, warnings = measured([0.99], cpus=(4,))
    assert level.reason is InvalidReason.CLIENT_OVERLOADED
    assert (len(tests), len(warnings)) == (1, 1)
    assert "no other CPU" in warnings[0]


def test_a_busy_client_that_kept_up_gets_company_at_the_next_level_only(measured):
    _, tests, warnings = measured([0.8], cpus=(4, 5))
    assert (len(tests), len(warnings)) == (1, 1)


def test_a_level_is_not_repeated_beyond_its_cap(measured):
    level, tests, _ = measured([0.99, 0.5], cpus=(4, 5), seconds=400.0)
    assert level.reason is InvalidReason.CLIENT_OVERLOADED
    assert len(tests) == 1
