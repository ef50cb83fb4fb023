"""A service that dies, does not stop, or whose file is edited meanwhile: nothing is lost or left."""

import os
import signal
import threading
import time

import pytest

from autotune.emulator.faults import Faults
from autotune.engines.mindie.control import ControlPlane
from autotune.engines.mindie.options import ConfigMode
from autotune.errors import LaunchCause, LaunchFailed, NotRestored
from autotune.events import Warned
from autotune.model.settings import Settings
from autotune.process.identity import identity_of
from autotune.process.tree import Tree

pytestmark = pytest.mark.slow

WANTED = Settings(max_batch_size=300, max_prefill_batch_size=150)


def ask(service, tokens: int = 1) -> None:
    with ControlPlane() as control:
        document = {"inputs": "1", "parameters": {"max_new_tokens": tokens}}
        control.post(f"{service.endpoint.url}/generate", document, seconds=3)


def wait_for_failure(service) -> LaunchFailed:
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            service.check()
        except LaunchFailed as failure:
            return failure
        time.sleep(0.02)
    raise AssertionError("nothing was noticed")


def test_ctrl_c_under_load_puts_everything_back(bench):
    before = bench.facts()
    with pytest.raises(KeyboardInterrupt), bench.engine().launch(WANTED) as service:  # noqa: PT012 - the interrupt comes in the body
        ask(service)
        os.kill(os.getpid(), signal.SIGINT)
    assert bench.facts() == before


def test_a_second_ctrl_c_while_it_stops_does_not_cut_the_restore(bench):
    before = bench.facts()
    timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt), bench.engine().launch(WANTED):  # noqa: PT012 - the interrupt comes in the body
        timer.start()
        os.kill(os.getpid(), signal.SIGINT)
    timer.join()
    assert bench.facts() == before


def test_an_error_in_the_body_is_not_swallowed(bench):
    before = bench.facts()
    with pytest.raises(ZeroDivisionError), bench.engine().launch(WANTED):
        _ = 1 / 0
    assert bench.facts() == before


def test_a_daemon_that_is_killed_is_noticed_and_its_orphans_are_ended(make_bench):
    bench = make_bench(faults=Faults(orphans=True))
    before = bench.facts()
    with bench.engine().launch(WANTED) as service:
        tree = Tree(identity_of(service.pid))
        assert len(tree.living()) > 2
        os.kill(service.pid, signal.SIGKILL)
        failure = wait_for_failure(service)
        assert failure.cause is LaunchCause.CRASHED
        assert len(tree.living()) > 1
    assert tree.living() == ()
    assert any(isinstance(event, Warned) and "outlived" in event.message for event in bench.events)
    assert bench.facts() == before


def test_counters_of_a_dead_service_are_none(bench):
    with bench.engine().launch(WANTED) as service:
        os.kill(service.pid, signal.SIGKILL)
        wait_for_failure(service)
        assert service.counters() is None


def test_an_edit_by_somebody_else_is_never_overwritten(bench):
    before = bench.config.read_text()
    with pytest.raises(NotRestored, match="edited by somebody else") as error, bench.engine().launch(WANTED):
        bench.config.write_text(
            bench.config.read_text().replace('"maxBatchSize" : 300', '"maxBatchSize" : 77')
        )
    assert error.value.exit_code == 4
    assert '"maxBatchSize" : 77' in bench.config.read_text()
    backups = [path.read_text() for path in (bench.work_dir / "backups").iterdir()]
    assert before in backups
    bench.journal.open.clear()  # it stays open on purpose: a person must look


@pytest.mark.parametrize("mode", [ConfigMode.IN_PLACE, ConfigMode.PRIVATE])
@pytest.mark.parametrize("incumbent", [True, False])
def test_the_daemons_own_rewriting_of_its_log_settings_is_undone_and_is_no_edit(bench, mode, incumbent):
    """It dates a dynamic log level in its install's own file, even when it was started with another."""
    text = bench.config.read_text().replace('"dynamicLogLevel" : ""', '"dynamicLogLevel" : "DEBUG"')
    assert "DEBUG" in text
    bench.config.write_text(text)
    before = bench.facts()
    engine = bench.engine(config_mode=mode)
    with engine.launch(engine.describe().incumbent if incumbent else WANTED):
        deadline = time.monotonic() + 10
        while '"dynamicLogLevelValidTime" : ""' in bench.config.read_text():
            assert time.monotonic() < deadline, "the daemon never rewrote it"
            time.sleep(0.02)
    assert bench.facts() == before


def test_an_edit_by_somebody_else_beside_a_private_launch_stays(bench):
    with bench.engine(config_mode=ConfigMode.PRIVATE).launch(WANTED):
        edited = bench.config.read_text().replace('"maxBatchSize" : 200', '"maxBatchSize" : 77')
        bench.config.write_text(edited)
    assert bench.config.read_text() == edited


def test_a_replaced_mode_is_put_back(bench):
    before = bench.facts()
    with bench.engine().launch(WANTED):
        bench.config.chmod(0o600)
    assert bench.facts() == before
