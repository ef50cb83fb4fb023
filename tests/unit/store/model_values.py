"""Hypothesis strategies for the frozen model types, built from their own annotations."""

from dataclasses import replace

from hypothesis import strategies as st

from autotune.model.campaign import Campaign
from autotune.model.launch import LaunchRecord, Outcome
from autotune.model.measurement import Invalid, Measurement
from autotune.model.settings import Settings

REAL = st.floats(allow_nan=False)
TEXT = st.text(max_size=20)
st.register_type_strategy(float, REAL)
st.register_type_strategy(str, TEXT)

SETTINGS = st.builds(
    Settings,
    max_batch_size=st.integers(1, 819_200),
    max_prefill_batch_size=st.none() | st.integers(1, 819_200),
    max_prefill_tokens=st.none() | st.integers(1, 4_194_304),
    prefill_time_ms_per_req=st.none() | st.integers(0, 1000),
    decode_time_ms_per_req=st.none() | st.integers(0, 1000),
    support_select_batch=st.none() | st.booleans(),
)
MEASUREMENT = st.builds(Measurement, tokens_per_second=st.floats(0.1, 1e6))
LEVEL = MEASUREMENT | st.builds(Invalid)
LAUNCH = st.builds(
    LaunchRecord,
    settings=SETTINGS,
    outcome=st.sampled_from([Outcome.ENDED, Outcome.FAILED]),
    levels=st.lists(LEVEL, max_size=3).map(tuple),
)


def numbered(launches: list[LaunchRecord]) -> tuple[LaunchRecord, ...]:
    """The same launches, numbered from 1."""
    return tuple(replace(launch, number=at) for at, launch in enumerate(launches, start=1))


CAMPAIGN = st.builds(
    Campaign,
    run=st.text(alphabet="abcdefghijklmnopqrstuvwxyz0123456789-", min_size=1, max_size=40),
    launches=st.lists(LAUNCH, max_size=3).map(numbered),
)
