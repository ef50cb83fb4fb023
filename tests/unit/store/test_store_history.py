from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.model.campaign import Reading, Verdict
from autotune.model.move import VerdictCode
from autotune.model.service import Description, Fact
from autotune.model.settings import Settings
from autotune.store.history import expired, fingerprint, is_good, lineages
from autotune.store.study import StoredRun

FOUND = Settings(max_batch_size=435)
WINNER = Settings(max_batch_size=500)
PROFILE = "name: a\nmodel: {name: m}\nworkload: {concurrency: 1000}\nsearch: {seed: 1}\n"
NIGHT = 86_400.0


def reading(settings, tokens_per_second):
    return Reading(settings=settings, tokens_per_second=tokens_per_second, half_width=0.01, launches=2)


def stored(name, *, day=0, code=VerdictCode.INCUMBENT_BEST, found=2845.3, best=2980.3, applied=False):
    verdict = Verdict(code=code, reason="", incumbent=reading(FOUND, found), best=reading(WINNER, best))
    return StoredRun(
        run=name,
        profile_name="a",
        profile_text=PROFILE,
        description=Description(
            kind="mindie", version="2.2", place="/opt", model_name="m", incumbent=FOUND, block_size=128
        ),
        started_wall=day * NIGHT,
        ended_wall=day * NIGHT + 3600,
        verdict=verdict if code is not VerdictCode.INTERRUPTED else None,
        restored=True,
        applied=applied,
        rehearsed=False,
        environment=(Fact(name="driver", value="25.5"), Fact(name="uptime", value=str(day))),
        launches=5,
    )


BASE = stored("base")


def described(**facts):
    shown = tuple(Fact(name=name, value=value) for name, value in facts.items())
    return replace(BASE, description=replace(BASE.description, facts=shown))


@pytest.mark.parametrize(
    "other",
    [
        replace(BASE, description=replace(BASE.description, version="2.3")),
        replace(BASE, description=replace(BASE.description, model_name="n")),
        replace(BASE, description=replace(BASE.description, emulated=True)),
        replace(BASE, profile_text=PROFILE.replace("1000", "999")),
        replace(BASE, rehearsed=True),
        replace(BASE, environment=(Fact(name="driver", value="25.6"),)),
        replace(BASE, profile_text="{"),
    ],
)
def test_what_changes_a_reading_changes_the_fingerprint(other):
    assert fingerprint(other, facts=["driver"]) != fingerprint(BASE, facts=["driver"])


@pytest.mark.parametrize(
    "other",
    [
        replace(BASE, run="other", started_wall=1.0),
        replace(BASE, profile_text=PROFILE.replace("seed: 1", "seed: 2")),
        replace(BASE, environment=(Fact(name="uptime", value="9"), Fact(name="driver", value="25.5"))),
        replace(BASE, description=replace(BASE.description, incumbent=WINNER)),
    ],
)
def test_what_does_not_change_a_reading_does_not(other):
    assert fingerprint(other, facts=["driver"]) == fingerprint(BASE, facts=["driver"])


@pytest.mark.parametrize("name", ["addresses", "address", "daemon", "config_mode", "probing_start", "PATH"])
def test_where_a_service_listens_and_lies_does_not_begin_a_new_history(name):
    here, there = described(**{name: "1025", "devices": "0"}), described(**{name: "9", "devices": "0"})
    assert fingerprint(here) == fingerprint(there)
    assert fingerprint(here) != fingerprint(described(**{name: "1025", "devices": "1"}))


def test_lineages_are_oldest_run_first_and_newest_lineage_first():
    other = replace(stored("other", day=5), rehearsed=True)
    found = lineages([stored("c", day=3), stored("a", day=1), other, stored("b", day=2)])
    assert [[run.run for run in lineage.runs] for lineage in found] == [["other"], ["a", "b", "c"]]
    assert found[1].best == (2980.3, 2980.3, 2980.3)


def test_three_nights_make_a_band_and_a_reading_outside_is_drift():
    nights = [stored(str(day), day=day, found=speed) for day, speed in enumerate((2850.0, 2845.0, 2840.0))]
    (lineage,) = lineages(nights)
    trend = lineage.trend(FOUND)
    assert trend is not None
    assert trend.median == 2845.0
    assert not trend.is_drift(2820.0)
    assert trend.is_drift(2700.0)
    assert trend.is_drift(2950.0)
    assert lineage.trend(Settings(max_batch_size=999)) is None
    assert lineages(nights[:2])[0].trend(FOUND) is None


def test_only_the_last_nights_count():
    nights = [stored(str(day), day=day, found=1000.0 if day < 10 else 2000.0) for day in range(20)]
    trend = lineages(nights)[0].trend(FOUND, last=5)
    assert trend is not None
    assert trend.tokens_per_second == (2000.0,) * 5


@given(
    st.lists(
        st.tuples(
            st.sampled_from([VerdictCode.IMPROVED, VerdictCode.NOT_MEASURABLE, VerdictCode.INTERRUPTED]),
            st.booleans(),
        ),
        max_size=12,
    ),
    st.integers(0, 5),
)
def test_retention_never_drops_the_last_good_the_last_applied_or_what_can_be_resumed(nights, keep):
    runs = [
        stored(str(day), day=day, code=code, applied=applied) for day, (code, applied) in enumerate(nights)
    ]
    gone = {run.run for run in expired(runs, keep=keep)}
    good = [run.run for run in runs if is_good(run)]
    applied = [run.run for run in runs if run.applied]
    assert not gone & {*good[-1:], *applied[-1:]}
    assert all(run.verdict is not None for run in runs if run.run in gone)
    assert gone.isdisjoint(run.run for run in runs[len(runs) - keep :] if keep)


def test_young_runs_stay_however_many_there_are():
    runs = [stored(str(day), day=day) for day in range(10)]
    assert [run.run for run in expired(runs, keep=2, started_before=3 * NIGHT)] == ["0", "1", "2"]


def test_a_host_that_was_not_put_back_is_no_good_run():
    assert not is_good(replace(BASE, restored=False))
    assert is_good(replace(BASE, restored=False, applied=True))
