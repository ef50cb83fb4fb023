"""How punctual and how fast the emulated service is: many streams on one core, read by a client on another.

    python tests/bench/emulator_real_time.py                      1,000 streams at 20 tokens/s each
    python tests/bench/emulator_real_time.py --tokens-per-second 60
    python tests/bench/emulator_real_time.py --alone              on a machine where others work

What is shown: the emulated daemon and this client are bound to one core each. How late a step is, is taken
inside the daemon: from the moment at which its schedule says that the tokens are due to the moment at which
it begins to write them. It must do fewer than 1 % of its steps more than 2 ms late, and send 20,000 events/s.
Without --alone it is an ordinary process: where others work, the figure is theirs too, so what they used is
printed. With --alone they cannot displace it; that shows the daemon's own punctuality, and is no substitute
for a quiet machine.
"""

import argparse
import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import uvloop

from autotune.emulator.install import InstallOptions, make_install
from autotune.simulator.presets import preset

_TOKENS = 2400
_SETTLE = 4.0
_LATE_AT_MOST = 0.01
_EVENTS_AT_LEAST = 20_000


@dataclass
class Count:
    """What the client has seen."""

    events: int = 0
    streams: int = 0
    ended: int = 0


class Reader(asyncio.Protocol):
    """Asks for one long stream and counts its events."""

    def __init__(self, count: Count, request: bytes) -> None:
        self._count = count
        self._request = request

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.write(self._request)  # type: ignore[attr-defined]
        self._count.streams += 1

    def data_received(self, data: bytes) -> None:
        self._count.events += data.count(b"\n\n\r\n")

    def connection_lost(self, _exc: Exception | None) -> None:
        self._count.ended += 1


def free_ports(number: int) -> list[int]:
    sockets = [socket.socket() for _ in range(number)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


async def read(port: int, streams: int, seconds: float) -> tuple[Count, float]:
    """Open the streams, let them settle, and count for some seconds."""
    loop = asyncio.get_running_loop()
    body = json.dumps(
        {"inputs": "bench", "parameters": {"max_new_tokens": _TOKENS}, "ignore_eos": True}
    ).encode()
    head = f"POST /generate_stream HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
    count = Count()
    for _ in range(streams):
        await loop.create_connection(lambda: Reader(count, head.encode() + body), "127.0.0.1", port)
    await asyncio.sleep(_SETTLE)
    count.events = 0
    begin = time.monotonic()
    await asyncio.sleep(seconds)
    return count, count.events / (time.monotonic() - begin)


def step_seconds(streams: int, tokens: float) -> float:
    """A decode of all streams when each has so many tokens, in the service's own time."""
    return preset("llama3-8b").cost.decode_seconds(streams, round(streams * tokens))


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def busy_seconds() -> float:
    """What all CPUs have worked since the start of the machine, time that was stolen included."""
    fields = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()
    user, nice, system, _idle, _iowait, *rest = (int(field) for field in fields[1:9])
    return (user + nice + system + sum(rest)) / os.sysconf("SC_CLK_TCK")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--streams", type=int, default=1000)
    parser.add_argument("--tokens-per-second", type=float, default=20.0, help="of each stream")
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument(
        "--alone", action="store_true", help="run as a real-time process (root), as if alone on the machine"
    )
    given = parser.parse_args()
    if given.alone:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    with tempfile.TemporaryDirectory() as folder:
        shown = "as a real-time process" if given.alone else "as an ordinary process"
        print(f"{given.streams} streams at {given.tokens_per_second:g} tokens/s each, {shown}")
        return run(Path(folder), given.streams, given.tokens_per_second, given.seconds)


def run(folder: Path, streams: int, rate: float, seconds: float) -> int:
    ports = free_ports(3)
    statistics = folder / "statistics.json"
    install = make_install(
        folder / "install",
        InstallOptions(
            blocks=streams * 21,
            port=ports[0],
            management_port=ports[1],
            metrics_port=ports[2],
            max_link_num=max(1000, streams),
            max_batch_size=streams,
            max_prefill_batch_size=streams,
            max_iter_times=_TOKENS,
            time_scale=step_seconds(streams, rate * (_SETTLE + seconds / 2)) * rate,
            start_seconds=0.1,
            noise=0.0,
            statistics=str(statistics),
        ),
    )
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "MINDIE_LOG_LEVEL": "ERROR"}
    with (folder / "output.log").open("w", encoding="utf-8") as output:
        daemon = subprocess.Popen(
            [install / "bin" / "mindieservice_daemon"], env=environment, stdout=output, stderr=output
        )
        cpus = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(daemon.pid, {cpus[0]})
        os.sched_setaffinity(0, {cpus[-1]})
        while "start success" not in (folder / "output.log").read_text(encoding="utf-8"):
            time.sleep(0.05)
        begin, begin_all = cpu_seconds(daemon.pid) + cpu_seconds(os.getpid()), busy_seconds()
        begin_daemon = cpu_seconds(daemon.pid)
        count, events = uvloop.run(read(ports[0], streams, seconds))
        spent = cpu_seconds(daemon.pid) - begin_daemon
        ours = cpu_seconds(daemon.pid) + cpu_seconds(os.getpid()) - begin
        others = max(0.0, busy_seconds() - begin_all - ours)
        daemon.send_signal(signal.SIGTERM)
        daemon.wait(timeout=60)
    took = seconds + _SETTLE
    print(f"others kept {others / took:.2f} of {os.cpu_count()} CPUs busy meanwhile")
    good = report(count, events, spent / took, json.loads(statistics.read_text(encoding="utf-8")))
    return 0 if good else 1


def report(count: Count, events: float, cpu: float, seconds: list[dict[str, float]]) -> bool:
    """Print the figures of the seconds in which the streams ran, the first and last ones left out.

    True when both of them are as they must be.
    """
    full = [second for second in seconds if second["tokens"] > 0.5 * events]
    kept = full[round(_SETTLE) : -1]
    steps = sum(second["steps"] for second in kept)
    late = sum(second["late_steps"] for second in kept) / steps
    mean = 1000 * sum(second["total_late"] for second in kept) / steps
    worst = 1000 * max(second["worst"] for second in kept)
    print(f"streams {count.streams}, ended early {count.ended}")
    print(f"events/s {events:,.0f}; the service used {cpu:.0%} of a core")
    print(
        f"steps {steps:.0f} in {len(kept)} s; "
        f"more than 2 ms late {late:.2%} (must: under {_LATE_AT_MOST:.0%}); "
        f"mean {mean:.3f} ms, worst {worst:.1f} ms"
    )
    at_rate = events >= 0.99 * _EVENTS_AT_LEAST
    print(f"{_EVENTS_AT_LEAST:,} events/s: {'reached' if at_rate else 'not reached'}")
    return late < _LATE_AT_MOST


if __name__ == "__main__":
    sys.exit(main())
