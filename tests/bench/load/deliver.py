"""One paced test with the built-in client, and how long after the server's write each event was read.

Server and client write the time of every event down, by connection; both clocks are the host's monotonic one.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from array import array
from pathlib import Path
from time import perf_counter

from autotune.load.client import connection, door
from autotune.load.client.address import read_address
from autotune.load.client.families import api_of
from autotune.load.client.plan import Target
from autotune.load.ends import ForSeconds
from autotune.load.load_test import LoadTest, run_load_test
from autotune.load.workload.lengths import Fixed
from autotune.load.workload.synthetic import SyntheticSpec, synthetic_prompts
from autotune.load.workload.workload import Workload

SERVER = Path(__file__).with_name("mock_server.py")
ON_TIME_SECONDS = 0.02
READS: dict[int, array] = {}


class Logging(connection.Connection):
    """Writes down when each event was read."""

    def connection_made(self, transport) -> None:
        super().connection_made(transport)
        self.log = READS.setdefault(transport.get_extra_info("sockname")[1], array("d"))
        self.stamp = self.log.append

    def data_received(self, data: bytes) -> None:
        now = perf_counter()
        events = data.count(b"\n\n")
        if events == 1:
            self.stamp(now)
        else:
            self.log.extend([now] * events)
        READ(self, data)


READ = connection.Connection.data_received


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--streams", type=int, default=1000)
    parser.add_argument("--step-ms", type=float, default=50.0)
    parser.add_argument("--seconds", type=float, default=10.0)
    options = parser.parse_args()
    door.Connection = Logging
    with tempfile.TemporaryDirectory() as directory:
        log = Path(directory) / "sent"
        reading = run(options, log)
        delays = late(read_log(log))
    delays.sort()
    began, ended = min(log[0] for log in READS.values() if log), max(log[-1] for log in READS.values() if log)
    rate = len(delays) / (ended - began)
    on_time = sum(1 for delay in delays if delay <= ON_TIME_SECONDS) / len(delays)
    figures = {
        "nominal": 1000 * options.streams / options.step_ms,
        "events_per_second": rate,
        "on_time": on_time,
        "p50_ms": 1000 * delays[len(delays) // 2],
        "p99_ms": 1000 * delays[int(0.99 * len(delays))],
        "cpu_share": reading.health.cpu_share,
        "events_a_read": reading.events / reading.reads,
    }
    sys.stdout.write(json.dumps(figures) + "\n")


def run(options: argparse.Namespace, log: Path):
    argv = [
        *("taskset", "-c", "0", sys.executable, str(SERVER), "--first-ms", "50"),
        *("--step-ms", str(options.step_ms), "--log-events", str(log)),
    ]
    os.sched_setaffinity(0, {1})
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        port = int(server.stdout.readline())
        spec = SyntheticSpec(input_tokens=Fixed(tokens=128), output_tokens=Fixed(tokens=100_000), count=16)
        test = LoadTest(
            target=Target(address=read_address(f"http://127.0.0.1:{port}"), api=api_of("tgi"), model="m"),
            workload=Workload(prompts=synthetic_prompts(spec), max_output_tokens=100_000),
            concurrency=options.streams,
            end=ForSeconds(seconds=options.seconds),
        )
        reading = run_load_test(test)
        server.stdin.close()
        server.wait(timeout=30)
    return reading


def read_log(file: Path) -> dict[int, array]:
    values = array("d")
    values.frombytes(file.read_bytes())
    result, place = {}, 0
    while place < len(values):
        port, count = int(values[place]), int(values[place + 1])
        result[port] = values[place + 2 : place + 2 + count]
        place += 2 + count
    return result


def late(sent: dict[int, array]) -> list[float]:
    delays: list[float] = []
    for port, reads in READS.items():
        delays.extend(read - write for read, write in zip(reads, sent.get(port, ()), strict=False))
    return delays


if __name__ == "__main__":
    main()
