"""A small driver of headless Chromium over its debugging pipe: no port is opened, nothing is downloaded."""

import base64
import fcntl
import itertools
import json
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)


def find_chromium():
    """Path of an installed Chromium; None when there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def high_pipe():
    """A pipe whose ends stay clear of the descriptors 3 and 4 that Chromium wants."""
    ends = os.pipe()
    moved = tuple(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 20) for end in ends)
    for end in ends:
        os.close(end)
    return moved


def low_descriptors():
    """Takes the descriptors up to 4 that are free, so that subprocess does not use them for itself."""
    taken = [os.open(os.devnull, os.O_RDONLY)]
    while taken[-1] < 4:
        taken.append(os.open(os.devnull, os.O_RDONLY))
    return taken


class Chromium:
    """One browser with one page; every event that it sent is kept."""

    def __init__(self, program):
        self._program = program
        self._numbers = itertools.count(1)
        self._pending = b""
        self.events = []

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="chromium-")
        to_read, self._write = high_pipe()
        self._read, to_write = high_pipe()
        taken = low_descriptors()
        self._process = subprocess.Popen(
            [self._program, *FLAGS, f"--user-data-dir={self._folder.name}"],
            preexec_fn=lambda: (os.dup2(to_read, 3), os.dup2(to_write, 4)),  # noqa: PLW1509 - one thread
            close_fds=False,  # matplotlib closes its fonts in a fork, and they may be 3 and 4
            env={**os.environ, "TMPDIR": self._folder.name},
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for end in (to_read, to_write, *taken):
            os.close(end)
        try:
            target = self._send("Target.createTarget", url="about:blank")["targetId"]
            attached = self._send("Target.attachToTarget", targetId=target, flatten=True)
            self._session = attached["sessionId"]
            for domain in ("Page", "Runtime", "Log", "Network"):
                self.call(f"{domain}.enable")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._write)
        os.close(self._read)
        self._folder.cleanup()

    def call(self, method, **parameters):
        """One command to the page."""
        return self._send(method, session=self._session, **parameters)

    def open(self, path, *, width=1280, height=900, dark=False, media="screen"):
        """Load a file and wait until it is there."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media=media, features=[scheme])
        self.events.clear()
        self.call("Page.navigate", url=Path(path).resolve().as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self._receive()

    def evaluate(self, script):
        """The value of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def move_mouse(self, x, y):
        """Move the pointer."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def screenshot(self, path, height=None):
        """The whole page as PNG, or so much of it from the top."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": height or size["height"], "scale": 1}
        picture = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        Path(path).write_bytes(base64.b64decode(picture["data"]))

    def pdf(self, path):
        """The page as it prints."""
        printed = self.call("Page.printToPDF", printBackground=True, preferCSSPageSize=True)
        Path(path).write_bytes(base64.b64decode(printed["data"]))

    def complaints(self):
        """Errors and warnings that the console showed, refused contents among them."""
        logged = [e["params"]["entry"] for e in self.events if e["method"] == "Log.entryAdded"]
        thrown = [e["params"] for e in self.events if e["method"] == "Runtime.exceptionThrown"]
        return [entry["text"] for entry in logged if entry["level"] in {"error", "warning"}] + thrown

    def requests(self):
        """Addresses that the page asked for."""
        sent = [e["params"] for e in self.events if e["method"] == "Network.requestWillBeSent"]
        return [request["request"]["url"] for request in sent]

    def _send(self, method, session=None, **parameters):
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == number:
                assert "error" not in answer, answer["error"]
                return answer["result"]

    def _receive(self):
        while b"\0" not in self._pending:
            chunk = os.read(self._read, 1 << 20)
            assert chunk, "chromium went away"
            self._pending += chunk
        text, self._pending = self._pending.split(b"\0", 1)
        message = json.loads(text)
        if "method" in message:
            self.events.append(message)
        return message
