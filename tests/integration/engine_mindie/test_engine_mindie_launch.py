"""A launch on the emulated daemon: it serves what was written, and everything is as before afterwards."""

import json
import os
import socket
import subprocess
import time
from pathlib import Path

import pytest

from autotune.engines.mindie import launching, trial
from autotune.engines.mindie.control import ControlPlane
from autotune.engines.mindie.options import ConfigMode, Logs
from autotune.events import Warned
from autotune.model.change import FileChanged, ProcessStarted
from autotune.model.service import BlockSource
from autotune.model.settings import Settings
from autotune.process.environment import without_proxies
from autotune.process.identity import Identity, alive, read_stat
from autotune.process.ports import choose_free

WANTED = Settings(max_batch_size=300, max_prefill_batch_size=150, support_select_batch=True)


def get(url: str) -> dict:
    with ControlPlane() as control:
        return json.loads(control.get(url).body)


def test_the_install_is_described_without_touching_it(bench):
    before = bench.facts()
    description = bench.engine().describe()
    assert description.kind == "mindie"
    assert description.version == "3.0"
    assert description.incumbent.max_batch_size == 200
    assert description.incumbent.max_prefill_batch_size == 50
    assert description.block_size == 128
    assert description.max_link_num == 1000
    assert description.bounds_high == 819200
    assert description.emulated
    assert description.time_scale == 40.0
    assert description.config_path == str(bench.config)
    assert bench.facts() == before
    assert not bench.work_dir.exists()


def test_the_preview_shows_only_the_named_values(bench):
    diff = bench.engine().preview(WANTED)
    added = sorted(line[1:].strip() for line in diff.splitlines() if line.startswith("+ "))
    assert added == ['"maxBatchSize" : 300,', '"maxPrefillBatchSize" : 150,', '"supportSelectBatch" : true,']
    assert not bench.work_dir.exists()


@pytest.mark.parametrize(
    "mode",
    [
        ConfigMode.IN_PLACE,
        pytest.param(ConfigMode.PRIVATE, marks=pytest.mark.slow),
        pytest.param(ConfigMode.AUTO, marks=pytest.mark.slow),
    ],
)
def test_what_was_written_is_served_and_all_is_put_back(bench, mode):
    before = bench.facts()
    with bench.engine(config_mode=mode).launch(WANTED) as service:
        info = get(f"{service.endpoint.management_url}/info")
        assert info["max_concurrent_requests"] == 300
        extensions = get(f"{service.endpoint.url}/v2")["extensions"]
        assert extensions["max_prefill_batch_size"] == 150
        assert service.endpoint.model_name == "llama3-8b"
        service.check()
    assert bench.facts() == before
    assert bench.events == []


def test_in_place_the_journal_knows_the_file_and_the_process_before_they_change(bench):
    with bench.engine().launch(WANTED) as service:
        file, process = bench.journal.recorded
        assert isinstance(file, FileChanged)
        assert isinstance(process, ProcessStarted)
        assert bench.journal.open == [file, process]
        assert (file.mode, file.uid) == (0o640, os.geteuid())
        assert process.pid == service.pid
        assert alive(Identity(pid=process.pid, create_time=process.create_time))
    assert bench.journal.open == []


def test_a_private_launch_leaves_the_services_own_file_and_ports_alone(bench):
    before, written = bench.facts(), bench.config.stat().st_mtime_ns
    own_port = json.loads(bench.config.read_text())["ServerConfig"]["port"]
    with bench.engine(config_mode=ConfigMode.PRIVATE).launch(WANTED) as service:
        assert not service.endpoint.url.endswith(f":{own_port}")
        assert service.endpoint.url.startswith("http://127.0.0.1:")
        assert [type(change) for change in bench.journal.recorded] == [ProcessStarted]
        assert (bench.facts(), bench.config.stat().st_mtime_ns) == (before, written)
    assert not (bench.work_dir / "config.json").exists()


def test_the_daemon_leads_a_group_but_no_session_and_sees_no_proxy(bench):
    with bench.engine().launch(WANTED) as service:
        stat = read_stat(service.pid)
        assert stat.group == service.pid
        assert stat.session == os.getsid(0)
        environ = Path(f"/proc/{service.pid}/environ").read_bytes()
        names = {entry.partition(b"=")[0] for entry in environ.split(b"\0")}
        assert b"http_proxy" not in names
        assert without_proxies(bench.environment).keys() <= {name.decode() for name in names}


def test_a_session_leader_could_not_start_it(bench):
    """The daemon calls setpgrp() and exits with 255 when that fails, as it does for a session leader."""
    daemon = subprocess.run(
        [str(bench.install / "bin" / "mindieservice_daemon")],
        env=bench.environment,
        start_new_session=True,
        capture_output=True,
        timeout=20,
        check=False,
    )
    assert daemon.returncode == 255


