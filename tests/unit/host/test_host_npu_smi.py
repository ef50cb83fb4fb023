"""npu-smi in the shapes of real hosts: ids, chips, names, health, memory, processes."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.host.npu_map import read_affinity, read_map
from autotune.host.npu_records import read_ids, read_records
from autotune.host.npu_table import read_table

GOLDEN = Path(__file__).parents[2] / "golden" / "npu_smi"


def golden(name):
    return (GOLDEN / name).read_text(encoding="utf-8")


def chip_rows(table):
    return [
        (chip.npu_id, chip.chip_id, chip.name, chip.memory_used, chip.memory_total) for chip in table.chips
    ]


def test_four_910b1_behind_a_prompt_and_without_a_last_newline():
    table = read_table(golden("n01_910B1_x4_trailing_no_newline.txt"))
    assert table.version == "23.0.rc2.2"
    assert chip_rows(table) == [
        (0, 0, "910B1", 65099, 65536),
        (1, 0, "910B1", 65098, 65536),
        (2, 0, "910B1", 65098, 65536),
        (3, 0, "910B1", 65097, 65536),
    ]
    assert {chip.health for chip in table.chips} == {"OK"}
    assert [chip.bus_id for chip in table.chips][:2] == ["0000:C1:00.0", "0000:01:00.0"]
    assert (table.chips[0].power_watts, table.chips[0].temperature_celsius, table.chips[0].busy_percent) == (
        271.1,
        41,
        55,
    )
    assert [(each.npu_id, each.pid, each.name, each.memory) for each in table.processes] == [
        (0, 576489, "python", 60703),
        (1, 576491, "python", 60704),
        (2, 576493, "python", 60704),
        (3, 576495, "python", 60704),
    ]


def test_of_ddr_and_hbm_side_by_side_the_hbm_counts():
    table = read_table(golden("n02_910PremiumA_x8_ddr_and_hbm.txt"))
    assert chip_rows(table) == [(npu, 0, "910PremiumA", 31842, 32768) for npu in range(8)]
    assert {chip.memory_kind for chip in table.chips} == {"HBM"}
    assert [each.pid for each in table.processes] == [5139, 5141, 5143, 5145, 5147, 5149, 5151, 5153]


def test_a_310p_without_hbm_has_ddr():
    table = read_table(golden("n06_310P3_22.0.0_ddr_only.txt"))
    assert chip_rows(table) == [(0, 0, "310P3", 3292, 21527)]
    assert (table.version, table.chips[0].memory_kind, table.chips[0].logic_id) == ("22.0.3", "DDR", 0)


def test_an_a3_card_carries_two_chips():
    table = read_table(golden("n09_A3_Ascend910_two_chips_26.0.rc2_wide.txt"))
    assert chip_rows(table) == [(0, 0, "Ascend910", 3419, 65536), (0, 1, "Ascend910", 2874, 65536)]
    assert [(chip.phy_id, chip.power_watts, chip.bus_id) for chip in table.chips] == [
        (0, 162.6, "0000:9D:00.0"),
        (1, None, "0000:9F:00.0"),
    ]


def test_two_chips_of_a_300i_duo_have_different_totals():
    table = read_table(golden("n11_310P3_300IDuo_25.2.0_power_NA.txt"))
    assert chip_rows(table) == [(2, 0, "310P3", 1529, 44280), (2, 1, "310P3", 1412, 43693)]
    assert [chip.power_watts for chip in table.chips] == [None, None]


def test_a_single_visible_chip_keeps_its_id_and_has_no_process():
    table = read_table(golden("n14_910B4_25.5.2_single_visible_id5.txt"))
    assert chip_rows(table) == [(5, 0, "910B4", 2922, 32768)]
    assert table.processes == ()


def test_a_map_before_the_table_disturbs_neither():
    text = golden("n15_910B3_25.3.rc1_plus_info_m.txt")
    assert chip_rows(read_table(text)) == [(0, 0, "910B3", 41697, 65536), (1, 0, "910B3", 40844, 65536)]
    assert [(each.npu_id, each.chip_id, each.logic_id, each.name) for each in read_map(text)] == [
        (0, 0, 0, "Ascend 910B3"),
        (1, 0, 1, "Ascend 910B3"),
    ]


def test_common_and_usages_give_their_rates_and_leave_the_controller_out():
    first, second, third = read_records(golden("n08_npu_smi_info_t_common_usages.txt"))
    assert [(each.npu_id, each.chip_id) for each in (first, second, third)] == [(1, 0), (7, 0), (1, 0)]
    assert (first.number("HBM Usage Rate(%)"), second.number("HBM Usage Rate(%)")) == (91, 82)
    assert (first.number("Temperature(C)"), first.text("NPU Real-time Power(W)")) == (46, "130.4")
    assert (third.memory_total, third.memory_used) == (32768, 0)


WITH_PROCESSES = """
| npu-smi 26.0.rc1                Version: 26.0.rc1                                        |
| NPU   Name       | Health        | Power(W)       Temp(C)           Hugepages-Usage(page)  |
| Chip             | Bus-Id        | AICore(%)      Memory-Usage(MB)  HBM-Usage(MB)          |
| 0     910B4-1    | Warning       | 82.6           32                0    / 0               |
| 0                | 0000:C1:00.0  | 0              0    / 0          2871 / 65536           |
| NPU     Chip     | Process id    | Process name | Process memory(MB) | Process id in container |
| 0       0        | 485946        | pytest       | 5175               | NA                      |
| 0       0        | 485947        |              | 107                | 31                      |
+==================+===============+=======================================================+
| No running processes found in NPU 1                                                      |
"""
ASCEND_950 = """
| npu-smi 99.0.rc1    Version: 99.0.rc1 |
| NPU ID | Name        | Health | Power(W) Temp(C) Hugepages-Usage(page) |
|        |             | Bus-Id | NPU Util(%) Memory-Usage(MB) HBM-Usage(MB) |
| 0      | Ascend950DT | OK     | 100.0 40 0 / 0 |
|        |             | NA     | 20 0 / 0 1024 / 131072 |
| 3      | Ascend950DT | Alarm  | 120.0 45 0 / 0 |
|        |             | NA     | 0 0 / 0 2048 / 131072 |
| NPU ID | Process id | Process name | Process memory(MB) | Process id in container |
| 0      | 1001       | python       | 256                | NA                      |
| No running processes found in NPU 3 |
"""


def test_a_column_for_pids_in_containers_and_empty_names_are_read():
    table = read_table(WITH_PROCESSES)
    assert (table.chips[0].name, table.chips[0].health) == ("910B4-1", "Warning")
    assert [(each.pid, each.name, each.memory, each.pid_in_container) for each in table.processes] == [
        (485946, "pytest", 5175, None),
        (485947, "", 107, 31),
    ]


def test_ascend_950_has_columns_of_its_own():
    table = read_table(ASCEND_950)
    assert chip_rows(table) == [(0, 0, "Ascend950DT", 1024, 131072), (3, 0, "Ascend950DT", 2048, 131072)]
    assert [chip.health for chip in table.chips] == ["OK", "Alarm"]
    assert [(each.npu_id, each.pid) for each in table.processes] == [(0, 1001)]


OLD_310P = """
  +-------------------|-----------------|------------------------------------------------------+
  | npu-smi 22.0.2                       Version:22.0.2|
  +-------------------|-----------------|------------------------------------------------------+
  | NPU     Name      | Health          | Power(W)     Temp(C)           Hugepages-Usage(page) |
  | Chip    Device    | Bus-Id          | AICore(%)    Memory-Usage(MB)                        |
  +===================|=================|======================================================+
  | 8       310P3     | OK              | 17.1         56                0    / 0              |
  | 0       0         | 0000:86:00.0    | 0            3292 / 21527                            |
  | 12      310P3     | Alarm           | NA           NA                NA                    |
  | 40      310B4     | Warning         | 0.0          45                15   / 15             |
  | 0       2         | NA              | 0            1400 / 3513                             |
  | NPU     Chip      | Process id      | Process name             | Process memory(MB)        |
  | 8       0         | 4711            | npu-smi-exporter         | 120                       |
