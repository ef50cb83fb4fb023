"""What the doctor concludes from facts, each with the command that mends it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from autotune.campaign.doctor.check import Level, fine, worst
from autotune.campaign.doctor.client_checks import ClientFacts, client_checks
from autotune.campaign.doctor.host_checks import host_check
from autotune.campaign.doctor.input_checks import gather_model, model_check
from autotune.campaign.doctor.link_checks import link_check
from autotune.campaign.doctor.npu_checks import NpuNeed, npu_checks, visible_devices
from autotune.campaign.doctor.port_checks import PortFacts, port_check, service_check
from autotune.campaign.doctor.space_checks import Disk, SpaceFacts, gather_space, space_checks
from autotune.host.npu_chip import NpuChip, NpuProcess
from autotune.host.npu_facts import NpuFacts
from autotune.host.setting import SettingOutcome, SettingResult
from autotune.host.short_command import Answer, NoAnswer
from autotune.load.client.capacity import Ports
from autotune.profile.schema import ServiceSection, WorkloadSection
from autotune.units import GiB, MiB

LLAMA = Path(__file__).parents[2] / "golden" / "models" / "m01_llama3_8b_gqa.json"
CHIPS = tuple(
    NpuChip(npu_id=number, chip_id=0, name="910B4", health="OK", memory_used=3000, memory_total=32768)
    for number in range(4)
)
NEED = NpuNeed(devices=(0, 1), visible=None, needed=True, live=False)


def levels(checks) -> dict[str, Level]:
    return {check.name: check.level for check in checks}


def the(checks, name):
    return next(check for check in checks if check.name == name)


def test_the_worst_level_counts():
    assert worst([]) is Level.OK
    assert worst([fine("a", "b"), replace(fine("a", "b"), level=Level.ADVICE)]) is Level.ADVICE


def test_free_and_healthy_cards_are_fine():
    assert set(levels(npu_checks(NpuFacts(chips=CHIPS), NEED)).values()) == {Level.OK}


def test_a_process_on_a_card_of_the_service_is_an_error_with_its_pid():
    """Public report: a second service on the same card fails, or gets fewer blocks without a word."""
    facts = NpuFacts(chips=CHIPS, processes=(NpuProcess(npu_id=1, chip_id=0, pid=4711, name="python"),))
    check = the(npu_checks(facts, NEED), "NPU processes")
    assert check.level is Level.ERROR
    assert "4711" in check.fact
    assert check.mend.startswith("ps -fp 4711")
    assert the(npu_checks(facts, replace(NEED, live=True)), "NPU processes").level is Level.OK
    assert the(npu_checks(facts, replace(NEED, devices=(2, 3))), "NPU processes").level is Level.OK


def test_memory_that_nobody_is_named_for_is_advice():
    chips = (replace(CHIPS[0], memory_used=20000), *CHIPS[1:])
    assert the(npu_checks(NpuFacts(chips=chips), NEED), "NPU processes").level is Level.ADVICE


def test_an_unwell_card_is_an_error():
    chips = (replace(CHIPS[0], health="Alarm"), *CHIPS[1:])
    assert the(npu_checks(NpuFacts(chips=chips), NEED), "NPU health").level is Level.ERROR


def test_device_numbers_are_held_against_what_the_service_sees():
    """Public report gpustack 3225: `Set visible device failed, invalid device=6, input visible devices:6`."""
    facts = NpuFacts(chips=CHIPS)
    assert levels(npu_checks(facts, replace(NEED, devices=(6,), visible=(3,)))) == {
        "NPU processes": Level.ERROR
    }
    assert Level.ERROR not in levels(npu_checks(facts, replace(NEED, devices=(0,), visible=(3,)))).values()
    assert the(npu_checks(facts, replace(NEED, devices=(4,))), "NPU processes").level is Level.ERROR


@pytest.mark.parametrize(
    ("text", "devices"), [("4,5", (4, 5)), (" 4 , 5 ", (4, 5)), (None, None), ("", None), ("a", None)]
)
def test_visible_devices_are_read(text, devices):
    assert visible_devices(text) == devices


def test_a_host_without_npu_smi_is_advice_unless_no_npu_is_needed():
    facts = NpuFacts(problem="npu-smi is not installed")
    assert levels(npu_checks(facts, NEED)) == {"NPU processes": Level.ADVICE}
    assert levels(npu_checks(facts, replace(NEED, needed=False))) == {"NPU processes": Level.OK}


CLIENT = ClientFacts(
    concurrency=1000,
    soft_files=1024,
    hard_files=4096,
    ports=Ports(count=28232, resting=0),
    proxies=(),
    source="own",
)


def test_limits_of_the_client_are_held_against_its_connections():
    assert set(levels(client_checks(CLIENT)).values()) == {Level.OK}
    files = the(client_checks(replace(CLIENT, hard_files=1024)), "ulimits")
    assert (files.level, files.mend.split("   ")[0]) == (Level.ERROR, "ulimit -n 1064")
    assert the(client_checks(replace(CLIENT, hard_files=None)), "ulimits").level is Level.OK
    ports = the(client_checks(replace(CLIENT, ports=Ports(count=500, resting=0))), "port range")
    assert (ports.level, ports.mend) == (Level.ERROR, 'sysctl -w net.ipv4.ip_local_port_range="1024 65535"')
    resting = replace(CLIENT, ports=Ports(count=28232, resting=27900))
    assert the(client_checks(resting), "port range").level is Level.ADVICE
    assert the(client_checks(replace(CLIENT, ports=None)), "port range").level is Level.ADVICE


DISK = Disk(
    purpose="reports",
    path=Path("/data"),
    free_bytes=50 * GiB,
    free_files=10_000,
    read_only=False,
    writable=True,
)
SPACE = SpaceFacts(disks=(DISK,), available_bytes=64 * GiB, segments=())


@pytest.mark.parametrize(
    ("change", "level", "words"),
    [
        ({}, Level.OK, "50.0 GiB free"),
        ({"free_bytes": GiB}, Level.ADVICE, "only 1.0 GiB"),
        ({"free_bytes": 10 * MiB}, Level.ERROR, "has 10 MiB"),
        ({"free_files": 3}, Level.ERROR, "3 files free"),
        ({"free_files": None}, Level.OK, ""),
        ({"read_only": True}, Level.ERROR, "read-only"),
        ({"writable": False}, Level.ERROR, "cannot be written by you"),
    ],
)
def test_a_disk_must_have_room_and_let_us_write(change, level, words):
    check = the(space_checks(replace(SPACE, disks=(replace(DISK, **change),))), "disk")
    assert check.level is level
    assert words in check.fact
    assert bool(check.mend) == (level is not Level.OK)


@pytest.mark.parametrize(
    ("available", "weights", "level"),
    [
        (64 * GiB, 15 * GiB, Level.OK),
        (8 * GiB, 15 * GiB, Level.ADVICE),
        (GiB, 0, Level.ERROR),
        (None, 0, Level.ADVICE),
    ],
)
def test_memory_is_held_against_the_weights(available, weights, level):
    facts = replace(SPACE, available_bytes=available, weights_bytes=weights)
    assert the(space_checks(facts), "memory").level is level


def test_segments_that_nobody_uses_are_named_with_the_command_that_removes_them(tmp_path):
    (tmp_path / "llm_backend_7").touch()
    (tmp_path / "something_else").touch()
    facts = gather_space((("reports", tmp_path / "not" / "yet"),), shared_memory=tmp_path)
    check = the(space_checks(facts), "shared memory")
    assert check.level is Level.ADVICE
    assert "llm_backend_7" in check.fact
    assert f"for f in {tmp_path}/*llm_backend_*" in check.mend
    assert len(check.mend) < 300
    assert facts.disks[0].free_bytes > 0


def make_model(directory: Path, *, mode: int = 0o750) -> Path:
    model = directory / "model"
    model.mkdir()
    (model / "config.json").write_bytes(LLAMA.read_bytes())
    (model / "model-1.safetensors").write_bytes(b"\0" * 4096)
    model.chmod(mode)
    return model


def model_level(path: Path | None, **options) -> tuple[Level, str]:
    check = model_check(gather_model(path), mindie=True, emulated=False, **options)
    return check.level, check.fact


def test_a_whole_model_is_fine(tmp_path):
    level, fact = model_level(make_model(tmp_path))
    assert level is Level.OK
    assert "32 layers" in fact


def test_what_would_keep_a_model_from_loading_is_told(tmp_path):
    model = make_model(tmp_path)
    assert model_level(None)[0] is Level.ADVICE
    assert model_level(tmp_path / "none")[0] is Level.ERROR
    model.chmod(0o755)
    assert "750 at most" in model_level(model)[1]
    model.chmod(0o750)
    (model / "model.safetensors.index.json").write_text(
        json.dumps({"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}})
    )
    assert "model-2.safetensors is missing" in model_level(model)[1]
    (model / "model-2.safetensors").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:1\n")
    assert "is a pointer" in model_level(model)[1]
    for file in model.glob("*.safetensors*"):
        file.unlink()
    assert "holds no weights" in model_level(model)[1]
    (model / "config.json").write_text("{")
    (model / "w.bin").write_bytes(b"\0" * 4096)
    assert "is not JSON" in model_level(model)[1]
    (model / "config.json").write_text('{"model_type": "unheard-of"}')
    assert model_level(model)[0] is Level.ADVICE
    (model / "config.json").unlink()
    assert "no readable config.json" in model_level(model)[1]


PORTS = PortFacts(ports=(1025, 1026), busy=(), owners=(), loopback=True)


def test_ports_that_rest_are_waited_for_and_a_host_without_free_ones_is_an_error():
    assert port_check(PORTS, service=None, private=True).level is Level.OK
    resting = replace(PORTS, busy=(1025,))
    assert port_check(resting, service=None, private=True).level is Level.ADVICE
    crowded = replace(PORTS, loopback=False)
    assert port_check(crowded, service=None, private=True).level is Level.ERROR
    assert port_check(crowded, service=None, private=False).level is Level.OK


@pytest.mark.parametrize(
    ("answer", "level"),
    [
        (Answer(output="LoadState=loaded\nActiveState=active\n", code=0), Level.OK),
        (Answer(output="LoadState=not-found\nActiveState=inactive\n", code=0), Level.ERROR),
        (Answer(no_answer=NoAnswer.MISSING), Level.ERROR),
    ],
)
def test_a_unit_must_be_known_to_systemd(answer, level):
    section = ServiceSection(unit="mindie.service")
    (check,) = service_check(section, {}, run=lambda _argv, _seconds: answer)
    assert check.level is level
    assert "mindie.service" in check.fact


def links(clients, **values):
    return link_check(WorkloadSection(concurrency=clients), **values)


def test_links_are_held_against_clients_limit_and_version():
    """MindIE 1.0.RC1 takes 300 links at most; beyond three times maxLinkNum connections are dropped."""
    assert links(1000, max_link_num=1000, max_batch_size=200).level is Level.OK
    assert "lets the rest wait" in links(600, max_link_num=300, max_batch_size=200).fact
    assert "closes the rest unanswered" in links(1000, max_link_num=300, max_batch_size=200).fact
    old = links(300, max_link_num=1000, max_batch_size=200, version="1.0.RC1")
    assert (old.level, old.mend) == (Level.ERROR, "set maxLinkNum to 300")
    assert links(200, max_link_num=1000, max_batch_size=200).level is Level.ADVICE
    assert links(64, max_link_num=None, max_batch_size=None).level is Level.OK


def test_host_settings_that_cannot_be_had_are_advice_with_their_command():
    denied = SettingResult(
        name="governor", wanted="performance", outcome=SettingOutcome.DENIED, advice="sudo cpupower"
    )
    assert (host_check((denied,)).level, host_check((denied,)).mend) == (Level.ADVICE, "sudo cpupower")
    wished = replace(denied, outcome=SettingOutcome.APPLIED, before="powersave")
    assert host_check((wished,)).fact == "governor: powersave, performance for the time of the trials"
    assert host_check(()).level is Level.OK
