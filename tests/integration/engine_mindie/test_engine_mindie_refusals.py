"""An install that cannot be used is refused with the command that mends it, and nothing is touched."""

import os
import socket

import pytest

from autotune.engines.tls import Tls
from autotune.errors import Refused


def refusal(engine) -> Refused:
    with pytest.raises(Refused) as refused:
        engine.describe()
    return refused.value


def test_a_missing_install(bench, tmp_path):
    error = refusal(bench.engine(home=tmp_path / "none"))
    assert str(tmp_path / "none") in error.message
    assert "autotune emulate" in error.hint


def test_a_directory_without_a_daemon(bench):
    (bench.install / "bin" / "mindieservice_daemon").unlink()
    assert "holds no daemon" in refusal(bench.engine()).message


def test_a_daemon_that_may_not_be_executed(bench):
    daemon = bench.install / "bin" / "mindieservice_daemon"
    daemon.chmod(0o440)
    assert refusal(bench.engine()).hint == f"chmod u+x {daemon}"


def test_a_configuration_that_others_may_read(bench):
    bench.config.chmod(0o644)
    error = refusal(bench.engine())
    assert "Required permisssion is 640" in error.message  # the daemon's own spelling
    assert error.hint == f"chmod 640 {bench.config}"
    assert bench.config.stat().st_mode & 0o777 == 0o644


def test_a_configuration_that_is_no_json_names_line_and_column(bench):
    lines = bench.config.read_text().splitlines(keepends=True)
    lines[2] = lines[2].rstrip("\n") + "  // comment\n"
    bench.config.write_text("".join(lines))
    assert "line 3, column" in refusal(bench.engine()).message


def test_a_link(bench, tmp_path):
    target = tmp_path / "elsewhere.json"
    bench.config.rename(target)
    bench.config.symlink_to(target)
    assert "is a link" in refusal(bench.engine()).message


def test_a_port_that_somebody_listens_on_is_refused_with_the_pid(bench):
    port = bench.engine().describe().facts
    address = next(fact.value for fact in port if fact.name == "addresses").split()[0]
    with socket.create_server(("127.0.0.1", int(address.rpartition(":")[2]))):
        error = refusal(bench.engine())
        assert f"pid {os.getpid()}" in error.message
        assert "engine: {service:" in error.hint
        bench.engine(live_service=True).describe()


def test_a_service_that_changes_its_batch_size_by_itself(bench):
    text = bench.config.read_text()
    bench.config.write_text(
        text.replace(
            '"supportSelectBatch"', '"dynamicBatchSizeEnable" : true,\n            "supportSelectBatch"'
        )
    )
    error = refusal(bench.engine())
    assert "BackendConfig.ScheduleConfig.dynamicBatchSizeEnable is true" in error.message


def test_a_service_over_several_hosts(bench):
    text = bench.config.read_text()
    bench.config.write_text(
        text.replace('"multiNodesInferEnabled" : false', '"multiNodesInferEnabled" : true')
    )
    assert "several hosts" in refusal(bench.engine()).message


def test_https_without_certificates(make_bench, tmp_path):
    bench = make_bench(https=True)
    assert "tls:" in refusal(bench.engine()).hint
    missing = Tls(ca=tmp_path / "none.pem", cert=tmp_path / "none.pem")
    assert "cannot be used" in refusal(bench.engine(tls=missing)).message


def test_the_environment_of_another_install(bench):
    bench.environment["MIES_INSTALL_PATH"] = "/opt/other"
    assert "another install" in refusal(bench.engine()).message


def test_the_marker_of_an_emulated_install_that_cannot_be_read(bench):
    (bench.install / "EMULATED").write_text("{")
    assert "marker" in refusal(bench.engine()).message


def test_the_environments_own_configuration_is_the_one_described(bench, tmp_path):
    other = tmp_path / "other.json"
    other.write_text(bench.config.read_text().replace('"maxBatchSize" : 200', '"maxBatchSize" : 111'))
    other.chmod(0o640)
    bench.environment["MIES_CONFIG_JSON_PATH"] = str(other)
    description = bench.engine().describe()
    assert description.config_path == str(other)
    assert description.incumbent.max_batch_size == 111
