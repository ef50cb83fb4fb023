"""The doctor on an emulated install: every fault of a host is told with the command that mends it."""

import json
import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import pytest

from autotune.campaign.doctor import examination
from autotune.campaign.doctor.check import Level
from autotune.campaign.doctor.examination import examine
from autotune.cli.main import run
from autotune.emulator.install import InstallOptions, make_install
from autotune.process.ports import choose_free
from autotune.store.lock import hold, this_process

SCHEMA = json.loads((Path(examination.__file__).parent / "doctor.schema.json").read_text(encoding="utf-8"))
PROFILE = """\
name: checked
engine: {{home: {install}, config_mode: in-place{engine}}}
workload:
  dataset: {{type: synthetic, input_tokens: 64, output_tokens: {{mean: 48, max: 96}}}}
  concurrency: {concurrency}
host: {{governor: null, transparent_hugepages: null, cpus: null}}
store: {{state: {state}}}
report: {{directory: {state}/reports}}
"""


class Case:
    """An install and a profile for it."""

    def __init__(self, directory: Path, **options):
        business, management, metrics = choose_free(3)
        ports = {"port": business, "management_port": management, "metrics_port": metrics}
        self.install = make_install(directory / "install", InstallOptions(**ports, **options))
        self.port = business
        self.state = directory / "state"
        self.profile = directory / "profile.yaml"
        self.write()

    @property
    def config(self) -> Path:
        return self.install / "conf" / "config.json"

    def write(self, *, engine: str = "", concurrency: int = 250, text: str = PROFILE) -> None:
        filled = text.format(install=self.install, engine=engine, state=self.state, concurrency=concurrency)
        self.profile.write_text(filled)
        self.profile.chmod(0o600)

    def edit(self, pattern: str, replacement: str) -> None:
        text, count = re.subn(pattern, replacement, self.config.read_text(), count=1)
        assert count == 1
        self.config.write_text(text)

    def check(self, name: str):
        found = [check for check in examine(self.profile).checks if check.name == name]
        assert found, name
        return max(found, key=lambda check: list(Level).index(check.level))

    def error(self, name: str) -> tuple[str, str]:
        check = self.check(name)
        assert check.level is Level.ERROR, check
        assert check.mend
        return check.fact, check.mend


@pytest.fixture
def case(tmp_path, monkeypatch) -> Case:
    for name in ("http_proxy", "https_proxy", "MIES_CONFIG_JSON_PATH", "MIES_INSTALL_PATH"):
        monkeypatch.delenv(name, raising=False)
    return Case(tmp_path)


def snapshot(directory: Path) -> dict[str, tuple[int, int]]:
    return {
        str(path): (path.lstat().st_mtime_ns, path.lstat().st_mode) for path in sorted(directory.rglob("*"))
    }


def test_a_good_install_has_no_error_and_nothing_is_touched(case, tmp_path):
    before = snapshot(tmp_path)
    found = examine(case.profile)
    assert [check for check in found.checks if check.level is Level.ERROR] == []
    assert found.emulated
    assert snapshot(tmp_path) == before


def test_everything_that_the_doctor_promises_is_looked_at(case):
    names = {check.name for check in examine(case.profile).checks}
    wanted = [
        "install",
        "config",
        "permissions",
        "ports",
        "links",
        "proxies",
        "memory",
        "disk",
        "ulimits",
        "locks",
        "profile",
    ]
    assert names >= {*wanted, "NPU processes", "data set", "model files", "port range"}


def test_the_document_is_of_its_schema_and_says_what_the_screen_says(case, capsys):
    assert run(["doctor", str(case.profile), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, SCHEMA)
    assert run(["doctor", str(case.profile)]) == 0
    screen = capsys.readouterr().out
    rows = [line.split(maxsplit=2) for line in screen.splitlines() if line.startswith(("✓", "!"))]
    assert [level for _, level, _ in rows] == [check["level"] for check in document["checks"]]
    assert all(row[2].startswith(check["name"]) for row, check in zip(rows, document["checks"], strict=True))
    assert "checked: 0 errors" in screen


def test_an_error_ends_with_1_and_stands_with_its_mend(case, capsys):
    case.config.chmod(0o644)
    assert run(["doctor", str(case.profile)]) == 1
    assert f"mend  chmod 640 {case.config}" in capsys.readouterr().out


@pytest.mark.real_time
def test_it_answers_in_two_seconds(case):
    def once() -> float:
        began = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "autotune", "doctor", str(case.profile)], capture_output=True, check=True
        )
        return time.perf_counter() - began

    assert min(once() for _ in range(3)) < 2.0


