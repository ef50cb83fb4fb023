"""A live service without a hook is left alone while it has traffic, or does not say so."""

from contextlib import nullcontext
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

from autotune.campaign.nightly import traffic
from autotune.campaign.nightly.traffic import LOOKS, refuse_traffic
from autotune.errors import Busy
from autotune.model.service import Counters
from autotune.profile.schema import ServiceSection

UNIT = ServiceSection(unit="mindie.service")
WITH_HOOK = ServiceSection(unit="mindie.service", before=("drain",))


@dataclass
class Live:
    section: ServiceSection | None
    environment: dict[str, str] = field(default_factory=dict)
    live: bool = True
    config_path: str = "config.json"
    tls: None = None

    def is_live(self):
        return self.live


@pytest.fixture
def asked(monkeypatch):
    """What the service says, look by look."""
    answers = []
    monkeypatch.setattr(traffic, "read_config", lambda _: SimpleNamespace(document={"BackendConfig": {}}))
    monkeypatch.setattr(traffic, "ControlPlane", lambda _: nullcontext())
    monkeypatch.setattr(traffic, "counters", lambda *_, **__: answers.pop(0))
    return answers


def test_a_quiet_service_is_looked_at_several_times(asked, clock):
    asked += [Counters(running=0, waiting=0)] * LOOKS
    refuse_traffic(Live(UNIT), clock)
    assert asked == []


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ([Counters(running=2, waiting=1)], "3 requests"),
        ([Counters(running=0, waiting=0), Counters(running=1)], "1 requests"),
        ([None], "does not say"),
        ([Counters(total_blocks=9)], "does not say"),
    ],
)
def test_traffic_or_silence_ends_the_night_with_what_to_write(asked, clock, answers, said):
    asked += answers
    with pytest.raises(Busy, match=said) as refused:
        refuse_traffic(Live(UNIT), clock)
    assert "before" in refused.value.hint


@pytest.mark.parametrize("live", [Live(WITH_HOOK), Live(UNIT, live=False), Live(None)])
def test_a_hook_moves_it_away_and_without_a_live_service_there_is_none(asked, clock, live):
    refuse_traffic(live, clock)
    assert asked == []
