"""What an emulated install is made of, and what its marker says."""

import json
import os
import stat
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import pytest

from autotune.emulator.default_config import known_version, newest_config, template_name
from autotune.emulator.faults import Faults, read_faults
from autotune.emulator.install import InstallOptions, make_install
from autotune.emulator.loading import kv_blocks
from autotune.emulator.marker import Emulation, FaultWatch, count_launch, read_marker, write_marker
from autotune.emulator.served import read_served
from autotune.errors import UsageError
from autotune.mindie_rules.json_text import parse


@pytest.fixture
def install(tmp_path):
    return make_install(tmp_path / "mindie-service", InstallOptions(time_scale=20.0, blocks=544))


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_folder_has_the_places_and_modes_of_the_real_one(install):
    assert mode(install / "conf" / "config.json") == 0o640
    assert mode(install / "bin" / "mindieservice_daemon") == 0o550
    assert mode(install / "model") == 0o750
    assert mode(install / "model" / "config.json") == 0o640
    assert (install / "set_env.sh").is_file()


def test_the_programs_begin_with_this_interpreter(install):
    for name in ("mindieservice_daemon", "benchmark"):
        first = (install / "bin" / name).read_text(encoding="utf-8").splitlines()[0]
        assert first == f"#!{sys.executable}"


@pytest.mark.parametrize("folder", ["my environment", "e" * 130])
def test_the_programs_start_where_the_path_of_the_interpreter_has_blanks_or_is_long(
    tmp_path, monkeypatch, folder
):
    (tmp_path / folder).symlink_to(sys.prefix)
    monkeypatch.setattr(sys, "executable", str(tmp_path / folder / "bin" / Path(sys.executable).name))
    place = make_install(tmp_path / "install", InstallOptions())
    done = subprocess.run([place / "bin" / "benchmark"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "--ModelName" in done.stderr + done.stdout


def test_the_environment_file_empties_no_shared_memory_and_hides_the_log_as_shipped(install):
    text = (install / "set_env.sh").read_text(encoding="utf-8")
    assert "rm " not in text
    assert "MINDIE_LOG_LEVEL=ERROR" in text
    assert "MINDIE_LOG_TO_STDOUT=0" in text
    assert f'MIES_INSTALL_PATH="{install}"' in text


def test_the_marker_tells_the_time_scale(install):
    assert json.loads((install / "EMULATED").read_text(encoding="utf-8"))["time_scale"] == 20.0
    assert read_marker(install).blocks == 544


def test_the_shipped_values_are_in_the_file(install):
    served = read_served(
        parse((install / "conf" / "config.json").read_text(encoding="utf-8")).value, version="3.0", blocks=543
    )
    assert (served.business.host, served.management.host) == ("127.0.0.1", "127.0.0.2")
    assert served.rules.max_batch_size == 200
    assert served.rules.max_prefill_batch_size == 50
    assert not served.https
    assert served.model_path == str(install / "model")


def test_an_install_can_be_made_again_in_its_own_place(install):
    again = make_install(install, InstallOptions(max_batch_size=435, max_prefill_batch_size=217))
    assert '"maxBatchSize" : 435' in (again / "conf" / "config.json").read_text(encoding="utf-8")


def test_a_small_batch_takes_the_prefill_batch_down_with_it(tmp_path):
    made = make_install(tmp_path / "small", InstallOptions(max_batch_size=20))
    assert '"maxPrefillBatchSize" : 20' in (made / "conf" / "config.json").read_text(encoding="utf-8")


def test_a_model_without_a_preset_is_refused_before_anything_is_made(tmp_path):
    with pytest.raises(UsageError):
        make_install(tmp_path / "other", InstallOptions(model="qwen"))
    assert not (tmp_path / "other").exists()


def test_a_folder_of_somebody_else_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("x", encoding="utf-8")
    with pytest.raises(UsageError):
        make_install(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize(
    ("version", "name"),
    [
        ("1.0.RC1", "config_rc2.json"),
        ("1.0.RC2", "config_rc2.json"),
        ("1.0.RC3", "config_1.json"),
        ("2.0.T3", "config_1.json"),
        ("2.2.RC1", "config_1.json"),
        ("2.3.0", "config_3.json"),
        ("3.0", "config_3.json"),
    ],
)
def test_each_generation_ships_its_own_file(version, name):
    assert template_name(known_version(version)) == name


def test_no_placeholder_is_left_in_any_file(tmp_path):
    for version in ("1.0.RC2", "2.0", "3.0"):
        made = make_install(tmp_path / version, InstallOptions(version=version))
        assert "@" not in (made / "conf" / "config.json").read_text(encoding="utf-8")
    assert "@" not in newest_config()


@pytest.mark.parametrize("text", ["", "newest", "three"])
def test_a_word_is_no_version(text):
    with pytest.raises(UsageError):
        known_version(text)


def test_a_marker_comes_back_as_it_was_written(tmp_path):
    emulation = Emulation(time_scale=3.5, seed=9, faults=Faults(error_rate=0.05, stall_seconds=None))
    write_marker(tmp_path, emulation)
    assert read_marker(tmp_path) == emulation


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"time_scale": 0}',
        '{"time_scal": 1}',
        '{"faults": {"error": 1}}',
        '{"faults": {"deaf": 1}}',
    ],
)
def test_a_wrong_marker_is_refused(tmp_path, text):
    (tmp_path / "EMULATED").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError):
        read_marker(tmp_path)