def test_a_missing_install(case):
    case.write(text=PROFILE.replace("{install}", "/no/such/mindie"))
    fact, mend = case.error("install")
    assert "/no/such/mindie" in fact
    assert "autotune emulate --install" in mend


def test_a_daemon_that_cannot_be_executed(case):
    (case.install / "bin" / "mindieservice_daemon").chmod(0o440)
    assert case.error("install")[1] == f"chmod u+x {case.install}/bin/mindieservice_daemon"


def test_the_environment_of_another_install(case):
    case.write(engine=", environment: {MIES_INSTALL_PATH: /opt/other}")
    assert "/opt/other" in case.error("install")[0]


def test_an_environment_file_that_is_missing(case):
    case.write(engine=", environment: {file: none.env}")
    assert "env -0" in case.error("environment")[1]


def test_an_environment_file_that_holds_nothing(case):
    (case.profile.parent / "none.env").touch()
    case.write(engine=", environment: {file: none.env}")
    fact, mend = case.error("environment")
    assert "holds no variable" in fact
    assert "env -0" in mend


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_the_home_of_another_user(case, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    os.chown(home, 4711, -1)
    case.write(engine=f", environment: {{HOME: {home}}}")
    told = case.check("permissions")
    assert told.level is Level.ADVICE
    assert "is that of uid 4711" in told.fact
    assert "sudo -u '#4711'" in told.mend


def test_the_directory_of_a_deployer(case):
    case.config.rename(case.install / "user_config.json")
    assert "P/D deployment" in case.error("install")[0]


def test_rights_that_the_service_would_not_take(case):
    case.config.chmod(0o644)
    assert case.error("permissions")[1] == f"chmod 640 {case.config}"


def test_a_configuration_that_is_no_json_has_line_and_column(case):
    case.edit(r'("maxBatchSize" : \d+,)', r"\1 // most")
    fact, mend = case.error("config")
    assert re.search(r"line \d+, column \d+: a comment", fact)
    assert "remove the comment" in mend


@pytest.mark.parametrize(
    ("pattern", "value", "words"),
    [
        (r'"maxBatchSize" : \d+', '"maxBatchSize" : 900000', "is out of bound [819200]"),
        (r'"maxPrefillTokens" : \d+', '"maxPrefillTokens" : 16', "should not be less than maxInputTokenLen"),
        (r'"supportSelectBatch" : \w+', '"supportSelectBatch" : 1', "should be bool"),
        (r'"port" : \d+', '"port" : 80', "serverConfig.port [80] is less than [1024]"),
        (r'"ipAddress" : "[^"]*"', '"ipAddress" : "localhost"', "neither IPv4 nor IPv6"),
        (r'"worldSize" : \d+', '"worldSize" : 3', "does not equal to worldSize"),
    ],
)
def test_values_that_the_service_would_refuse_are_told_in_its_words_with_their_place(
    case, pattern, value, words
):
    case.edit(pattern, value)
    fact, _ = case.error("config")
    assert words in fact
    assert re.search(r"\(line \d+, column \d+\)", fact)


def test_a_service_that_sizes_its_batches_itself(case):
    case.edit('"supportSelectBatch"', '"dynamicBatchSizeEnable" : true, "supportSelectBatch"')
    assert "set BackendConfig.ScheduleConfig.dynamicBatchSizeEnable to false" in case.error("config")[1]


def test_a_port_that_somebody_listens_on_is_named_by_its_pid(case):
    with socket.create_server(("127.0.0.1", case.port)):
        fact, mend = case.error("ports")
        assert f"pid {os.getpid()}" in fact
        assert "engine: {service:" in mend
        case.write(engine=', service: {stop: ["true"], start: ["true"]}')
        assert case.check("ports").level is Level.OK
    assert case.check("service").level is Level.OK


def test_a_stop_command_that_does_not_exist(case):
    case.write(engine=', service: {stop: [no-such-stopper], start: ["true"]}')
    assert "no-such-stopper" in case.error("service")[0]


def test_more_clients_than_the_service_takes(case):
    case.write(concurrency=1200)
    fact, mend = case.error("links")
    assert "maxLinkNum 1000" in fact
    assert mend.startswith("--set workload.concurrency=1000")


def test_clients_that_cannot_fill_the_limit_are_advice(case):
    case.write(concurrency=50)
    check = case.check("links")
    assert check.level is Level.ADVICE
    assert "do not fill maxBatchSize 200" in check.fact


def test_a_model_that_others_may_read(case):
    (case.install / "model").chmod(0o755)
    assert case.error("model files")[1] == f"chmod -R o-rwx,g-w {case.install}/model"


def test_a_data_set_that_is_not_there(case):
    case.write(text=PROFILE.replace("type: synthetic,", "type: gsm8k, path: none.jsonl,"))
    assert "none.jsonl" in case.error("data set")[0]


def test_another_run_that_holds_the_service_is_named(case):
    lock = examination.lock_path_of(str(case.config), examination.StateDirectory(root=case.state))
    lock.parent.mkdir(exist_ok=True)
    with hold(lock, this_process("autotune other-run")):
        fact, _ = case.error("locks")
    assert f"process {os.getpid()} (autotune other-run)" in fact
    assert case.check("locks").level is Level.OK


def test_a_run_that_was_killed_asks_for_recover(case):
    case.state.mkdir(mode=0o700)
    change = {"kind": "ProcessStarted", "pid": 1, "create_time": 1.0, "boot_id": "x", "command": "d"}
    left = {"run": "r", "pid": 1, "boot_id": "x", "started_wall": 0.0, "changes": [change], "format": 1}
    (case.state / "journal.json").write_text(json.dumps(left))
    _, mend = case.error("locks")
    assert mend.startswith(("autotune recover --state", "compare the configuration"))


def test_a_profile_that_others_can_write_is_told_and_the_rest_is_looked_at_all_the_same(case):
    case.profile.chmod(0o666)
    fact, mend = case.error("profile")
    assert "can be written by others" in fact
    assert mend == f"chmod go-w {case.profile}"
    assert case.check("install").level is Level.OK


def test_a_profile_that_cannot_be_read_is_wrong_usage(case, capsys):
    case.write(text="name: x\nengine: {{kind: mindei}}\n")
    assert run(["doctor", str(case.profile)]) == 2
    assert "did you mean mindie?" in capsys.readouterr().err


def test_proxies_are_no_hindrance_to_our_own_client_and_advice_to_others(case, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert case.check("proxies").level is Level.OK
    case.write(text=PROFILE.replace("workload:\n", "workload:\n  source: benchmark\n"))
    check = case.check("proxies")
    assert (check.level, check.mend) == (Level.ADVICE, "unset http_proxy")


def test_a_service_with_tls_needs_a_client_certificate(tmp_path):
    case = Case(tmp_path, https=True)
    assert "workload: {tls:" in case.error("certificates")[1]


def test_a_vllm_profile_is_looked_at_where_the_checks_apply(case):
    text = """\
name: served
engine:
  kind: vllm
  command: [/no/such/bin/vllm, serve, /no/such/model, --max-num-seqs, "64", --port, "{concurrency}"]
workload: {{api: openai}}
store: {{state: {state}}}
"""
    case.write(text=text, concurrency=case.port)
    assert "/no/such/bin/vllm" in case.error("install")[0]
    assert "/no/such/model" in case.error("model files")[0]
    assert "--max-num-seqs 64" in case.check("config").fact


def test_a_rehearsal_needs_no_host(case):
    case.write(text="name: virtual\nengine: {{kind: rehearsal}}\nstore: {{state: {state}}}\n")
    found = examine(case.profile)
    assert {check.level for check in found.checks} == {Level.OK}
    assert "NPU processes" not in {check.name for check in found.checks}
