"""Outcome: what a night came to, as everybody is told it."""

from dataclasses import dataclass
from enum import Enum, unique

from autotune.model.settings import Settings


@unique
class NightVerdict(Enum):
    """How a night ends."""

    HOLDS = "holds"
    IMPROVED_APPLIED = "improved_and_applied"
    IMPROVED_NOT_APPLIED = "improved_and_not_applied"
    DRIFTED = "drifted"
    """Something is not as on earlier nights, and it is not slower."""
    SLOWER = "slower"
    """A regression: the same setting is surely slower than on earlier nights."""
    NOT_MEASURABLE = "not_measurable"
    REFUSED = "refused"
    """Not begun: window closed, lock held, live traffic, or preflight says no."""
    FAILED = "failed"
    """Begun and not finished; everything is as it was."""
    NOT_RESTORED = "not_restored"
    """A person must look."""

    @property
    def is_success(self) -> bool:
        """The night did its work."""
        return self in _DONE

    @property
    def needs_a_look(self) -> bool:
        """Somebody should read the evidence soon."""
        return self not in {NightVerdict.HOLDS, NightVerdict.IMPROVED_APPLIED, NightVerdict.REFUSED}


_DONE = frozenset(
    {
        NightVerdict.HOLDS,
        NightVerdict.IMPROVED_APPLIED,
        NightVerdict.IMPROVED_NOT_APPLIED,
        NightVerdict.DRIFTED,
        NightVerdict.SLOWER,
    }
)


@dataclass(frozen=True, kw_only=True, slots=True)
class NightOutcome:
    """One night."""

    profile: str
    run: str
    verdict: NightVerdict
    exit_code: int
    message: str
    """One sentence."""
    started_wall: float
    ended_wall: float
    evidence: tuple[str, ...] = ()
    served: Settings | None = None
    """What the service is left with."""
    tokens_per_second: float | None = None
    """Of what was served at the start."""
    best: Settings | None = None
    best_tokens_per_second: float | None = None
    gain: float | None = None
    """Fraction."""
    launches: int = 0
    fingerprint: str = ""
    restored: bool = True
    emulated: bool = False

    @property
    def line(self) -> str:
        """One line for cron's mail."""
        size = f", maxBatchSize {self.served.max_batch_size}" if self.served else ""
        emulated = " (emulated)" if self.emulated else ""
        return f"{self.profile}: {self.verdict.value.replace('_', ' ')}{size}: {self.message}{emulated}"
