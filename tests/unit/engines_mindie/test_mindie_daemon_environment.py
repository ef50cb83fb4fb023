"""The daemon gets the captured environment, without proxies, and what a launch needs."""

from pathlib import Path

import pytest

from autotune.engines.mindie.daemon_environment import check_install, daemon_environment, hides_blocks
from autotune.engines.mindie.options import Logs
from autotune.errors import Refused

HOME = Path("/opt/mindie-service")


def built(captured=None, **options):
    defaults = {
        "home": HOME,
        "config": None,
        "log_directory": Path("/work/log"),
        "logs": Logs.PRODUCTION,
        "monitoring": None,
    }
    return daemon_environment(captured or {}, **(defaults | options))


def test_proxies_are_gone_and_the_rest_stays():
    env = built({"http_proxy": "http://192.0.2.1:3128", "LD_PRELOAD": "/lib/libjemalloc.so"})
    assert "http_proxy" not in env
    assert env["LD_PRELOAD"] == "/lib/libjemalloc.so"


def test_a_measured_start_logs_as_production_does():
    captured = {"MINDIE_LOG_LEVEL": "ERROR", "MINDIE_LOG_TO_STDOUT": "0"}
    env = built(captured)
    assert {name: env[name] for name in captured} == captured


def test_a_probing_start_shows_the_block_lines():
    env = built({"MINDIE_LOG_LEVEL": "ERROR", "MINDIE_LOG_TO_STDOUT": "0"}, logs=Logs.PROBING)
    assert (env["MINDIE_LOG_LEVEL"], env["MINDIE_LOG_TO_STDOUT"]) == ("INFO", "1")


def test_a_private_copy_is_named():
    assert built(config=Path("/work/config.json"))["MIES_CONFIG_JSON_PATH"] == "/work/config.json"
    assert "MIES_CONFIG_JSON_PATH" not in built()


def test_a_private_copy_is_not_overruled_by_the_addresses_of_a_container():
    captured = {"MIES_CONTAINER_IP": "192.0.2.7", "MIES_CONTAINER_MANAGEMENT_IP": "192.0.2.8"}
    assert not captured.keys() & built(captured, config=Path("/work/config.json")).keys()
    assert built(captured).items() >= captured.items()


@pytest.mark.parametrize(("wanted", "value"), [(True, "1"), (False, "0"), (None, "x")])
def test_monitoring_is_the_same_in_all_launches(wanted, value):
    assert built({"MIES_SERVICE_MONITOR_MODE": "x"}, monitoring=wanted)["MIES_SERVICE_MONITOR_MODE"] == value


def test_the_install_is_named_when_the_environment_does_not():
    assert built()["MIES_INSTALL_PATH"] == str(HOME)
    assert built()["MINDIE_LLM_HOME_PATH"] == str(HOME)


def test_the_environment_of_another_install_is_refused():
    with pytest.raises(Refused, match="another install: MIES_INSTALL_PATH=/opt/other"):
        check_install({"MIES_INSTALL_PATH": "/opt/other"}, HOME)


def test_a_link_to_the_install_is_that_install(tmp_path):
    (tmp_path / "service").mkdir()
    (tmp_path / "latest").symlink_to(tmp_path / "service")
    check_install({"MIES_INSTALL_PATH": str(tmp_path / "latest")}, tmp_path / "service")


@pytest.mark.parametrize(
    ("version", "environment", "hidden"),
    [
        ("1.0.0", {"MINDIE_LOG_LEVEL": "ERROR"}, True),
        ("2.2.RC1", {}, True),
        ("1.0.0", {"MIES_PYTHON_LOG_LEVEL": "info"}, False),
        ("2.0.RC1", {"MINDIE_LOG_LEVEL": "llm:DEBUG; server:ERROR"}, False),
        ("2.3.0", {"MINDIE_LOG_LEVEL": "ERROR"}, False),
        ("3.0", {}, False),
        ("", {}, False),
    ],
)
def test_blocks_are_hidden_where_neither_an_interface_nor_productions_log_tells_them(
    version, environment, hidden
):
    """/v1/status has totalNpuBlockNums from 2.3 on (public source of MindIE-LLM)."""
    assert hides_blocks(version, environment) == hidden
