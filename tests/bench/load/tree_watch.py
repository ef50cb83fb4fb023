"""What a process tree uses while it runs: CPU seconds between two moments, and its largest memory."""

import threading
import time
from bisect import bisect_left
from pathlib import Path

import psutil

_PERIOD_SECONDS = 0.2
_LOOKS_A_MEMORY = 10
"""Proportional set size is dear to read: every second is enough."""


class TreeWatch:
    """A context around a running process; samples are of the host's monotonic clock."""

    def __init__(self, pid: int) -> None:
        self._root = psutil.Process(pid)
        self._quit = threading.Event()
        self._thread = threading.Thread(target=self._look_until_quit, daemon=True)
        self._cpu: dict[int, float] = {}
        self._times: list[float] = []
        self._sums: list[float] = []
        self.peak_mib = 0.0
        self.processes = 0

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._quit.set()
        self._thread.join()

    def cpu_between(self, begin: float, end: float) -> float:
        """CPU seconds of the whole tree, the ends interpolated."""
        return self._at(end) - self._at(begin)

    def _at(self, moment: float) -> float:
        place = bisect_left(self._times, moment)
        if place == 0:
            return self._sums[0] if self._sums else 0.0
        if place == len(self._times):
            return self._sums[-1]
        (a, b), (low, high) = self._times[place - 1 : place + 1], self._sums[place - 1 : place + 1]
        return low + (high - low) * (moment - a) / (b - a)

    def _look_until_quit(self) -> None:
        looks = 0
        while not self._quit.wait(_PERIOD_SECONDS if looks else 0.0):
            self._look(memory=looks % _LOOKS_A_MEMORY == 0)
            looks += 1

    def _look(self, *, memory: bool) -> None:
        try:
            members = [self._root, *self._root.children(recursive=True)]
        except psutil.NoSuchProcess:
            return
        self.processes = max(self.processes, len(members))
        pss = 0.0
        for member in members:
            try:
                times = member.cpu_times()
            except psutil.NoSuchProcess:
                continue
            self._cpu[member.pid] = times.user + times.system
            pss += pss_mib(member.pid) if memory else 0.0
        self._times.append(time.perf_counter())
        self._sums.append(sum(self._cpu.values()))
        self.peak_mib = max(self.peak_mib, pss)


def pss_mib(pid: int) -> float:
    """Memory of one process, shared pages counted by share."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024
