"""Real vLLM on CPU, tuned and held against restarts: `python tests/bench/vllm_cpu.py campaigns --runs 3`.

On a quiet machine, after `make test-vllm` has set vLLM up. Each command prints its table and keeps it in
reports/bench/vllm_<command>.json:

    campaigns   `autotune tune profiles/vllm-cpu-tiny.yaml` from the engine's own 128, each with no history
    restarts    one launch for each of a fixed grid, with all clients of the profile
    alternate   the best of that grid and each campaign's value by turns, and whether they differ by 4 %
    sweep       one launch at 128, its concurrency raised step by step, beside those restarts
    plateau     a campaign with a KV cache so large that nothing falls (tests/bench/vllm_plateau.yaml)
    page        reports/bench/vllm.md from all of these
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from autotune.campaign.choices import Choices
from autotune.campaign.guards import guarded
from autotune.campaign.planning import planned
from autotune.campaign.session import Session
from autotune.cli.listeners import PlainLines
from autotune.model.measurement import Measurement
from autotune.model.protocols import LevelRequest
from autotune.profile.reading import read_profile
from autotune.statistics.compare import LaunchReading, compare

ROOT = Path(__file__).parents[2]
REPORTS = ROOT / "reports" / "bench"
TINY = ROOT / "profiles" / "vllm-cpu-tiny.yaml"
PLATEAU = Path(__file__).with_name("vllm_plateau.yaml")
GRID = (16, 32, 40, 48, 56, 64, 128)
HALF_WIDTH, CAP_SECONDS = 0.02, 60.0
WITHIN, MOST_LAUNCHES, MOST_MINUTES, BEST = 0.04, 8, 15.0, range(32, 57)

_ABOUT = """\
Made by `python tests/bench/vllm_cpu.py` (campaigns, restarts, alternate, sweep, plateau, page) on two cores
with vLLM 0.32 and a random model of 14.7 million parameters; KV cache of 257 blocks of 32 tokens, 64 tokens
in, 192 out, 154 clients."""
_SWEPT = """\
A level of the sweep runs under --max-num-seqs 128 with so many clients and no queue; a restart has that
value as its limit and a standing queue. They differ where they do by more than both intervals together."""
_HALVES = ("token/s", "running", "preempted")
_COLUMNS = ("value", *(f"swept: {half}" for half in _HALVES), *_HALVES, "difference", "")


def campaigns(runs: int, *, more: bool) -> None:
    """Full campaigns; a run must keep its launches, its minutes, and end with a value that is known good."""
    kept = load("campaigns") if more else []
    for number in range(len(kept) + 1, len(kept) + runs + 1):
        found = campaign(TINY)
        good = (
            found["launches"] <= MOST_LAUNCHES and found["minutes"] <= MOST_MINUTES and found["value"] in BEST
        )
        kept.append({**found, "as_asked": good})
        print(
            f"run {number}: {found['value']} ({found['verdict']}), {found['launches']} launches in "
            f"{found['minutes']:.1f} min, gain {share(found['gain'])} (at least {share(found['gain_low'])}); "
            f"forecast {found['forecast_minutes']:.1f} min; {'as asked' if good else 'NOT AS ASKED'}",
            flush=True,
        )
        keep("campaigns", kept)


def campaign(profile: Path) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="vllm-bench-") as directory:
        state, output = Path(directory) / "state", Path(directory) / "report"
        command = [sys.executable, "-m", "autotune", "tune", str(profile), "--yes", "--json"]
        options = ["--set", f"store.state={state}", "--output", str(output)]
        began = time.monotonic()
        done = subprocess.run([*command, *options], stdout=subprocess.PIPE, text=True, check=False, cwd=ROOT)
        minutes = (time.monotonic() - began) / 60
        if done.returncode:
            sys.exit(f"exit code {done.returncode}")
        result = json.loads(done.stdout)
        said = _shape_said((output / "report.md").read_text(encoding="utf-8"))
    forecast = result.get("forecast") or {}
    return {
        "value": result["best"]["settings"]["max_batch_size"],
        "verdict": result["verdict"]["code"],
        "text": result["verdict"]["text"],
        "shape": said,
        "launches": len(result["launches"]),
        "minutes": minutes,
        "forecast_minutes": (forecast.get("seconds") or 0.0) / 60,
        "gain": result["gain"],
        "gain_low": result["gain_low"],
        "curve": [
            {
                "purpose": launch["purpose"],
                "value": launch["settings"]["max_batch_size"],
                "levels": [
                    [level["concurrency"], level["tokens_per_second"], level["half_width"]]
                    for level in launch["levels"]
                ],
                "preemptions": [level["preemptions"] for level in launch["levels"]],
                "seconds": launch["seconds"],
            }
            for launch in result["launches"]
        ],
    }


def _shape_said(report: str) -> str:
    """What the report says of the curve in words: the first line of its chapter."""
    _, _, chapter = report.partition("## Throughput against batch size\n")
    return next((line for line in chapter.splitlines() if line), "")


def restarts() -> None:
    with opened() as session:
        readings = [reading for value in GRID for reading in launch(session, value, ())]
    keep("restarts", readings)


def alternate(values: Sequence[int], rounds: int) -> None:
    """Launches by turns (A B B A ...), so that a drift of the machine meets both alike."""
    curve = load("restarts")
    best = max(curve, key=lambda reading: reading["tokens_per_second"])["value"]
    wanted = sorted({*(values or [run["value"] for run in load("campaigns")])} - {best})
    kept = []
    if not wanted:
        print(f"the campaigns ended with the best of the grid itself ({best}): nothing differs")
    with opened() as session:
        for value in wanted:
            sides: dict[int, list[LaunchReading]] = {best: [], value: []}
            for number in range(rounds):
                for turn in (best, value) if number % 2 == 0 else (value, best):
                    (read,) = launch(session, turn, ())
                    sides[turn].append(LaunchReading(read["tokens_per_second"], read["half_width"]))
            found = compare(sides[best], sides[value], confidence=0.95)
            good = abs(found.gain) <= WITHIN
            print(
                f"{value} against {best}: {share(found.gain)} ({share(found.low)} to {share(found.high)}); "
                f"{'within' if good else 'NOT WITHIN'} {WITHIN:.0%}",
                flush=True,
            )
            kept.append(
                {"value": value, "best": best, "gain": found.gain, "low": found.low, "high": found.high}
            )
    keep("alternate", kept)


def sweep() -> None:
    with opened() as session:
        readings = launch(session, GRID[-1], GRID)
    keep("sweep", readings)
    for level, other in _pairs():
        print(_side_by_side(level, other))


def plateau() -> None:
    found = campaign(PLATEAU)
    keep("plateau", [found])
    print(f"{found['value']}: {found['text']} ({found['launches']} launches, {found['minutes']:.1f} min)")
    print(found["shape"])


def page() -> None:
    """What was kept, as one page."""
    lines = [
        "# Real vLLM on CPU",
        _ABOUT,
        "",
        "## Campaigns from the engine's default of 128",
        "| run | value | verdict | launches | minutes | gain | at least | 32 to 56, 8 launches, 15 minutes |",
        "|---|---|---|---|---|---|---|---|",
        *(
            f"| {number} | {run['value']} | {run['verdict']} | {run['launches']} | {run['minutes']:.1f} | "
            f"{share(run['gain'])} | {share(run['gain_low'])} | {'yes' if run['as_asked'] else 'NO'} |"
            for number, run in enumerate(load("campaigns"), 1)
        ),
        "",
        "## The value found against the best of a grid, by turns",
        *(
            f"- {turn['value']} against {turn['best']}: {share(turn['gain'])} "
            f"({share(turn['low'])} to {share(turn['high'])})"
            for turn in load("alternate")
        ),
        *([] if load("alternate") else ["- the campaigns ended with the best of the grid itself"]),
        "",
        "## One start swept, and restarts",
        _SWEPT,
        "",
        f"| {' | '.join(_COLUMNS)} |",
        "|---|---|---|---|---|---|---|---|---|",
        *(_side_by_side(level, other) for level, other in _pairs()),
        "",
        "## A KV cache that holds every request",
        *_plateau_lines(),
    ]
    (REPORTS / "vllm.md").write_text("\n".join(lines) + "\n")


def _plateau_lines() -> list[str]:
    if not kept_at("plateau").exists():
        return ["- not measured: `python tests/bench/vllm_cpu.py plateau`"]
    return [
        f"- {run['value']} in {run['launches']} launches and {run['minutes']:.1f} minutes: {run['text']}. "
        f"The report on the curve: {run['shape']}"
        for run in load("plateau")
    ]


def _pairs() -> list[tuple[dict[str, Any], dict[str, Any]]]:
    restarted = {reading["value"]: reading for reading in load("restarts")}
    levels = load("sweep")
    return [(level, restarted[level["concurrency"]]) for level in levels if level["concurrency"] in restarted]


def _side_by_side(level: dict[str, Any], other: dict[str, Any]) -> str:
    ratio = level["tokens_per_second"] / other["tokens_per_second"] - 1
    agree = abs(ratio) <= level["half_width"] + other["half_width"]
    cells = [
        f"{reading['tokens_per_second']:.0f} +-{reading['half_width']:.1%} | {reading['running']:.1f} | "
        f"{reading['preemptions']}"
        for reading in (level, other)
    ]
    return f"| {other['value']} | {' | '.join(cells)} | {share(ratio)} | {'agree' if agree else 'differ'} |"


@contextmanager
def opened() -> Iterator[Session]:
    with ExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="vllm-bench-"))
        loaded = read_profile(TINY, [f"store.state={directory}/state"])
        session = stack.enter_context(planned(loaded, Choices(), PlainLines(sys.stderr)))
        stack.enter_context(guarded(session.state, session.campaign))
        stack.enter_context(session.side.clock.stopping_on_signals())
        yield session


def launch(session: Session, value: int, levels: Sequence[int]) -> list[dict[str, Any]]:
    """One launch at a value, read at each concurrency; at the profile's own where none is given."""
    side = session.side
    settings = replace(session.campaign.description.incumbent, max_batch_size=value)
    readings = []
    with side.engine.launch(settings) as service:
        side.source.warm_up(service)
        for concurrency in levels or (session.space.concurrency,):
            request = LevelRequest(
                concurrency=concurrency, half_width=HALF_WIDTH, cap_seconds=CAP_SECONDS, at_once=value
            )
            level = side.source.measure(service, request, lambda _event: None)
            if not isinstance(level, Measurement):
                sys.exit(f"{value} at {concurrency}: {level.reason.value}: {level.detail}")
            readings.append(
                {
                    "value": value,
                    "concurrency": concurrency,
                    "tokens_per_second": level.tokens_per_second,
                    "half_width": level.half_width,
                    "running": level.running_mean or 0.0,
                    "preemptions": level.preemptions,
                    "seconds": level.seconds,
                }
            )
            print(
                f"--max-num-seqs {value}, {concurrency} clients: {level.tokens_per_second:.0f} token/s "
                f"+-{level.half_width:.1%} in {level.seconds:.0f} s, running {level.running_mean or 0:.1f}, "
                f"{level.preemptions} preemptions",
                flush=True,
            )
    return readings


