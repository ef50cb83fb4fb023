"""The measured incumbent tells the space its lengths and the times that all candidates share."""

from autotune.model.launch import LaunchRecord, Purpose
from autotune.model.measurement import Distribution
from autotune.model.move import Measure
from autotune.model.settings import Settings
from autotune.search.informed import informed
from autotune.search.options import Options
from autotune.search.strategy import make_strategy

OLD = Settings(max_batch_size=200, support_select_batch=False)
SHARED = Settings(max_batch_size=200, support_select_batch=True)


def reader(tools):
    """A queue of 10 ms a waiting client; 300 ms to the first token without one; 41.6 ms a token."""

    def read(launch, move):
        queued = max(0, move.concurrency - launch.settings.max_batch_size)
        return tools.measured(
            move.concurrency,
            float(min(move.concurrency, launch.settings.max_batch_size, 500)),
            ttft_ms=Distribution(mean=300.0 + 10.0 * queued),
            tpot_ms=Distribution(mean=41.6),
            input_tokens=2000 * 300,
            mean_output_tokens=100.0,
        )

    return read


def space(tools, **changes):
    return tools.space(
        **({"incumbent": OLD, "shared": SHARED, "times_from_means": True, "max_output_tokens": 512} | changes)
    )


def test_candidates_share_times_from_the_measured_means_without_the_queue(tools):
    played = tools.play(make_strategy("guide", space(tools), Options()), reader(tools))
    first = played.history.launches[0]
    assert [level.concurrency for level in first.levels] == [200, 1306]
    candidates = {each.settings for each in played.history.launches if each.purpose is Purpose.CANDIDATE}
    assert {(each.prefill_time_ms_per_req, each.decode_time_ms_per_req) for each in candidates} == {(300, 42)}
    assert {each.support_select_batch for each in candidates} == {True}


def test_the_level_without_a_queue_comes_first_and_only_where_times_are_set(tools):
    def measures(**changes):
        played = tools.play(make_strategy("guide", space(tools, **changes), Options()), reader(tools))
        moves = [move for _, move in played.steps if isinstance(move, Measure)]
        return [move.because.value for move in moves][:2]

    assert measures() == ["without_queue", "as_found"]
    assert measures(times_from_means=False)[0] == "as_found"


def test_times_are_whole_milliseconds_that_mindie_takes(tools):
    def read(launch, move):
        level = reader(tools)(launch, move)
        return tools.measured(
            move.concurrency, 100.0, ttft_ms=Distribution(mean=2500.0), tpot_ms=level.tpot_ms
        )

    history = tools.play(make_strategy("guide", space(tools), Options()), read).history
    assert informed(space(tools), history).shared.prefill_time_ms_per_req == 1000


def test_assumed_lengths_give_way_to_measured_ones(tools):
    """300 tokens in, 100 out, 512 at most: 3 blocks at least, 4 in the mean, 7 at most."""
    history = tools.play(make_strategy("guide", space(tools), Options()), reader(tools)).history
    request = informed(space(tools, lengths_assumed=True), history).request
    assert (request.min_blocks, request.mean_blocks, request.max_blocks) == (3, 4, 7)
    assert informed(space(tools), history).request == space(tools).request


def test_an_incumbent_that_was_not_measured_tells_nothing(tools):
    where = space(tools)
    history = tools.play(make_strategy("guide", where, Options()), reader(tools)).history
    failed = LaunchRecord(number=1, purpose=Purpose.INCUMBENT, settings=OLD)
    assert informed(where, type(history)(launches=(failed,))) == where