"""


def test_older_rulers_cards_in_trouble_and_ids_that_skip_are_read():
    table = read_table(OLD_310P)
    assert table.version == "22.0.2"
    assert chip_rows(table) == [
        (8, 0, "310P3", 3292, 21527),
        (12, 0, "310P3", None, None),
        (40, 0, "310B4", 1400, 3513),
    ]
    assert [(chip.health, chip.logic_id) for chip in table.chips] == [
        ("OK", 0),
        ("Alarm", None),
        ("Warning", 2),
    ]
    assert [(each.npu_id, each.name) for each in table.processes] == [(8, "npu-smi-exporter")]


@pytest.mark.parametrize("name", [path.name for path in sorted(GOLDEN.glob("n*.txt"))])
def test_windows_line_ends_indents_and_watch_s_head_change_nothing(name):
    text = golden(name)
    shown = "Every 1.0s: npu-smi info\r\n\r\n" + "".join(f"   {line}\r\n" for line in text.splitlines())
    assert read_table(shown) == read_table(text)


def test_two_tables_one_after_the_other_are_both_read():
    text = golden("n14_910B4_25.5.2_single_visible_id5.txt")
    assert len(read_table(text + "\n" + text).chips) == 2


PROC_MEM = """
NPU ID                         : 32768
Chip Count                     : 2