def share(fraction: float | None) -> str:
    return "unknown" if fraction is None else f"{fraction:+.1%}"


def keep(name: str, document: list[dict[str, Any]]) -> None:
    REPORTS.mkdir(parents=True, exist_ok=True)
    kept_at(name).write_text(json.dumps(document, indent=1) + "\n")


def kept_at(name: str) -> Path:
    return REPORTS / f"vllm_{name}.json"


def load(name: str) -> list[dict[str, Any]]:
    path = kept_at(name)
    if not path.exists():
        sys.exit(f"{path} is not there: run `python tests/bench/vllm_cpu.py {name}` first")
    return json.loads(path.read_text())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    runs = commands.add_parser("campaigns")
    runs.add_argument("--runs", type=int, default=3)
    runs.add_argument("--more", action="store_true", help="beside those that are kept")
    commands.add_parser("restarts")
    turns = commands.add_parser("alternate")
    turns.add_argument("--value", type=int, action="append", default=[], help="else those of the campaigns")
    turns.add_argument("--rounds", type=int, default=3)
    commands.add_parser("sweep")
    commands.add_parser("plateau")
    commands.add_parser("page")
    given = parser.parse_args()
    match given.command:
        case "campaigns":
            campaigns(given.runs, more=given.more)
        case "restarts":
            restarts()
        case "alternate":
            alternate(given.value, given.rounds)
        case "sweep":
            sweep()
        case "plateau":
            plateau()
        case _:
            page()


if __name__ == "__main__":
    main()
