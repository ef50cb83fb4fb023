"""A webhook with a bad certificate gets nothing, and what is told of it holds no secret of its address."""

import http.server
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from autotune.campaign.nightly.outcome import NightOutcome, NightVerdict
from autotune.campaign.nightly.webhook import send

TLS = Path(__file__).parents[2] / "golden" / "tls"
OUTCOME = NightOutcome(
    profile="p",
    run="r",
    verdict=NightVerdict.HOLDS,
    exit_code=0,
    message="the setting still holds",
    started_wall=1.0,
    ended_wall=2.0,
)


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.server.got.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *values):
        pass


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request, address):
        """A handshake that fails is what is wanted."""


@pytest.fixture
def receiving() -> Iterator:
    servers = []

    def begin(certificate: str):
        server = Server(("127.0.0.1", 0), Receiver)
        server.got = []
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(TLS / f"{certificate}.pem", TLS / f"{certificate}.key")
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        servers.append(server)
        return server

    yield begin
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    ("certificate", "authority"),
    [("server", "other-ca"), ("server", None), ("elsewhere", "ca"), ("expired", "expired")],
)
def test_a_bad_certificate_is_told_and_nothing_is_sent(receiving, monkeypatch, certificate, authority):
    if authority:
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(TLS / f"{authority}.pem"))
    else:
        monkeypatch.delenv("REQUESTS_CA_BUNDLE", raising=False)
    server = receiving(certificate)
    problem = send(f"https://127.0.0.1:{server.server_port}/hook/secret-token", OUTCOME, lambda _pause: None)
    assert "SSLError" in problem
    assert "secret-token" not in problem
    assert server.got == []


def test_a_good_certificate_gets_the_night(receiving, monkeypatch):
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(TLS / "ca.pem"))
    server = receiving("server")
    assert send(f"https://127.0.0.1:{server.server_port}/hook", OUTCOME, lambda _pause: None) is None
    assert len(server.got) == 1
