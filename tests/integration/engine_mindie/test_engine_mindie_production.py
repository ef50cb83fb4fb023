"""A service that ran before is stopped and started only as the profile says, and answers again at the end."""

import shlex
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from autotune.engines.mindie.installation import find
from autotune.engines.mindie.production import Production, ProductionCommands, unit_commands
from autotune.errors import NotRestored, Refused
from autotune.model.settings import Settings
from autotune.process.clock import SystemClock
from autotune.process.ending import end
from autotune.process.identity import identity_of
from autotune.process.tree import Tree

pytestmark = pytest.mark.slow

START = """
import subprocess, sys
with open({log!r}, "ab") as log:
    daemon = subprocess.Popen([{daemon!r}], cwd={cwd!r}, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
open({pid!r}, "w").write(str(daemon.pid))
"""
STOP = """
import os, signal, time
pid = int(open({pid!r}).read())
os.kill(pid, signal.SIGTERM)
while os.path.exists(f"/proc/{{pid}}"):
    time.sleep(0.02)
"""
NOTE = "import sys; open(sys.argv[1], 'a').write(sys.argv[2] + '\\n')"


class Live:
    """Commands that start and stop the emulated daemon as production, with hooks that take notes."""

    def __init__(self, bench):
        directory = bench.install.parent
        self.pid_file, self.notes = directory / "production.pid", directory / "notes"
        names = {
            "log": str(directory / "production.log"),
            "daemon": str(bench.install / "bin" / "mindieservice_daemon"),
            "cwd": str(directory),
            "pid": str(self.pid_file),
        }
        self.bench = bench
        self.commands = ProductionCommands(
            stop=(sys.executable, "-c", STOP.format(**names)),
            start=(sys.executable, "-c", START.format(**names)),
            before=(sys.executable, "-c", NOTE, str(self.notes), "before"),
            after=(sys.executable, "-c", NOTE, str(self.notes), "after"),
        )

    def production(self, commands: ProductionCommands | None, **options) -> Production:
        defaults = {"answer_timeout": 20.0, "work_dir": self.bench.work_dir}
        return Production(
            addresses=find(self.bench.install, self.bench.environment).addresses,
            commands=commands,
            environment=self.bench.environment,
            **(defaults | options),
        )

    def end(self) -> None:
        if self.pid_file.exists():
            identity = identity_of(int(self.pid_file.read_text()))
            if identity:
                end(Tree(identity), grace=5, clock=SystemClock())


@pytest.fixture
def live(bench):
    made = Live(bench)
    yield made
    made.end()


def test_nothing_is_live_on_a_quiet_host(live):
    production = live.production(None)
    assert not production.is_live()
    assert not production.answers()
    production.require_commands()


def test_a_live_service_without_commands_is_refused_with_what_to_write(live):
    live.production(live.commands).start()
    production = live.production(None)
    assert production.is_live()
    with pytest.raises(Refused, match="a service is live: port") as refused:
        production.require_commands()
    assert "engine: {service: {unit:" in refused.value.hint
    production.stop()
    assert production.is_live(), "without commands it is never touched"


def test_it_is_stopped_tuned_and_answers_again(live, bench):
    before = bench.facts()
    production = live.production(live.commands)
    production.start()
    production.require_commands()
    live.notes.unlink()

    production.stop()
    assert not production.is_live()
    assert live.notes.read_text().split() == ["before"]
    with bench.engine().launch(Settings(max_batch_size=300, max_prefill_batch_size=150)) as service:
        service.check()
    production.start()

    assert production.answers()
    assert live.notes.read_text().split() == ["before", "after"]
    assert bench.facts() == before


def test_a_service_that_was_started_again_is_not_ours_to_end(live):
    production = live.production(live.commands)
    production.start()
    pid = int(live.pid_file.read_text())
    environ = Path(f"/proc/{pid}/environ").read_bytes()
    assert b"AUTOTUNE_ROOT" not in environ
    assert "Max core file size         0" not in Path(f"/proc/{pid}/limits").read_text() or (
        "Max core file size         0" in Path("/proc/self/limits").read_text()
    )


def test_a_stop_command_that_fails_leaves_the_service_in_its_place(live):
    live.production(live.commands).start()
    live.notes.unlink()
    failing = ProductionCommands(
        stop=(sys.executable, "-c", "raise SystemExit('no right to do this')"),
        start=live.commands.start,
        before=live.commands.before,
        after=live.commands.after,
    )
    production = live.production(failing)
    with pytest.raises(Refused, match="no right to do this"):
        production.stop()
    assert production.answers()
    assert live.notes.read_text().split() == ["before", "after"]


def test_a_start_command_that_fails_needs_a_person(live):
    failing = ProductionCommands(stop=live.commands.stop, start=(sys.executable, "-c", "raise SystemExit(7)"))
    with pytest.raises(NotRestored, match="ended with 7") as error:
        live.production(failing).start()
    assert error.value.exit_code == 4
    assert error.value.hint.startswith("run: ")


def test_a_start_command_may_be_the_service_itself(live, bench):
    daemon = str(bench.install / "bin" / "mindieservice_daemon")
    production = live.production(ProductionCommands(stop=live.commands.stop, start=(daemon,)))
    production.start()
    assert production.answers()
    end(Tree(production._started.identity), grace=5, clock=SystemClock(), child=production._started)


def test_a_service_that_somebody_has_started_already_is_not_started_again(live):
    live.production(live.commands).start()
    live.notes.unlink()
    other = replace(live.commands, start=(sys.executable, "-c", "raise SystemExit(7)"))
    live.production(other).start()
    assert live.notes.read_text().split() == ["after"]


def test_a_hook_that_fails_after_all_needs_a_person(live):
    failing = replace(live.commands, after=(sys.executable, "-c", "raise SystemExit(9)"))
    with pytest.raises(NotRestored, match="hook after it failed"):
        live.production(failing).start()


def test_a_service_that_does_not_answer_in_time_needs_a_person(live):
    idle = ProductionCommands(stop=live.commands.stop, start=(sys.executable, "-c", "pass"))
    began = time.monotonic()
    with pytest.raises(NotRestored, match="does not answer within"):
        live.production(idle, answer_timeout=0.5).start()
    assert time.monotonic() - began < 5


def test_a_command_that_does_not_exist_is_named(live):
    missing = ProductionCommands(stop=("no-such-command",), start=("no-such-command",))
    with pytest.raises(NotRestored, match="no command no-such-command"):
        live.production(missing).start()


def test_a_service_that_still_loads_its_model_is_live(live):
    loading = replace(live.commands, active=(sys.executable, "-c", "pass"))
    assert live.production(loading).is_live()
    stopped = replace(live.commands, active=(sys.executable, "-c", "raise SystemExit(3)"))
    assert not live.production(stopped).is_live()


def test_a_unit_is_stopped_and_started_by_systemd():
    commands = unit_commands("mindie.service")
    assert shlex.join(commands.stop) == "systemctl stop mindie.service"
    assert shlex.join(commands.start) == "systemctl start mindie.service"
    assert shlex.join(commands.active) == "systemctl is-active --quiet mindie.service"