Process id:1976358 Process name:gunicorn           Process memory(MB):1336
Process id:577293  Process name:                   Process memory(MB):1972
Chip ID                        : 0

No process in device.
Chip ID                        : 1

NPU ID                         : 4
Chip Count                     : 1
Process id:1654497 Process name:python            Process memory(MB):177
Chip ID                        : 0
"""
USAGES_OF_TWO = """
NPU ID                         : 0
Chip Count                     : 2

DDR Capacity(MB)               : 43693
DDR Usage Rate(%)              : 10
Chip ID                        : 0

DDR Capacity(MB)               : 44280
DDR Usage Rate(%)              : 3
Chip ID                        : 1
"""
COMMON_OF_TWO = """
NPU ID                         : 0
Chip Count                     : 2

Chip ID                        : 0
HBM Usage Rate(%)              : 4
Temperature(C)                 : 46

Chip ID                        : 1
HBM Usage Rate(%)              : 78
Temperature(C)                 : NA

Chip Name                      : mcu
Temperature(C)                 : 38
"""


def test_processes_belong_to_the_chip_named_after_them():
    processes = [process for record in read_records(PROC_MEM) for process in record.processes]
    assert [(each.npu_id, each.chip_id, each.pid, each.name, each.memory) for each in processes] == [
        (32768, 0, 1976358, "gunicorn", 1336),
        (32768, 0, 577293, "", 1972),
        (4, 0, 1654497, "python", 177),
    ]


def test_usages_name_the_chip_after_its_values_and_common_before():
    usages = read_records(USAGES_OF_TWO)
    assert [(each.chip_id, each.memory_total, each.memory_used) for each in usages] == [
        (0, 43693, 4369),
        (1, 44280, 1328),
    ]
    common = read_records(COMMON_OF_TWO)
    assert [(each.chip_id, each.number("HBM Usage Rate(%)")) for each in common] == [(0, 4), (1, 78)]
    assert [each.number("Temperature(C)") for each in common] == [46, None]


def test_boards_and_lists_are_read():
    board = "NPU ID : 0\nProduct Name : IT21HMDC\nModel : NA\nPCIe Bus Info : 0000:C1:00.0\nChip Count : 1\n"
    (record,) = read_records(board)
    assert (record.text("PCIe Bus Info"), record.text("Model")) == ("0000:C1:00.0", "")
    listing = "Total Count : 3\n\nNPU ID : 1\nChip Count : 1\n\nNPU ID : 4\nChip Count : 1\n\nNPU ID : 40\n"
    assert read_ids(listing) == (1, 4, 40)


MAP_A3 = """
NPU ID                         Chip ID                        Chip Logic ID                  Chip Phy-ID                    Chip Name
0                              0                              0                              0                              Ascend910
0                              1                              1                              1                              Ascend910
0                              2                              -                              -                              Mcu
1                              0                              2                              2                              Ascend910
"""  # noqa: E501 - as wide as npu-smi prints it
MAP_950 = (
    "NPU ID  Slot ID  Chip ID  Chip Phy-ID  Chip Name\n3       1        0        5            Ascend950\n"
)
TOPO_A2 = """
           NPU0       NPU1       NPU2       NPU3       CPU Affinity
NPU0       X          HCCS       HCCS       HCCS       144-167
NPU1       HCCS       X          HCCS       HCCS       144-167
NPU2       HCCS       HCCS       X          HCCS       96-119
NPU3       HCCS       HCCS       HCCS       X          0-23,48-71

Legend:

  X    = Self
  PXB  = Path traversing multipul PCIe switches
"""
TOPO_A3 = "           Phy-ID12   Phy-ID13\nPhy-ID12   X          SIO\nPhy-ID13   SIO        X\n"


def test_maps_are_read_by_their_headers():
    assert [(each.npu_id, each.chip_id, each.logic_id, each.phy_id) for each in read_map(MAP_A3)] == [
        (0, 0, 0, 0),
        (0, 1, 1, 1),
        (1, 0, 2, 2),
    ]
    assert [(each.npu_id, each.logic_id, each.phy_id) for each in read_map(MAP_950)] == [(3, None, 5)]


def test_near_cpus_are_taken_only_from_a_column_of_cpus():
    found = read_affinity(TOPO_A2)
    assert [(each.npu, len(each.cpus), each.cpus[0]) for each in found] == [
        (0, 24, 144),
        (1, 24, 144),
        (2, 24, 96),
        (3, 48, 0),
    ]
    assert read_affinity(TOPO_A3) == ()
    assert read_affinity("This device does not support querying topo.\n") == ()


@pytest.mark.parametrize("read", [read_table, read_records, read_map, read_affinity, read_ids])
@given(text=st.text(alphabet="|+- 0123456789/NPUID:ChipProcessid\nHealthBus-", max_size=300))
def test_no_text_makes_a_reader_fail(read, text):
    read(text)
