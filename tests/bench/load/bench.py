"""The load client against a server that knows the truth: `python -m tests.bench.load.bench decisive`.

Server on CPU 0, client on CPU 1. Medians of the runs with their spread; other work on the machine shows in
the latencies first, so the load average is printed beside them. Each figure that has a bound is followed by
whether its median keeps it. Writes reports/bench/load_<test>.json. Exits with 1 when a bound is missed.
"""

import argparse
import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

from tests.bench.load import bounds, peers

HERE = Path(__file__).parent
SERVER = HERE / "mock_server.py"
REPORTS = HERE.parents[2] / "reports" / "bench"


@contextmanager
def server(*options: str) -> Iterator[int]:
    argv = ["taskset", "-c", "0", sys.executable, str(SERVER), *options]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()


def truth(port: int, span: tuple[float, float] = (0.0, 1e18)) -> dict:
    """What the server really sent; latencies of the span only."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/truth?" + urlencode({"since": span[0], "until": span[1]}))
    document = json.loads(connection.getresponse().read())
    connection.close()
    return document


def load(port: int, *options: str) -> dict:
    argv = [
        *("taskset", "-c", "1", sys.executable, str(HERE / "measured.py")),
        *("--url", f"http://127.0.0.1:{port}", "--model", "m", "--json", *options),
    ]
    began = time.perf_counter()
    done = subprocess.run(argv, capture_output=True, text=True, timeout=900, check=False)
    document = json.loads(done.stdout or "{}")
    if not document.get("completed"):
        sys.exit(done.stderr)
    peak, begin, end = (float(text) for text in done.stderr.strip().splitlines()[-1].split())
    return {**document, "began": began, "peak_mib": peak, "span": (begin, end)}


def decisive(options: argparse.Namespace) -> dict:
    """1,000 streams x 20 events a second, one event a read."""
    with server("--vary", "1") as port:
        seen = load(
            port,
            *("--api", "openai", "--concurrency", "1000", "--output-tokens", "400"),
            *("--duration", f"{options.seconds}s"),
        )
        true = truth(port, seen["span"])
    return {
        "cpu_seconds_a_million_events": 1e6 * seen["client_cpu_seconds"] / seen["events"],
        "ttft_mean_error_ms": seen["ttft_ms"]["mean"] - true["ttft_mean_ms"],
        "gap_p99_error_ms": seen["event_gap_ms"]["p99"] - true["gap_p99_ms"],
        "speed_error": seen["tokens_per_second"] / true["steady_tokens_per_second"] - 1,
        "peak_mib": seen["peak_mib"],
        "first_request_seconds": true["first_request"] - seen["began"],
        "events_a_read": seen["events"] / seen["reads"],
        "server_cpu_seconds_a_million_events": 1e6 * true["cpu_seconds"] / true["events"],
    }


def counted(options: argparse.Namespace) -> dict:
    """Every event of a run to its end, at several tokens an event."""
    del options
    result = {}
    for size in (1, 4, 8):
        with server(
            "--vary", "1", "--first-ms", "20", "--step-ms", "20", "--tokens-per-event", str(size)
        ) as port:
            seen = load(
                port,
                *("--api", "openai-chat", "--concurrency", "200", "--output-tokens", "203"),
                *("--requests", "1000"),
            )
            true = truth(port)
        result[f"events_missed_{size}"] = true["events"] - seen["events"]
        result[f"tokens_missed_{size}"] = true["tokens"] - seen["output_tokens"]
        result[f"gap_over_tpot_{size}"] = seen["event_gap_ms"]["mean"] / seen["tpot_ms"]["mean"]
    return result


def short(options: argparse.Namespace) -> dict:
    """Replies of 8 tokens over 64 connections, as fast as they come."""
    with server("--flood") as port:
        seen = load(
            port,
            *("--api", "openai", "--concurrency", "64", "--output-tokens", "8"),
            *("--duration", f"{options.seconds}s"),
        )
        true = truth(port)
    return {
        "requests_a_second": seen["requests"] / seen["seconds"],
        "client_cpu_microseconds_a_request": 1e6 * seen["client_cpu_seconds"] / seen["requests"],
        "server_cpu_microseconds_a_request": 1e6 * true["cpu_seconds"] / true["requests"],
    }


def closing(options: argparse.Namespace) -> dict:
    """60,000 replies of 8 tokens at 1,000 connections, each closed by the server."""
    del options
    with server("--flood", "--close") as port:
        seen = load(
            port,
            *("--api", "openai", "--concurrency", "1000", "--output-tokens", "8", "--requests", "60000"),
        )
    return {
        "completed": seen["completed"],
        "failed": sum(seen["failed"].values()) + seen["short_replies"],
        "requests_a_second": seen["requests"] / seen["seconds"],
        "client_cpu_microseconds_a_request": 1e6 * seen["client_cpu_seconds"] / seen["requests"],
        "peak_mib": seen["peak_mib"],
    }


def steady(options: argparse.Namespace) -> dict:
    """256 requests at concurrency 128, ramp and drain included in the run."""
    del options
    with server("--first-ms", "100", "--step-ms", "20", "--vary", "1") as port:
        seen = load(
            port,
            *("--api", "openai", "--concurrency", "128", "--output-tokens", "384", "--requests", "256"),
        )
        true = truth(port)["steady_tokens_per_second"]
    return {
        "steady_error": seen["tokens_per_second"] / true - 1,
        "whole_run_error": seen["whole_run_tokens_per_second"] / true - 1,
    }


def ladder(options: argparse.Namespace) -> dict:
    """Paced events, ever faster: the highest rate at which 99 % are read within 20 ms of their write."""
    best, result = 0.0, {}
    for rate in (20_000, 40_000, 61_000, 70_000, 81_000):
        argv = [
            *(sys.executable, str(HERE / "deliver.py"), "--streams", str(options.streams)),
            *("--step-ms", str(1000 * options.streams / rate)),
        ]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=True)
        figures = json.loads(done.stdout)
        result[f"on_time_{rate}"] = figures["on_time"]
        result[f"delivered_{rate}"] = figures["events_per_second"]
        result[f"p99_ms_{rate}"] = figures["p99_ms"]
        if figures["on_time"] >= 0.99:
            best = max(best, figures["events_per_second"])
    return {**result, "highest_on_time": best}


def beside(options: argparse.Namespace) -> dict:
    """The same 1,000 streams for every peer found in --peers and for the built-in client, in turn."""
    result: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name:
        model = peers.make_tokenizer(Path(name) / "model")
        for peer in ["own", *peers.NAMES]:
            binary = None if peer == "own" else peers.found(peer, options.peers)
            if peer != "own" and binary is None:
                print(f"  {peer} skipped: no bin/{peer} in {peers.told(options.peers)}")
                continue
            figures = _beside(peer, binary, model, options)
            result.update({f"{peer} {key}": value for key, value in figures.items()})
    rivals = [value for key, value in result.items() if key.endswith(_CPU) and not key.startswith("own ")]
    if rivals and f"own {_CPU}" in result:
        result["best-peer times our CPU"] = min(rivals) / result[f"own {_CPU}"]
    return result


_CPU = "CPU s/M events"


def _beside(peer: str, binary: Path | None, model: Path, options: argparse.Namespace) -> dict:
    """One tool. Its CPU is counted between its first request and the last event, its whole tree."""
    shape = {"requests": options.requests, "streams": 1000, "tokens": 400}
    with server("--vary", "1") as port:
        url = f"http://127.0.0.1:{port}"
        argv = peers.argv_of(peer, binary, url, model, **shape) if binary else own_argv(url, **shape)
        seen = peers.run_peer(peer, argv, model.parent)
        true = truth(port)
    if seen.returncode or not true["events"]:
        print(f"  {peer} ended with {seen.returncode}: {seen.tail}")
        return {}
    cpu = seen.watch.cpu_between(true["first_request"], true["last_event"])
    figures = {
        _CPU: 1e6 * cpu / true["events"],
        "PSS MiB": seen.watch.peak_mib,
        "processes": seen.watch.processes,
        "start s": true["first_request"] - seen.began,
        "gap p99 error ms": _difference(seen.gap_p99_ms, true["gap_p99_ms"]),
        "TTFT mean error ms": _difference(seen.ttft_mean_ms, true["ttft_mean_ms"]),
        "tokens missed": _difference(true["tokens"], seen.output_tokens),
    }
    return {key: value for key, value in figures.items() if value is not None}


def own_argv(url: str, *, requests: int, streams: int, tokens: int) -> list[str]:
    return [
        *(sys.executable, "-m", "autotune", "load", "--url", url, "--api", "openai", "--model", "m"),
        *("--concurrency", str(streams), "--requests", str(requests), "--output-tokens", str(tokens)),
        *("--input-tokens", "128", "--json"),
    ]


def _difference(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other


TESTS = {test.__name__: test for test in (decisive, counted, short, closing, steady, ladder, beside)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("test", choices=[*TESTS, "all"])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--streams", type=int, default=1000, help="of the ladder")
    parser.add_argument(
        "--peers",
        type=lambda text: Path(text).absolute(),
        nargs="+",
        default=[],
        metavar="DIR",
        help="virtual environments that hold the peers (vllm, evalscope, aiperf, guidellm)",
    )
    parser.add_argument("--requests", type=int, default=2000, help="of each tool in `beside`")
    options = parser.parse_args()
    kept = True
    for name in TESTS if options.test == "all" else [options.test]:
        before = os.getloadavg()[0]
        runs = [TESTS[name](options) for _ in range(options.runs)]
        kept = report(name, runs, before) and kept
    sys.exit(0 if kept else 1)


def report(name: str, runs: list[dict], before: float) -> bool:
    print(f"{name}: {TESTS[name].__doc__}")
    print(f"  {len(runs)} runs, load average {before:.1f} -> {os.getloadavg()[0]:.1f}")
    table = {}
    for figure in dict.fromkeys(figure for run in runs for figure in run):
        values = [run[figure] for run in runs if figure in run]
        table[figure] = {"median": statistics.median(values), "low": min(values), "high": max(values)}
    for line in beside_lines(table) if name == "beside" else plain_lines(table):
        print(f"  {line}", flush=True)
    verdicts = bounds.verdicts(name, {figure: row["median"] for figure, row in table.items()})
    for verdict in verdicts:
        print(f"  {verdict.text}", flush=True)
    REPORTS.mkdir(parents=True, exist_ok=True)
    file = REPORTS / f"load_{name}.json"
    told = [verdict.text for verdict in verdicts]
    document = {"test": name, "runs": len(runs), "figures": table, "verdicts": told}
    file.write_text(json.dumps(document, indent=2) + "\n")
    return all(verdict.kept for verdict in verdicts)


def plain_lines(table: dict[str, dict]) -> list[str]:
    return [
        f"{figure:<38} {row['median']:>12.4g}   [{row['low']:.4g} .. {row['high']:.4g}]"
        for figure, row in table.items()
    ]


def beside_lines(table: dict[str, dict]) -> list[str]:
    """A row a tool: medians, the spread in brackets."""
    cells: dict[str, dict[str, str]] = {}
    for figure, row in table.items():
        tool, _, name = figure.partition(" ")
        text = f"{row['median']:.3g} [{row['low']:.3g}..{row['high']:.3g}]"
        cells.setdefault(tool, {})[name] = text
    columns = list(dict.fromkeys(name for row in cells.values() for name in row))
    lines = ["".join([f"{'tool':<11}", *(f"{name:>26}" for name in columns)])]
    for tool, row in cells.items():
        lines.append("".join([f"{tool:<11}", *(f"{row.get(name, '-'):>26}" for name in columns)]))
    return lines


if __name__ == "__main__":
    main()
