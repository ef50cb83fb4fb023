"""Questions go straight to the service, past proxies, and leave no port in TIME_WAIT."""

import http.server
import threading

import pytest

from autotune.engines.mindie.control import ControlPlane
from autotune.process.ports import choose_free, is_free


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers once and closes first, as the service does."""

    def do_GET(self):
        self.send_response(301 if self.path == "/moved" else 200)
        self.send_header("Location", "/elsewhere")
        self.end_headers()
        self.wfile.write(self.path.encode())

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(503)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments):
        pass


@pytest.fixture
def port():
    (chosen,) = choose_free(1)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", chosen), Handler)
    server.allow_reuse_address = False
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield chosen
    server.shutdown()
    server.server_close()
    thread.join()


def test_an_answer_has_its_status_and_its_body(port):
    with ControlPlane() as control:
        reply = control.get(f"http://127.0.0.1:{port}/info")
        assert (reply.status, reply.body, reply.ok) == (200, "/info", True)
        refused = control.post(f"http://127.0.0.1:{port}/x", {"inputs": "1"})
        assert (refused.status, refused.body, refused.ok) == (503, '{"inputs": "1"}', False)


def test_proxies_of_the_environment_are_ignored(port, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "")
    with ControlPlane() as control:
        assert control.get(f"http://127.0.0.1:{port}/info").ok


def test_nobody_there_is_no_answer():
    with ControlPlane() as control:
        assert control.get(f"http://127.0.0.1:{choose_free(1)[0]}/info") is None


def test_no_redirect_is_followed(port):
    with ControlPlane() as control:
        assert control.get(f"http://127.0.0.1:{port}/moved").status == 301


def test_a_server_that_closed_first_can_bind_its_port_again_at_once():
    (chosen,) = choose_free(1)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", chosen), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    with ControlPlane() as control:
        for _ in range(5):
            assert control.get(f"http://127.0.0.1:{chosen}/info").ok
    server.shutdown()
    server.server_close()
    thread.join()
    assert is_free(chosen)