def test_blocks_come_from_the_status_where_the_version_tells_them(bench):
    with bench.engine().launch(WANTED) as service:
        assert service.blocks.source is BlockSource.STATUS
        assert 2100 <= service.blocks.count <= 2176


@pytest.mark.slow
def test_counters_tell_what_runs_and_how_many_blocks_are_free(bench):
    with bench.engine(monitoring=True).launch(WANTED) as service:
        counters = service.counters()
        assert counters.running == 0
        assert counters.waiting == 0
        assert counters.preemptions == 0
        assert counters.total_blocks == service.blocks.count


@pytest.mark.slow
def test_without_monitoring_preemptions_are_unknown_and_not_zero(bench):
    with bench.engine(monitoring=False).launch(WANTED) as service:
        assert service.counters().preemptions is None


@pytest.mark.slow
def test_several_launches_in_place_follow_each_other_without_waiting_for_ports(bench):
    before, engine, began = bench.facts(), bench.engine(), time.monotonic()
    for batch in (200, 250):
        with engine.launch(Settings(max_batch_size=batch, max_prefill_batch_size=batch // 2)) as service:
            assert get(f"{service.endpoint.management_url}/info")["max_concurrent_requests"] == batch
        assert bench.facts() == before
    assert time.monotonic() - began < 30  # TIME_WAIT alone would take 60 s
    assert sorted(path.name for path in bench.work_dir.glob("launch-*")) == ["launch-001", "launch-002"]


@pytest.mark.slow
def test_the_incumbent_in_place_is_started_without_a_write(bench):
    written = bench.config.stat().st_mtime_ns
    engine = bench.engine()
    with engine.launch(engine.describe().incumbent):
        assert bench.config.stat().st_mtime_ns == written
        assert [type(change) for change in bench.journal.recorded] == [ProcessStarted]


@pytest.mark.slow
def test_a_probing_start_shows_the_block_lines_that_productions_level_hides(bench):
    with bench.engine(logs=Logs.PROBING).launch(WANTED):
        output = (bench.work_dir / "launch-001" / "output.log").read_text()
    assert "k_caches[0].shape" in output
    with bench.engine().launch(WANTED):
        pass
    assert "k_caches" not in (bench.work_dir / "launch-002" / "output.log").read_text()


@pytest.mark.slow
def test_a_version_that_only_logs_its_blocks_is_probed_once_and_measured_at_productions_level(make_bench):
    bench = make_bench(version="1.0.0")
    engine = bench.engine(config_mode=ConfigMode.PRIVATE, probing=True)
    for _ in range(2):
        with engine.launch(WANTED) as service:
            assert service.blocks.source is BlockSource.LOG
    outputs = [path.read_text() for path in sorted(bench.work_dir.glob("launch-*/output.log"))]
    assert ["k_caches[0].shape" in output for output in outputs] == [True, False, False]
    assert ["at INFO" in event.message for event in bench.events] == [True]


@pytest.mark.slow
def test_links_that_are_raised_are_raised_for_the_incumbent_too_and_put_back(bench):
    before = bench.facts()
    engine = bench.engine(max_link_num=1200)
    assert engine.describe().max_link_num == 1200
    with engine.launch(engine.describe().incumbent):
        assert json.loads(bench.config.read_text())["ServerConfig"]["maxLinkNum"] == 1200
    assert bench.facts() == before


@pytest.mark.slow
def test_only_the_named_cpus_are_used(bench):
    one = min(os.sched_getaffinity(0))
    with bench.engine(cpus=frozenset({one})).launch(WANTED) as service:
        assert os.sched_getaffinity(service.pid) == {one}


def test_a_private_port_that_somebody_takes_meanwhile_costs_a_start_and_no_launch(bench, monkeypatch):
    """A daemon looks at its ports only when it has loaded its model, so that nobody waits for them before."""
    others = choose_free(3)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        chosen = [(taken.getsockname()[1], *choose_free(2)), others]
        monkeypatch.setattr(trial, "choose_free", lambda _: chosen.pop(0))
        monkeypatch.setattr(launching, "wait_until_free", lambda *_, **__: 0.0)
        engine = bench.engine(config_mode=ConfigMode.PRIVATE)
        with engine.launch(engine.describe().incumbent) as service:
            assert service.endpoint.url == f"http://127.0.0.1:{others[0]}"
    (warning,) = (event for event in bench.events if isinstance(event, Warned))
    assert warning.message.startswith("a free port that was chosen for the trial is taken; started again")
