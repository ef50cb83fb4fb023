"""No start on top of another service: the gate waits for the chips of this one, and names who holds them."""

from dataclasses import replace

import pytest

from autotune.campaign.host.npu_gate import NpuGate, chips_of
from autotune.campaign.sides.mindie import npu_gate
from autotune.emulator.install import make_install
from autotune.errors import Refused
from autotune.host.npu_chip import NpuChip, NpuProcess
from autotune.host.npu_facts import NpuFacts


def npus(used, holding=(), **numbers):
    """Chips with so much memory in use, MiB; `holding` are pairs of NPU and pid."""
    chips = tuple(NpuChip(npu_id=n, chip_id=0, memory_used=mib, **numbers) for n, mib in enumerate(used))
    return NpuFacts(
        chips=chips,
        processes=tuple(
            NpuProcess(npu_id=n, chip_id=0, pid=pid, name="python", memory=9) for n, pid in holding
        ),
    )


class Readings:
    """One reading after the other; the last one stays."""

    def __init__(self, *readings):
        self.left = list(readings)
        self.asked = 0

    def __call__(self):
        self.asked += 1
        return self.left.pop(0) if len(self.left) > 1 else self.left[0]


@pytest.fixture
def gate_of(clock, events):
    return lambda readings, chips=frozenset({(0, 0)}): NpuGate(
        readings, chips, clock, events.append, seconds=20
    )


def test_the_first_start_waits_until_nobody_is_on_the_chips(gate_of, clock):
    readings = Readings(npus([60000], [(0, 7)]), npus([60000], [(0, 7)]), npus([2900]))
    gate_of(readings).wait()
    assert (readings.asked, clock.seconds) == (3, 2.0)


def test_the_next_starts_wait_until_the_memory_is_back(gate_of, clock):
    readings = Readings(npus([2900]), npus([61000]), npus([30000]), npus([3000]))
    gate = gate_of(readings)
    gate.wait()
    assert clock.seconds == 0.0
    gate.wait()
    assert (readings.asked, clock.seconds) == (4, 2.0)


def test_memory_that_does_not_come_back_ends_the_campaign_and_names_who_holds_it(gate_of):
    gate = gate_of(Readings(npus([2900]), npus([61000], [(0, 4711)])))
    gate.wait()
    with pytest.raises(Refused, match=r"NPU 0 chip 0 58100 MiB.*pid 4711 python") as caught:
        gate.wait()
    assert "--resume" in caught.value.hint


def test_somebody_elses_process_is_not_started_upon(gate_of):
    with pytest.raises(Refused, match=r"other processes are on the NPUs.*pid 7"):
        gate_of(Readings(npus([60000], [(0, 7)]))).wait()


def test_chips_of_another_service_are_not_waited_for(gate_of, clock):
    gate = gate_of(Readings(npus([2900, 61000], [(1, 7)])))
    gate.wait()
    gate.wait()
    assert clock.seconds == 0.0


def test_without_known_chips_npu_smi_is_not_even_asked(gate_of):
    readings = Readings(npus([60000]))
    gate_of(readings, frozenset()).wait()
    assert readings.asked == 0


def test_an_npu_smi_that_stops_answering_is_told_and_does_not_hold_the_start(gate_of, events):
    gate = gate_of(Readings(npus([2900]), NpuFacts(problem="npu-smi did not answer in time (15 s)")))
    gate.wait()
    gate.wait()
    assert "did not answer in time" in events[0].message


@pytest.mark.parametrize(
    ("devices", "environment", "wanted"),
    [
        ((0, 1), {}, {(0, 0), (1, 0)}),
        ((0, 1), {"ASCEND_RT_VISIBLE_DEVICES": "2,3"}, {(2, 0), (3, 0)}),
        ((1,), {"ASCEND_RT_VISIBLE_DEVICES": "3, 0"}, {(0, 0)}),
        ((6,), {"ASCEND_RT_VISIBLE_DEVICES": "2,3"}, set()),
        ((9,), {}, set()),
    ],
)
def test_device_numbers_are_logic_ids_or_places_in_the_visible_list(devices, environment, wanted):
    assert chips_of(devices, npus([0, 0, 0, 0]), environment) == wanted


def test_two_chips_a_card_and_ids_that_skip_are_found_by_their_logic_ids():
    places = [(8, 0, 0), (8, 1, 1), (10, 0, 2), (10, 1, 3)]
    chips = tuple(NpuChip(npu_id=npu, chip_id=chip, logic_id=logic) for npu, chip, logic in places)
    assert chips_of((1, 2), NpuFacts(chips=chips), {}) == {(8, 1), (10, 0)}


def test_the_chips_of_npu_device_ids_are_waited_for_and_an_emulated_service_has_none(
    tmp_path, host, clock, events
):
    """The install names the devices 0 and 1; somebody is on NPU 1, and on NPU 2, which is not ours."""
    config = make_install(tmp_path / "install") / "conf" / "config.json"
    description = replace(host.describe(), config_path=str(config))
    busy = npus([2900, 60000, 60000], [(1, 7), (2, 8)])
    real = npu_gate(description, busy, {}, clock, events.append, Readings(busy))
    with pytest.raises(Refused, match="pid 7") as caught:
        real.wait()
    assert "pid 8" not in caught.value.message
    npu_gate(replace(description, emulated=True), busy, {}, clock, events.append, Readings(busy)).wait()
