"""Other tools as the source of load: each run in its own directory, judged, ended with all it started."""

import json
import re
import sys
from dataclasses import dataclass, field

import pytest

from autotune.errors import LaunchCause, LaunchFailed, UsageError
from autotune.load.own_source import OwnSource
from autotune.load.tool_from_profile import Surroundings, tool_source_of
from autotune.load.tool_run import ToolPlace
from autotune.model.measurement import Invalid, InvalidReason, Measurement
from autotune.model.protocols import LevelRequest
from autotune.model.service import Endpoint
from autotune.process.clock import SystemClock
from autotune.process.identity import Identity, alive, identity_of
from autotune.profile.schema import CommandSource, WorkloadSection

SWEEP = LevelRequest(concurrency=8, half_width=0.03, cap_seconds=60.0)
FINAL = LevelRequest(concurrency=8, half_width=0.01, cap_seconds=60.0)
ENDPOINT = Endpoint(url="http://127.0.0.1:9", model_name="m", management_url="http://127.0.0.2:9")
ENVIRONMENT = {"PATH": "/usr/bin:/bin"}


@dataclass
class Notes:
    """A journal that only remembers."""

    open: list = field(default_factory=list)
    recorded: int = 0

    def record(self, change):
        self.open.append(change)
        self.recorded += 1

    def settle(self, change):
        self.open.remove(change)


@dataclass
class FakeService:
    """A service that lives for so many checks."""

    checks: int = 1_000_000
    endpoint: Endpoint = ENDPOINT

    def counters(self):
        return None

    def check(self):
        self.checks -= 1
        if self.checks < 0:
            raise LaunchFailed(LaunchCause.CRASHED, "exit code -9")


@pytest.fixture
def journal():
    return Notes()


@pytest.fixture
def make_source(tmp_path, journal, make_workload):
    def make(command, value=r"speed ([\d.]+)", *, time_scale=1.0, **section):
        workload = WorkloadSection(source=CommandSource(command=tuple(command), value=value), **section)
        return tool_source_of(
            workload,
            OwnSource(make_workload(), "tgi"),
            ToolPlace(directory=tmp_path / "load", cpus=(), journal=journal, clock=SystemClock()),
            Surroundings(environment=ENVIRONMENT),
            time_scale=time_scale,
        )

    return make


def shell(text):
    return ["sh", "-c", text]


def quiet(event):
    del event


def test_a_sweep_level_runs_once_with_an_interval_that_is_assumed(make_source, journal):
    level = make_source(shell("echo speed 1000")).measure(FakeService(), SWEEP, quiet)
    assert isinstance(level, Measurement)
    assert (level.tokens_per_second, level.half_width, level.assumed_noise) == (1000.0, 0.03, True)
    assert (level.requests, level.ttft_ms.mean, level.concurrency_reached) == (0, None, 0)
    assert (journal.recorded, journal.open) == (1, [])


def test_a_final_level_runs_twice_and_its_interval_comes_from_both(make_source, tmp_path):
    counting = "cd ..; echo speed $((1000 + 10 * $(ls | wc -l)))"
    source = make_source(shell(counting))
    level = source.measure(FakeService(), FINAL, quiet)
    assert level.batch_means == (1010.0, 1020.0)
    assert not level.assumed_noise
    # two values a and b: t(0.975, 1) x |a - b| / 2 over their mean
    assert level.half_width == pytest.approx(12.7062 * 5.0 / 1015.0, rel=1e-3)
    again = source.measure(FakeService(), SWEEP, quiet)
    assert not again.assumed_noise
    assert sorted(place.name for place in (tmp_path / "load").iterdir()) == ["001", "002", "003"]


