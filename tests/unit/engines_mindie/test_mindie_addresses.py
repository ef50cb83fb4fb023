"""Addresses are found by their keys in every layout, as a client on the same host reaches them."""

import json
from pathlib import Path

import pytest

from autotune.engines.mindie.addresses import addresses_of
from autotune.mindie_rules.json_text import parse

CONFIGS = Path(__file__).parents[2] / "golden" / "configs"


def document(name: str):
    return parse((CONFIGS / f"{name}.json").read_text(encoding="utf-8")).value


def test_addresses_of_todays_default_file():
    addresses = addresses_of(document("c26_llm_server_head"))
    assert addresses.business == "https://127.0.0.1:1025"
    assert addresses.management == "https://127.0.0.2:1026"
    assert addresses.metrics == "https://127.0.0.2:1027"
    assert addresses.ports == (1025, 1026, 1027)


def test_the_first_layout_has_no_metrics_port_and_one_plane_for_everything():
    """The published 1.0.RC1 file has neither managementIpAddress nor managementPort; RC2's own has both."""
    oldest = addresses_of(document("c02_rc1_chatglm3_6b_tp2"))
    assert (oldest.metrics, oldest.ports, oldest.management) == (None, (1025,), oldest.business)
    assert addresses_of(document("c59_rc2_default_no_trailing_newline")).ports == (1025, 1026)


def test_addresses_of_a_container_come_before_those_of_the_file():
    """MindIE service parameter documentation, ipAddress: MIES_CONTAINER_IP is preferred where it exists."""
    outside = {"MIES_CONTAINER_IP": "192.0.2.7", "MIES_CONTAINER_MANAGEMENT_IP": "192.0.2.8"}
    addresses = addresses_of(document("c26_llm_server_head"), outside)
    assert (addresses.business, addresses.management) == ("https://192.0.2.7:1025", "https://192.0.2.8:1026")


def test_a_management_address_that_is_not_named_is_the_business_one():
    text = json.dumps({"BackendConfig": {}, "ServerConfig": {"ipAddress": "192.0.2.7"}})
    assert addresses_of(parse(text).value).management == "http://192.0.2.7:1026"


def test_a_file_without_server_config_listens_where_the_service_does_by_default():
    addresses = addresses_of(document("c31_ut_utils_plugin_params"))
    assert (addresses.business, addresses.metrics) == ("http://127.0.0.1:1025", None)


@pytest.mark.parametrize(
    ("written", "reached"), [("0.0.0.0", "127.0.0.1"), ("::", "[::1]"), ("::1", "[::1]")]
)
def test_an_address_for_all_interfaces_is_reached_over_loopback(written, reached):
    text = json.dumps({"BackendConfig": {}, "ServerConfig": {"ipAddress": written, "port": 1}})
    assert addresses_of(parse(text).value).business == f"http://{reached}:1"


def test_planes_that_share_a_port_need_it_once():
    server = {"ipAddress": "127.0.0.1", "managementIpAddress": "127.0.0.1", "port": 5, "managementPort": 5}
    text = json.dumps({"BackendConfig": {}, "ServerConfig": server | {"metricsPort": 5}})
    assert addresses_of(parse(text).value).ports == (5,)
