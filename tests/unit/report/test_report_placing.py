from hypothesis import given
from hypothesis import strategies as st

from autotune.report.placing import Box, beside, free_spot

AREA = Box(left=0.0, top=0.0, right=400.0, bottom=300.0)


def dot(x, y, reach=6.0):
    return Box(left=x - reach, top=y - reach, right=x + reach, bottom=y + reach)


def placed(mark, *taken, width=60.0):
    return free_spot(beside(mark, width=width, height=13.0, area=AREA), (mark, *taken), AREA)


def test_a_name_stands_above_its_mark_where_nothing_is_in_the_way():
    spot = placed(dot(200.0, 150.0))
    assert (spot.anchor, spot.x) == ("middle", 200.0)
    assert spot.box.bottom < 150.0


def test_a_name_at_the_top_goes_below():
    assert placed(dot(200.0, 8.0)).box.top > 8.0


def test_a_name_moves_out_of_the_way_of_another():
    other = Box(left=150.0, top=100.0, right=250.0, bottom=145.0)
    spot = placed(dot(200.0, 150.0), other)
    assert spot.box.covers(other) == 0.0


@given(st.floats(0.0, 400.0), st.floats(0.0, 300.0), st.floats(10.0, 120.0))
def test_a_lonely_name_is_always_inside_and_covers_nothing(x, y, width):
    mark = dot(x, y)
    spot = placed(mark, width=width)
    assert spot.box.outside(AREA) <= 1e-6
    assert spot.box.covers(mark) <= 1e-6
