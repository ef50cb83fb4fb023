"""What cannot be used is one clear error with the place and the next step; nothing is changed."""

import re
import socket

import pytest

from autotune.cli.main import run

pytestmark = pytest.mark.slow


@pytest.fixture
def refused(capsys):
    """The words of a refusal, from the command in this process: it ends before anything is started."""

    def tune(job, *options: str, code: int) -> str:
        before = job.fingerprint() if job.config.exists() else None
        ended_with = run(["tune", str(job.profile), "--yes", *options])
        told = capsys.readouterr().err
        assert ended_with == code, told
        assert any(word in told for word in ("next:", "line", "did you mean"))
        if before is not None:
            job.nothing_left(before)
        return told

    return tune


def test_every_fault_of_a_profile_is_told_at_once_with_its_line(make_job, refused):
    job = make_job()
    job.profile.write_text("name: x\nengine: {kind: mindie, hoem: /opt}\nserach: {step: 0}\n")
    text = refused(job, code=2)
    assert "line 2" in text
    assert "did you mean home" in text
    assert "line 3" in text


def test_a_missing_install_is_named(make_job, refused):
    job = make_job()
    text = refused(job, "--set", "engine.home=/no/such/install", code=1)
    assert "/no/such/install" in text


def test_a_config_that_others_may_read_is_refused_with_the_chmod(make_job, refused):
    job = make_job()
    job.config.chmod(0o644)
    assert f"chmod 640 {job.config}" in refused(job, code=1)


def test_a_config_with_a_comment_is_refused_with_line_and_column(make_job, refused):
    job = make_job()
    job.config.write_text(job.config.read_text().replace("{", "{ // note", 1))
    assert re.search(r"line 1\D+column 3", refused(job, code=1))


def test_a_port_in_use_is_refused_and_its_owner_named(make_job, refused):
    job = make_job()
    port = int(re.search(r'"port" : (\d+)', job.config.read_text()).group(1))
    with socket.create_server(("127.0.0.1", port)):
        assert str(port) in refused(job, code=1)


def test_an_unknown_data_set_is_wrong_usage_with_what_there_is(make_job, refused):
    job = make_job()
    text = refused(job, "--set", "workload.dataset.type=gsm9k", code=2)
    assert "gsm8k" in text


def test_a_data_set_that_is_not_there_is_named(make_job, refused):
    job = make_job()
    text = refused(job, "--set", 'workload.dataset={"type": "gsm8k", "path": "/no/GSM8K"}', code=2)
    assert "/no/GSM8K" in text


def test_a_daemon_that_never_starts_ends_with_no_measurement_and_everything_back(make_job):
    from autotune.emulator.faults import Faults

    job = make_job(faults=Faults(start_failure="model"))
    before = job.fingerprint()
    done = job.tune("--max-launches", "2")
    assert done.returncode == 5, done.stderr
    job.nothing_left(before)


def test_nobody_to_ask_is_wrong_usage(make_job):
    job = make_job()
    before = job.fingerprint()
    done = job.run("tune", str(job.profile))
    assert done.returncode == 2
    assert "--yes" in done.stderr
    job.nothing_left(before)


def test_plan_touches_nothing(make_job):
    job = make_job()
    before = job.fingerprint()
    done = job.run("tune", str(job.profile), "--plan")
    assert done.returncode == 0
    assert "launches" in done.stderr
    job.nothing_left(before)
    assert not job.reports.exists()
    assert list((job.state / "runs").iterdir()) == []
