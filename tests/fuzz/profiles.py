"""Profiles: the YAML that a user writes, overrides, and the quantities and limits in it."""

import contextlib
from pathlib import Path

from autotune.errors import ProfileError
from autotune.profile.limits import parse_limit
from autotune.profile.quantities import bytes_of, fraction_of, seconds_of
from autotune.profile.reading import parse_profile
from tests.fuzz.target import Target, text_of, words_of

PROFILES = Path(__file__).parents[2] / "profiles"
MARK = "\n--set\n"
WORDS = words_of("profiles")


def read_any(data: bytes) -> None:
    """A profile, or every fault at once with a place and a message."""
    text, *overrides = text_of(data).split(MARK)
    try:
        loaded = parse_profile(text, path=Path("/nowhere/profile.yaml"), overrides=overrides[:4])
    except ProfileError as error:
        assert error.faults
        assert all(fault.place and fault.message for fault in error.faults)
        assert str(error)
        return
    assert loaded.profile.name


def read_quantities(data: bytes) -> None:
    """Seconds above 0, bytes not below, fractions from 0 to 1, finite limits, or a ValueError."""
    text = text_of(data)
    with contextlib.suppress(ValueError):
        assert 0 < seconds_of(text) < float("inf")
    with contextlib.suppress(ValueError):
        assert 0 <= fraction_of(text) <= 1
    with contextlib.suppress(ValueError):
        assert bytes_of(text) >= 0
    with contextlib.suppress(ValueError):
        assert abs(parse_limit(text).bound) < float("inf")


def _seeds() -> list[bytes]:
    whole = [path.read_bytes() for path in sorted(PROFILES.glob("*.yaml"))]
    overridden = [
        text + MARK.encode() + b"search.step=50" + MARK.encode() + b"workload.api=tgi" for text in whole
    ]
    return whole + overridden


QUANTITIES = tuple(
    text.encode()
    for text in (
        "15m",
        "2h30m",
        "2%",
        "0.02",
        "17GiB",
        "64 GB",
        "tpot:mean<=50ms",
        "ttft:p99<=1s",
        "goodput>=99%",
        "errors<=1%",
    )
)
PROFILE = Target(
    name="profiles and overrides",
    law="a profile, or every fault with its place; nothing is run",
    check=read_any,
    seeds=_seeds,
    words=WORDS,
)
AMOUNTS = Target(
    name="quantities and limits",
    law="finite and within bounds, or a ValueError",
    check=read_quantities,
    seeds=lambda: QUANTITIES,
    words=(
        b"ms",
        b"GiB",
        b"%",
        b"<=",
        b">=",
        b":p99",
        b"e400",
        b"inf",
        b"nan",
        b"-",
        b"9" * 400,
        b".",
        b" ",
        "²".encode(),
    ),
)
