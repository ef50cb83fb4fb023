"""The verdicts of the load bench: a figure out of its bound, or missing, is no success."""

import pytest

from tests.bench.load.bounds import BOUNDS, verdicts


@pytest.mark.parametrize(("speed", "kept"), [(10_000.0, True), (9_999.0, False), (None, False)])
def test_a_median_below_its_bound_or_not_measured_is_missed(speed, kept):
    (verdict,) = verdicts("short", {} if speed is None else {"requests_a_second": speed})
    assert verdict.kept is kept


def test_the_ratio_to_the_best_peer_is_judged_only_where_a_peer_was_there():
    own = {bound.figure: bound.most if bound.most < 1e9 else bound.least for bound in BOUNDS["beside"]}
    alone = {name: value for name, value in own.items() if not name.startswith("best-peer")}
    assert all(one.kept for one in verdicts("beside", own))
    assert len(verdicts("beside", alone)) == len(verdicts("beside", own)) - 1
    assert not all(one.kept for one in verdicts("beside", {**own, "best-peer times our CPU": 2.3}))