def test_what_a_command_is_told(make_source, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://192.0.2.1:3128")
    program = (
        "import json, os, sys; "
        "print('warming up'); "
        "print(json.dumps({'results': [{'speed': 5}], 'argv': sys.argv[1:], 'cwd': os.getcwd(), "
        "'files': os.listdir(), 'env': dict(os.environ)}))"
    )
    words = [
        sys.executable,
        "-c",
        program,
        "{url}|{host}|{port}|{model}|{concurrency}|{requests}",
        "{directory}",
    ]
    source = make_source(words, "$.results[0].speed")
    assert source.measure(FakeService(), SWEEP, quiet).tokens_per_second == 5
    directory = source._place.directory / "001"
    told = json.loads((directory / "output.txt").read_text().splitlines()[-1])
    assert told["argv"] == ["http://127.0.0.1:9|127.0.0.1|9|m|8|32", str(directory)]
    assert (told["cwd"], told["files"]) == (str(directory), ["output.txt"])
    assert told["env"]["AUTOTUNE_CONCURRENCY"] == "8"
    assert "http_proxy" not in told["env"]


def test_an_emulated_service_runs_faster_than_its_own_clock(make_source):
    level = make_source(shell("echo speed 1000"), time_scale=20.0).measure(FakeService(), SWEEP, quiet)
    assert level.tokens_per_second == 50.0


@pytest.mark.parametrize(
    ("script", "reason", "detail"),
    [
        (
            "echo speed 1000; echo broken >&2; exit 3",
            InvalidReason.CLIENT_DIED,
            "ended with 3: speed 1000 / broken",
        ),
        ("echo no number here", InvalidReason.UNREADABLE, "holds no speed"),
        ("echo speed 0", InvalidReason.UNREADABLE, "holds no speed"),
        ("kill -9 $$", InvalidReason.CLIENT_DIED, "ended with -9"),
    ],
)
def test_a_run_that_fails_is_no_number(script, reason, detail, make_source, journal):
    level = make_source(shell(script)).measure(FakeService(), SWEEP, quiet)
    assert isinstance(level, Invalid)
    assert level.reason is reason
    assert detail in level.detail
    assert journal.open == []


def test_a_tool_that_takes_too_long_is_ended_with_all_it_started(make_source, tmp_path, monkeypatch, journal):
    monkeypatch.setattr("autotune.load.tool_source._ALLOWANCE_SECONDS", 0.0)
    source = make_source(shell(f"sleep 97 & echo $! > {tmp_path}/pid; sleep 97"))
    short = LevelRequest(concurrency=8, half_width=0.03, cap_seconds=0.7)
    level = source.measure(FakeService(), short, quiet)
    assert level.reason is InvalidReason.STALLED
    assert "took longer than 1 s" in level.detail
    left = identity_of(int((tmp_path / "pid").read_text()))
    assert left is None or not alive(left)
    assert journal.open == []


def test_an_interrupt_ends_the_tool(make_source, tmp_path, monkeypatch, journal):
    seen = []

    def interrupted(seconds):
        del seconds
        seen.extend(journal.open)
        raise KeyboardInterrupt

    source = make_source(shell("sleep 97"))
    monkeypatch.setattr("autotune.load.polling.Polling.why_gone", lambda polling: interrupted(0))
    with pytest.raises(KeyboardInterrupt):
        source.measure(FakeService(), SWEEP, quiet)
    (change,) = seen
    assert not alive(Identity(pid=change.pid, create_time=change.create_time))
    assert journal.open == []


def test_a_service_that_dies_ends_the_tool_and_is_told(make_source, monkeypatch):
    monkeypatch.setattr("autotune.load.polling.POLL_SECONDS", 0.1)
    level = make_source(shell("sleep 97")).measure(FakeService(checks=1), SWEEP, quiet)
    assert (level.reason, level.detail) == (InvalidReason.SERVICE_DIED, "exit code -9")


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"source": "ais_bench"}, "there is no command ais_bench"),
        ({"source": CommandSource(command=("nowhere",), value="(x)")}, "there is no command nowhere"),
        (
            {"source": CommandSource(command=("sh", "{nothing}"), value="(x)")},
            "nothing is known of {nothing}",
        ),
        ({"source": CommandSource(command=("sh",), value="x")}, "needs exactly one group"),
        ({"source": CommandSource(command=("sh",), value="(x")}, "is no regular expression"),
        ({"source": CommandSource(command=("sh",), value="$.a..b")}, "is no JSON path from its character 4"),
        ({"source": "evalscope", "headers": {"X-Team": "a"}}, "stand in the process list"),
    ],
)
def test_what_can_not_be_run_is_told_before_anything_is(section, message, tmp_path, journal, make_workload):
    workload = WorkloadSection(**section)
    place = ToolPlace(directory=tmp_path, cpus=(), journal=journal, clock=SystemClock())
    own = OwnSource(make_workload(), "tgi")
    with pytest.raises(UsageError, match=re.escape(message)):
        tool_source_of(workload, own, place, Surroundings(environment=ENVIRONMENT), time_scale=1.0)
