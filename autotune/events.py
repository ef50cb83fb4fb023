"""What happened, as values: the screen, the plain log and the JSON log listen to these."""

from dataclasses import dataclass
from enum import Enum, unique

from autotune.model.campaign import Campaign, Forecast
from autotune.model.launch import LaunchRecord, Purpose
from autotune.model.measurement import Level
from autotune.model.settings import Settings


@unique
class Phase(Enum):
    """What the current launch is doing."""

    STARTING = "starting"
    WARMING_UP = "warming up"
    MEASURING = "measuring"
    STOPPING = "stopping"


@dataclass(frozen=True, kw_only=True, slots=True)
class CampaignStarted:
    """The search begins; from here on the host is touched."""

    campaign: Campaign
    forecast: Forecast


@dataclass(frozen=True, kw_only=True, slots=True)
class LaunchStarted:
    """A start of the service begins."""

    number: int
    purpose: Purpose
    settings: Settings
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PhaseChanged:
    """The running launch went on to its next phase."""

    number: int
    phase: Phase


@dataclass(frozen=True, kw_only=True, slots=True)
class LevelProgress:
    """Where the running level stands; half_width is a fraction and None before the first look."""

    concurrency: int
    seconds: float
    tokens_per_second: float | None
    half_width: float | None
    seconds_left: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class LevelEnded:
    """A level gave a Measurement or an Invalid."""

    number: int
    level: Level


@dataclass(frozen=True, kw_only=True, slots=True)
class LaunchEnded:
    """A launch ended or failed; its record is final."""

    record: LaunchRecord


@dataclass(frozen=True, kw_only=True, slots=True)
class ForecastChanged:
    """What is still to come, as the launches so far tell it."""

    remaining: Forecast


@dataclass(frozen=True, kw_only=True, slots=True)
class Warned:
    """Something a person should know, with the next step."""

    message: str
    hint: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class CampaignEnded:
    """The verdict is there and the host is as the campaign leaves it."""

    campaign: Campaign


Event = (
    CampaignStarted
    | LaunchStarted
    | PhaseChanged
    | LevelProgress
    | LevelEnded
    | LaunchEnded
    | ForecastChanged
    | Warned
    | CampaignEnded
)
