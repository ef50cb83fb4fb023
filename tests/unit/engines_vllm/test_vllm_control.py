"""The control plane of vLLM over TLS: a private authority, a client certificate, and no question asked."""

import http.server
import ssl
import subprocess
import threading
from pathlib import Path

import pytest

from autotune.engines.tls import Tls
from autotune.engines.vllm.control import Control
from autotune.errors import Refused

GOLDEN = Path(__file__).parents[2] / "golden" / "tls"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"well")

    def log_message(self, *_arguments):
        pass


@pytest.fixture
def url():
    """A server that asks its clients for a certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(GOLDEN / "server.pem", GOLDEN / "server.key")
    context.load_verify_locations(GOLDEN / "ca.pem")
    context.verify_mode = ssl.CERT_REQUIRED
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"https://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def encrypted(tmp_path) -> Tls:
    key = tmp_path / "client.key"
    command = ["openssl", "pkcs8", "-topk8", "-in", str(GOLDEN / "client.key"), "-out", str(key)]
    subprocess.run([*command, "-passout", "pass:secret"], check=True, capture_output=True)
    password = tmp_path / "password"
    password.write_text("secret\n")
    return Tls(ca=GOLDEN / "ca.pem", cert=GOLDEN / "client.pem", key=key, password_file=password)


def test_an_encrypted_key_is_used_with_its_password_file(url, encrypted):
    with Control(url, tls=encrypted) as control:
        reply = control.get("/health")
    assert reply is not None
    assert reply.body == "well"


def test_without_the_password_it_is_refused_and_nobody_is_asked(url, encrypted):
    bare = Tls(ca=encrypted.ca, cert=encrypted.cert, key=encrypted.key)
    with pytest.raises(Refused, match="is encrypted"):
        Control(url, tls=bare)


def test_a_server_of_another_authority_gets_no_request(url):
    stranger = Tls(ca=GOLDEN / "other-ca.pem", cert=GOLDEN / "client.pem", key=GOLDEN / "client.key")
    with Control(url, tls=stranger) as control:
        assert control.get("/health", seconds=2) is None
