"""Table: how often what was tried, and how often it failed."""

from dataclasses import dataclass, field

HEAD = """\
# Torture

Written by `make torture`. Campaigns on the emulated daemon are killed at random instants and meet the
disasters below. Processes, files and signals are real; the NPU, /sys and the clock that jumps are stand-ins.
After each attempt: config.json byte for byte as it was with mode and owner, host settings back, production
answering a real request, no process left, no finished launch lost, the campaign resumed to its end.
"""


@dataclass
class Count:
    """Of one kind."""

    attempts: int = 0
    failed: int = 0
    skipped: str = ""


@dataclass
class Tally:
    """Of all kinds."""

    counts: dict[str, Count] = field(default_factory=dict)

    def note(self, label: str, failure: str, skipped: str) -> None:
        count = self.counts.setdefault(label, Count())
        if skipped:
            count.skipped = skipped
            return
        count.attempts += 1
        count.failed += bool(failure)

    @property
    def attempts(self) -> int:
        return sum(count.attempts for count in self.counts.values())

    @property
    def failures(self) -> int:
        return sum(count.failed for count in self.counts.values())


def table(tally: Tally, *, seconds: float, seed: int) -> str:
    """The report in Markdown."""
    kills = [name for name in tally.counts if "production" in name]
    others = [name for name in tally.counts if "production" not in name]
    killed = sum(tally.counts[name].attempts for name in kills)
    done = f"{killed} kills, {tally.attempts - killed} disasters, {tally.failures} failures"
    lines = [
        HEAD,
        f"**{done}** in {seconds / 60:.0f} minutes, seed {seed}.",
        "",
        "| what | attempts | failures |",
        "|---|---:|---:|",
    ]
    for name in (*sorted(kills), *sorted(others)):
        count = tally.counts[name]
        shown = f" (skipped here: {count.skipped})" if count.skipped else ""
        lines.append(f"| {name}{shown} | {count.attempts} | {count.failed} |")
    return "\n".join(lines) + "\n"
