"""TLS, mutual TLS, proxies and addresses: right, or told clearly."""

from pathlib import Path

import pytest

from autotune.errors import UsageError
from autotune.load.client.address import read_address
from autotune.load.client.families import api_of
from autotune.load.client.plan import Target
from autotune.load.client.tls import TlsFiles
from autotune.load.load_test import run_load_test
from autotune.model.measurement import InvalidReason

GOLDEN = Path(__file__).parents[2] / "golden" / "tls"
FAST = ("--first-ms", "5", "--step-ms", "4")
SERVER = ("--cert", str(GOLDEN / "server.pem"), "--key", str(GOLDEN / "server.key"))


def target(server, files: TlsFiles | None, scheme: str = "https") -> Target:
    address = read_address(f"{scheme}://127.0.0.1:{server.port}")
    return Target(address=address, api=api_of("openai"), model="m", tls=files)


def fault_of(server, make_test, files, scheme="https"):
    reading = run_load_test(make_test(server, target=target(server, files, scheme), concurrency=2))
    assert reading.completed == 0
    return reading.fault


def test_a_private_authority_is_trusted_when_it_is_named(mock, make_test):
    with mock(*FAST, *SERVER) as server:
        test = make_test(server, target=target(server, TlsFiles(ca=GOLDEN / "ca.pem")))
        assert run_load_test(test).completed == 40


@pytest.mark.parametrize(
    ("cert", "ca", "words"),
    [
        ("server", None, "not trusted"),
        ("server", "other-ca", "not trusted"),
        ("elsewhere", "ca", "not trusted: IP address mismatch"),
        ("expired", "expired", "not trusted: certificate has expired"),
    ],
)
def test_a_certificate_that_does_not_serve_is_told(cert, ca, words, mock, make_test):
    options = ("--cert", str(GOLDEN / f"{cert}.pem"), "--key", str(GOLDEN / f"{cert}.key"))
    with mock(*FAST, *options) as server:
        fault = fault_of(server, make_test, TlsFiles(ca=GOLDEN / f"{ca}.pem" if ca else None))
    assert fault.reason is InvalidReason.SERVICE_DIED
    assert words in fault.detail


def test_a_client_certificate_is_shown_when_the_service_asks_for_it(mock, make_test):
    options = (*SERVER, "--client-ca", str(GOLDEN / "ca.pem"))
    files = TlsFiles(ca=GOLDEN / "ca.pem", cert=GOLDEN / "client.pem", key=GOLDEN / "client.key")
    with mock(*FAST, *options) as server:
        assert run_load_test(make_test(server, target=target(server, files))).completed == 40


@pytest.mark.slow
def test_a_missing_client_certificate_is_told(mock, make_test):
    with mock(*FAST, *SERVER, "--client-ca", str(GOLDEN / "ca.pem")) as server:
        fault = fault_of(server, make_test, TlsFiles(ca=GOLDEN / "ca.pem"))
    assert "certificate" in fault.detail.lower()


def test_https_to_a_service_without_tls_is_told(mock, make_test):
    with mock(*FAST) as server:
        fault = fault_of(server, make_test, TlsFiles(ca=GOLDEN / "ca.pem"))
    assert "TLS" in fault.detail


@pytest.mark.slow
def test_http_to_a_service_with_tls_gives_no_number(mock, make_test):
    with mock(*FAST, *SERVER) as server:
        assert fault_of(server, make_test, None, scheme="http") is not None


@pytest.mark.parametrize(
    "files",
    [
        TlsFiles(ca=Path("/nowhere/ca.pem")),
        TlsFiles(ca=GOLDEN / "server.key"),
        TlsFiles(cert=GOLDEN / "client.pem", key=GOLDEN / "server.key"),
        TlsFiles(key=GOLDEN / "client.key"),
    ],
    ids=["no file", "no authority", "another key", "key alone"],
)
def test_files_that_do_not_serve_are_refused_before_anything_is_sent(files, mock, make_test):
    with mock(*FAST, *SERVER) as server, pytest.raises(UsageError):
        run_load_test(make_test(server, target=target(server, files)))


def test_proxies_of_the_environment_are_ignored(mock, make_test, monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with mock(*FAST) as server:
        assert run_load_test(make_test(server)).completed == 40
