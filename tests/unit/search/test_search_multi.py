"""Multi: the sampler's proposals around the scout's winner, never one twice, never against a failed start."""

import pytest

from autotune.errors import LaunchCause, UsageError
from autotune.model.launch import Purpose
from autotune.model.move import Finish, Launch, VerdictCode
from autotune.model.settings import Settings
from autotune.search.evidence import reading_move
from autotune.search.knobs import knobs_around, ruled_out, settings_with
from autotune.search.multi import Multi
from autotune.search.options import Options
from autotune.search.strategy import make_strategy

OLD = Settings(max_batch_size=200)


class Winner:
    """Stands in for the scout: one candidate, then it is done."""

    def __init__(self, space, size):
        self.settings = space.settings_for(size)

    def next_move(self, history):
        level = reading_move(history, 1306, 0.01, reason="read")
        if level is not None:
            return level
        if history.of(self.settings):
            return Finish(settings=self.settings, code=VerdictCode.IMPROVED, reason="found")
        return Launch(settings=self.settings, purpose=Purpose.CANDIDATE)


class Listed:
    """Proposes prefill batches from a list, over and over."""

    def __init__(self, *sizes):
        self.sizes = sizes
        self.told = []

    def propose(self, knobs, tried, *, seed, number):
        self.told.append(tried)
        return (("max_batch_size", 500), ("max_prefill_batch_size", self.sizes[number % len(self.sizes)]))


def multi(tools, proposals, **options):
    space = tools.space(incumbent=OLD)
    return Multi(Winner(space, 500), space, Options(**options), proposals)


def read(tools):
    """100 is the best prefill batch."""

    def level(launch, move):
        prefill = launch.settings.max_prefill_batch_size or 250
        return tools.measured(move.concurrency, 3000.0 - abs(prefill - 100), 0.002)

    return level


def test_the_best_proposal_wins_and_no_setting_is_launched_twice(tools):
    played = tools.play(multi(tools, Listed(200, 100, 50)), read(tools), launches=8)
    settings = [launch.settings for launch in played.history.launches]
    assert len(set(settings)) == len(settings) == 4
    assert played.finish.settings.max_prefill_batch_size == 100
    assert played.finish.because.value == "nothing_left"


def test_a_start_that_lacked_memory_rules_out_what_needs_as_much(tools):
    def start(launch):
        return LaunchCause.MEMORY if (launch.settings.max_prefill_batch_size or 0) >= 400 else None

    played = tools.play(multi(tools, Listed(450, 400, 90)), read(tools), start, launches=8)
    assert [each.settings.max_prefill_batch_size for each in played.history.launches] == [250, 400, 90]


def test_the_sampler_is_told_failures_as_violations_and_readings_as_they_are(tools):
    proposals = Listed(400, 90)

    def start(launch):
        return LaunchCause.MEMORY if launch.settings.max_prefill_batch_size == 400 else None

    tools.play(multi(tools, proposals), read(tools), start, launches=4)
    failed = [each for each in proposals.told[-1] if each.violation > 0.0]
    assert [each.tokens_per_second for each in failed] == [0.0]
    assert [each.tokens_per_second for each in proposals.told[0]] == [2850.0]


def test_an_equal_proposal_leaves_the_scouts_winner(tools):
    def level(launch, move):
        return tools.measured(move.concurrency, 3000.0, 0.01)

    played = tools.play(multi(tools, Listed(100)), level, launches=4)
    assert played.finish.settings == tools.space(incumbent=OLD).settings_for(500)


def test_the_same_history_gives_the_same_move(tools):
    played = tools.play(multi(tools, Listed(200, 100, 50)), read(tools), launches=8)
    again = multi(tools, Listed(200, 100, 50))
    assert [again.next_move(history) for history, _ in played.steps] == [move for _, move in played.steps]


def test_values_are_brought_in_line_with_each_other_and_with_the_grid(tools):
    space = tools.space(grid=(256, 512), tune_prefill=False)
    changed = settings_with(
        Settings(max_batch_size=512, max_prefill_batch_size=100, max_num_batched_tokens=100),
        (("max_batch_size", 300), ("max_prefill_batch_size", 400)),
        space,
    )
    assert changed == Settings(max_batch_size=256, max_prefill_batch_size=256, max_num_batched_tokens=256)


def test_each_engine_has_its_own_knobs(tools):
    def names(space, *wanted):
        return [knob.name for knob in knobs_around(Settings(max_batch_size=400), space, wanted)]

    assert names(tools.space(tune_prefill=False), "max_batch_size") == [
        "max_batch_size",
        "max_num_batched_tokens",
    ]
    assert "support_select_batch" in names(tools.space(), "max_batch_size")
    assert names(tools.space(), "max_batch_size", "decode_time_ms_per_req") == [
        "max_batch_size",
        "decode_time_ms_per_req",
    ]


def test_a_smaller_setting_is_not_ruled_out(tools):
    def start(launch):
        return LaunchCause.MEMORY if launch.settings.max_prefill_batch_size == 400 else None

    history = tools.play(multi(tools, Listed(400, 90)), read(tools), start, launches=3).history
    settings = tools.space().settings_for(500)
    assert ruled_out(Settings(max_batch_size=600, max_prefill_batch_size=400), history)
    assert not ruled_out(settings, history)


def test_without_a_sampler_it_cannot_be_made(tools):
    with pytest.raises(UsageError, match="proposals"):
        make_strategy("multi", tools.space(), Options())
