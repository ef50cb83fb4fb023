"""CPU lists and masks in every form in which the kernel and its tools write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.host.cpu_list import format_cpu_list, parse_cpu_list, parse_cpu_mask


@pytest.mark.parametrize(
    ("text", "cpus"),
    [
        ("0-3", (0, 1, 2, 3)),
        ("0,8,16", (0, 8, 16)),
        ("0-1,64-65\n", (0, 1, 64, 65)),
        (" 3 , 1 ", (1, 3)),
        ("0-6:2", (0, 2, 4, 6)),
        ("", ()),
        ("\n", ()),
    ],
)
def test_lists_are_read(text, cpus):
    assert parse_cpu_list(text) == cpus


@pytest.mark.parametrize("wrong", ["0-23-99", "1-0", "a", "1,", ",1", "-1", "0x3", "1 2", "0-99999999999"])
def test_what_is_no_list_is_refused(wrong):
    with pytest.raises(ValueError, match="not a"):
        parse_cpu_list(wrong)


@pytest.mark.parametrize(
    ("text", "cpus"),
    [("0x3", (0, 1)), ("ff,00000000", tuple(range(32, 40))), ("0", ()), ("80000000", (31,))],
)
def test_masks_are_read(text, cpus):
    assert parse_cpu_mask(text) == cpus


@pytest.mark.parametrize("wrong", ["", "xyz", "ff,1", "f" * 3000])
def test_what_is_no_mask_is_refused(wrong):
    with pytest.raises(ValueError, match=r"not a mask|above"):
        parse_cpu_mask(wrong)


@given(cpus=st.sets(st.integers(0, 700)))
def test_a_written_list_is_read_back_the_same(cpus):
    assert set(parse_cpu_list(format_cpu_list(cpus))) == cpus
