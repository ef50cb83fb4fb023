"""maxLinkNum against the clients: refused, or raised on request in trials and in what is applied."""

import pytest

from autotune.campaign.concurrency import raised_links
from autotune.campaign.estimate import Lengths
from autotune.campaign.space import space_of
from autotune.errors import UsageError
from autotune.model.service import Description
from autotune.model.settings import Settings
from autotune.profile.schema import Profile

LENGTHS = Lengths(input_tokens=186, output_tokens=346, max_output_tokens=512)


def profile(concurrency: int | str, *, raised: bool = False) -> Profile:
    values = {
        "name": "links",
        "engine": {"kind": "mindie", "home": "/opt/mindie", "raise_max_link_num": raised},
        "workload": {"concurrency": concurrency},
        "report": {"directory": "/tmp/reports"},
    }
    return Profile.model_validate(values, context={"folder": None})


def description(links: int, *, low: int = 1) -> Description:
    return Description(
        kind="mindie",
        version="3.0",
        place="/opt/mindie",
        model_name="m",
        incumbent=Settings(max_batch_size=200, max_prefill_batch_size=50),
        block_size=128,
        max_link_num=links,
        bounds_low=low,
        bounds_high=5000,
    )


@pytest.mark.parametrize(
    ("concurrency", "raised", "links", "expected"),
    [
        (1200, True, 1000, 1200),
        (1200, False, 1000, None),
        (800, True, 1000, None),
        ("auto", True, 1000, None),
        (1200, True, None, None),
    ],
)
def test_links_are_raised_only_on_request_and_only_where_the_clients_need_it(
    concurrency, raised, links, expected
):
    assert raised_links(profile(concurrency, raised=raised), links) == expected


def test_more_clients_than_links_are_refused_with_what_raises_them():
    with pytest.raises(UsageError, match="above the service's maxLinkNum 1000") as refused:
        space_of(profile(1200), description(1000), LENGTHS, blocks=None)
    assert "engine.raise_max_link_num=true" in refused.value.hint


def test_links_that_were_raised_are_part_of_every_candidate():
    space = space_of(profile(1200, raised=True), description(1200), LENGTHS, blocks=None)
    assert (space.concurrency, space.settings_for(300).max_link_num) == (1200, 1200)
    kept = space_of(profile(800, raised=True), description(1000), LENGTHS, blocks=None)
    assert kept.settings_for(300).max_link_num is None


def test_no_candidate_lies_below_what_the_service_takes_beside_its_other_values():
    """A published 1.0.RC1 file has maxPreemptCount 200: a smaller maxBatchSize would be refused."""
    space = space_of(profile(1000), description(1000, low=200), LENGTHS, blocks=None)
    assert space.bracket().low == 200
