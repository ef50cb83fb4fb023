"""ServerLog: MindIE's log files and what of them goes to standard output, by the MINDIE_LOG_* switches.

Without any switch lines of INFO and above go to files below ~/mindie/log and none to the screen. A value
may name components: `llm:true;server:true`, `llm:INFO;server:ERROR`. Before 3.x the Python part had
switches of its own (MINDIE_LLM_PYTHON_LOG_*), which count too.
"""

import os
import socket
import sys
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Final, TextIO

from autotune.mindie_rules.log_printing import Stamp

_LEVELS: Final = {
    "DEBUG": 10,
    "INFO": 20,
    "WARN": 30,
    "WARNING": 30,
    "ERROR": 40,
    "CRITICAL": 50,
    "FATAL": 50,
    "NULL": 99,
    "NONE": 99,
}
_NAMES: Final = {10: "DEBUG", 20: "INFO", 30: "WARN", 40: "ERROR", 50: "CRITICAL"}
_TRUE: Final = ("1", "true", "on")
_OLD_LLM: Final = "MINDIE_LLM_PYTHON_LOG_"
_COMPONENTS: Final = ("server", "llm")


def _chosen(text: str, component: str) -> str:
    """The part of a switch that concerns a component: `llm:true;server:0`, or the whole text."""
    for part in text.split(";"):
        name, colon, value = part.partition(":")
        if colon and name.strip().lower() == component:
            return value.strip()
    return "" if ":" in text else text.strip()


class Switches:
    """The switches of one component."""

    def __init__(self, environment: Mapping[str, str], component: str) -> None:
        level = self._read(environment, component, "LEVEL").upper() or "INFO"
        self.level = _LEVELS.get(level, _LEVELS["INFO"])
        self.to_stdout = self._read(environment, component, "TO_STDOUT").lower() in _TRUE
        self.to_file = (self._read(environment, component, "TO_FILE").lower() or "1") in _TRUE

    @staticmethod
    def _read(environment: Mapping[str, str], component: str, name: str) -> str:
        chosen = _chosen(environment.get(f"MINDIE_LOG_{name}", ""), component)
        if not chosen and component == "llm":
            chosen = environment.get(f"{_OLD_LLM}{name}", "").strip()
        return chosen


class ServerLog:
    """Writes lines to the files and the screen."""

    def __init__(self, environment: Mapping[str, str], *, screen: TextIO | None = None) -> None:
        self._switches = {name: Switches(environment, name) for name in _COMPONENTS}
        self._screen = screen or sys.stdout
        folder = environment.get("MINDIE_LOG_PATH") or f"{environment.get('HOME', '/root')}/mindie/log"
        self._folder = Path(folder)
        self._files: dict[str, TextIO] = {}
        self._pid = os.getpid()
        self._host = socket.gethostname()
        self._started = datetime.now().astimezone().strftime("%Y%m%d%H%M%S%f")[:-3]
        self.buffered = False
        """True while somebody calls `flush` now and then; until then every line is written at once."""
        self.requests = self._switches["server"].level <= _LEVELS["INFO"] and (
            self._switches["server"].to_file or self._switches["server"].to_stdout
        )
        """Whether requests are logged one by one."""

    def wants(self, component: str, level: str) -> bool:
        """Whether a line of this level goes anywhere."""
        switches = self._switches[component]
        return _LEVELS[level] >= switches.level and (switches.to_stdout or switches.to_file)

    def stamp(self) -> Stamp:
        """Time, process and thread of a line written now."""
        now = datetime.now().astimezone()
        zone = now.strftime("%z")
        moment = f"{now.strftime('%Y-%m-%d %H:%M:%S')}.{now.microsecond // 1000:03d}{zone[:3]}:{zone[3:]}"
        return Stamp(time=moment, pid=self._pid, tid=self._pid)

    def line(self, component: str, level: str, text: str) -> None:
        """Write a whole line, its head included, where this component and level go."""
        switches = self._switches[component]
        if _LEVELS[level] < switches.level:
            return
        if switches.to_stdout:
            self._screen.write(text + "\n")
            self._screen.flush()
        if switches.to_file:
            self._write(f"debug/mindie-{component}", text)

    def at_info(self, place: str, text: str) -> None:
        """A line of the server at INFO."""
        self._server("INFO", place, text)

    def at_warn(self, place: str, text: str) -> None:
        """A line of the server at WARN."""
        self._server("WARN", place, text)

    def at_error(self, place: str, text: str) -> None:
        """A line of the server at ERROR."""
        self._server("ERROR", place, text)

    def audit(self, who: str, what: str, result: str) -> None:
        """A line of the audit log, which no level silences."""
        stamp = self.stamp()
        line = f"[{stamp.time}] [{stamp.pid}] [{self._host}] [{who}] [server] [{what}] [{result}]"
        if self._switches["server"].to_file:
            self._write("security/mindie-server", line)

    def request(self, peer: str, method: str, path: str) -> None:
        """The lines of a request that came."""
        if not self.requests:
            return
        self.audit(peer, f"Request mindie server, method={method}, uri is {path}", "success")
        self.at_info(
            "http_server.cpp:54", f"[endpoint] Receive request from {peer} ,method={method}, uri is {path}"
        )

    def flush(self) -> None:
        """Write out what is buffered."""
        for file in self._files.values():
            file.flush()

    def close(self) -> None:
        """Write out and close the files; a later line opens them again."""
        for file in self._files.values():
            file.close()
        self._files.clear()

    def _server(self, level: str, place: str, text: str) -> None:
        if self.wants("server", level):
            self.line("server", level, self.stamp().head("server", level, place) + text)

    def _write(self, name: str, text: str) -> None:
        file = self._files.get(name)
        if file is None:
            path = self._folder / f"{name}_{self._pid}_{self._started}.log"
            try:
                path.parent.mkdir(parents=True, exist_ok=True, mode=0o750)
                file = path.open("a", encoding="utf-8", buffering=1 << 16)
            except OSError:
                file = Path(os.devnull).open("a", encoding="utf-8")  # noqa: SIM115 - kept open
            self._files[name] = file
        file.write(text + "\n")
        if not self.buffered:
            file.flush()
