"""Every profile that is shipped can be read, and says what its name promises."""

from pathlib import Path

import pytest

from autotune.model.limit import LimitMetric, LimitStatistic
from autotune.profile.reading import parse_profile

FOLDER = Path(__file__).parents[3] / "profiles"
NAMES = sorted(path.name for path in FOLDER.glob("*.yaml"))


def shipped(name):
    path = FOLDER / name
    return parse_profile(path.read_text(encoding="utf-8"), path=path).profile


def test_these_profiles_are_shipped():
    assert NAMES == [
        "mindie-demo.yaml",
        "mindie-limit-throughput.yaml",
        "mindie-tpot-50ms.yaml",
        "mindie-ttft-8s.yaml",
        "rehearsal-llama3-8b.yaml",
        "vllm-ascend.yaml",
        "vllm-cpu-tiny.yaml",
        "vllm-run-script.yaml",
    ]


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_profile_has_no_fault(name):
    profile = shipped(name)
    assert profile.name.endswith(name.removesuffix(".yaml").removeprefix("mindie-"))


def test_the_main_job_is_that_of_the_guide():
    profile = shipped("mindie-limit-throughput.yaml")
    assert profile.engine.home == Path("/usr/local/Ascend/mindie/latest/mindie-service")
    assert profile.engine.start_timeout == 900.0
    assert profile.workload.dataset.type == "gsm8k"
    assert profile.workload.concurrency == 1000
    assert profile.objective.limits == ()
    assert (profile.host.governor, profile.host.cpus) == ("performance", "odd-numa-node")


def test_the_demo_stays_inside_the_checkout_and_leaves_the_host_alone():
    profile = shipped("mindie-demo.yaml")
    root = FOLDER.parent
    assert profile.engine.home == root / ".demo" / "install"
    assert profile.engine.config_mode == "in-place"
    assert profile.store.state == root / ".demo" / "state"
    assert profile.report.directory == root / "reports"
    assert (profile.host.governor, profile.host.transparent_hugepages, profile.host.cpus) == (
        None,
        None,
        None,
    )
    lengths = profile.workload.dataset
    assert (lengths.input_tokens.mean, lengths.input_tokens.fixed) == (186, True)
    assert (lengths.output_tokens.mean, lengths.output_tokens.max) == (346, 512)


def test_the_rehearsal_needs_no_installation():
    engine = shipped("rehearsal-llama3-8b.yaml").engine
    assert (engine.kind, engine.preset, engine.blocks, engine.noise) == ("rehearsal", "llama3-8b", 2176, 0.02)


def test_the_latency_modes_carry_the_guides_limits():
    (tpot,) = shipped("mindie-tpot-50ms.yaml").objective.limits
    assert (tpot.metric, tpot.statistic, tpot.bound) == (LimitMetric.TPOT, LimitStatistic.MEAN, 50.0)
    ttft, _ = shipped("mindie-ttft-8s.yaml").objective.limits
    assert (ttft.metric, ttft.statistic, ttft.bound) == (LimitMetric.TTFT, LimitStatistic.MEAN, 8000.0)
