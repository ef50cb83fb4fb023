"""Whether vLLM on Ascend binds its own processes; the words are those of its documentation."""

import pytest

from autotune.engines.vllm.cpu_binding import DEFAULT, cpu_binding


@pytest.mark.parametrize(
    ("config", "ascend", "said"),
    [
        ('{"enable_cpu_binding": false}', True, "off (enable_cpu_binding)"),
        ('{"enable_cpu_binding": true, "x": {}}', False, "on (enable_cpu_binding)"),
        ('{"torchair_graph_config": {"enabled": true}}', True, DEFAULT),
        ("not json", True, DEFAULT),
        ("[]", False, None),
    ],
)
def test_the_additional_config_decides_and_else_the_engine(config, ascend, said):
    words = ("MODEL", "--additional-config", config, "--max-num-seqs", "64")
    assert cpu_binding(words, ascend=ascend) == said
    assert cpu_binding(("MODEL", f"--additional_config={config}"), ascend=ascend) == said


def test_on_other_hardware_nothing_is_said():
    assert cpu_binding(("MODEL",), ascend=False) is None