def test_every_fault_can_be_written_and_read():
    assert read_faults(Faults().as_dict()) == Faults()
    assert {field.name for field in fields(Faults)} == set(Faults().as_dict())
    with pytest.raises(UsageError):
        read_faults({"start_failure": "fire"})


def test_the_watch_sees_a_changed_marker_and_keeps_the_last_good_one(tmp_path):
    write_marker(tmp_path, Emulation())
    watch = FaultWatch(tmp_path, Faults())
    assert not watch.refresh()
    write_marker(tmp_path, Emulation(faults=Faults(error_rate=0.5)))
    assert watch.refresh()
    assert watch.now.error_rate == 0.5
    (tmp_path / "EMULATED").write_text("{", encoding="utf-8")
    assert not watch.refresh()
    assert watch.now.error_rate == 0.5
    (tmp_path / "EMULATED").unlink()
    assert not watch.refresh()


def test_launches_are_counted_from_one(tmp_path):
    assert [count_launch(tmp_path) for _ in range(3)] == [1, 2, 3]


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_an_install_that_cannot_be_written_counts_each_launch_as_its_second(tmp_path):
    tmp_path.chmod(0o550)
    assert count_launch(tmp_path) == 2


@pytest.mark.parametrize(("version", "reserved"), [("1.0.0", 0), ("2.2.RC1", 0), ("2.3.0", 1), ("3.0", 1)])
def test_from_2_3_on_a_block_is_kept_back(version, reserved):
    blocks = kv_blocks(Emulation(version=version), 8192, 1)
    assert (blocks.allocated, blocks.scheduled) == (2176, 2176 - reserved)


def test_blocks_fall_with_the_warm_up_and_vary_by_launch_only_with_a_spread():
    assert kv_blocks(Emulation(), 8192, 1) == kv_blocks(Emulation(), 8192, 2)
    assert kv_blocks(Emulation(), 16384, 1).allocated < 2176
    spread = Emulation(faults=Faults(blocks_spread=0.1))
    found = [kv_blocks(spread, 8192, launch).allocated for launch in range(1, 30)]
    assert len(set(found)) > 10
    assert all(2176 * 0.9 - 1 <= blocks <= 2176 for blocks in found)
    assert found == [kv_blocks(spread, 8192, launch).allocated for launch in range(1, 30)]


def test_an_emulation_needs_blocks_and_a_scale():
    for wrong in ({"blocks": 1}, {"time_scale": -1.0}, {"time_scale": 1e6}):
        with pytest.raises(UsageError):
            replace(Emulation(), **wrong)


def test_every_shipped_file_is_json(tmp_path):
    for version in ("1.0.RC2", "2.0", "3.0"):
        made = make_install(tmp_path / version, InstallOptions(version=version))
        assert json.loads((made / "conf" / "config.json").read_text(encoding="utf-8"))
