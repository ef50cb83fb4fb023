"""A server to be tuned: `small_server.py --capacity N` answers N requests at once; too many slow it down."""

import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CAPACITY = int(sys.argv[sys.argv.index("--capacity") + 1])
BEST, SECONDS, CROWDED_SECONDS = 8, 0.015, 0.005
ROOM = threading.Semaphore(CAPACITY)


class Handler(BaseHTTPRequestHandler):
    """One reply takes SECONDS, and longer for everyone in a batch that is too large."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["max_tokens"]
        with ROOM:
            time.sleep(SECONDS + CROWDED_SECONDS * max(0, CAPACITY - BEST))
        usage = {"prompt_tokens": 3, "completion_tokens": asked}
        body = json.dumps({"choices": [{"text": "a" * asked, "finish_reason": "length"}], "usage": usage})
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *values: object) -> None:
        """Say nothing."""


class Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True


if __name__ == "__main__":
    server = Server(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()
