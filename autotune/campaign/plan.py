"""Plan: what a campaign will do and touch and how long it takes, said before anything is touched."""

from dataclasses import dataclass

from autotune.campaign.forecast import Residence, Timing, forecast
from autotune.campaign.parts import Bounds
from autotune.model.campaign import Campaign, Forecast
from autotune.model.service import Description, Fact
from autotune.profile.schema import Profile, WorkloadSection
from autotune.report.knob_names import settings_text
from autotune.search.space import Space

_GUESSED_TPOT_SECONDS = 0.05


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """The plan as lines that a person reads, and its forecast."""

    lines: tuple[Fact, ...]
    forecast: Forecast


def plan_of(
    profile: Profile,
    campaign: Campaign,
    space: Space,
    bounds: Bounds,
    timing: Timing | None,
    host_lines: tuple[Fact, ...],
    residence: Residence | None = None,
) -> Plan:
    """Lay out the campaign; `timing` is what earlier runs took, None when there is none.

    `residence` is how long a request runs, where something knows it; else it is guessed.
    """
    description = campaign.description
    guessed = _GUESSED_TPOT_SECONDS * _mean_output(profile.workload)
    known = timing or Timing().scaled(description.time_scale)
    told = forecast(
        strategy=campaign.strategy,
        max_launches=bounds.max_launches,
        timing=known,
        residence=residence or Residence(restart=guessed, sweep=guessed),
        cap_seconds=bounds.level_cap_seconds,
        time_scale=description.time_scale,
    )
    lines = (*_service(campaign), *_touches(profile, campaign), *host_lines, *_work(profile, space))
    return Plan(lines=lines, forecast=told)


def _service(campaign: Campaign) -> list[Fact]:
    description = campaign.description
    faster = f", {description.time_scale:g} times faster than real" if description.time_scale != 1 else ""
    emulated = f"  EMULATED{faster}" if description.emulated else ""
    return [
        Fact(name="service", value=f"{_engine(description)}  {description.place}{emulated}"),
        Fact(name="model", value=description.model_name),
        Fact(name="found", value=settings_text(description.incumbent, description.kind)),
        *_loader(description),
    ]


def _loader(description: Description) -> list[Fact]:
    """What decides which code runs as the service, for a person to look at before it runs as root."""
    names = (fact for fact in description.facts if fact.name == "PATH" or fact.name.startswith("LD_"))
    return [Fact(name="env", value=f"{fact.name}={fact.value}") for fact in names]


def _engine(description: Description) -> str:
    known = description.version not in {"", description.kind}
    return f"{description.kind} {description.version}" if known else description.kind


def _touches(profile: Profile, campaign: Campaign) -> list[Fact]:
    description = campaign.description
    if description.kind == "rehearsal":
        return [Fact(name="touches", value="nothing: the campaign runs in virtual time")]
    in_place = profile.engine.config_mode == "in-place"
    how = "edited in place, put back byte for byte" if in_place else "only copied; the file stays as it is"
    return [
        Fact(name="config", value=f"{description.config_path or description.place}: {how}"),
        Fact(name="starts", value="the service, once a launch; every one is stopped again"),
        *(
            Fact(name="starts", value=fact.value)
            for fact in description.facts
            if fact.name == "probing_start"
        ),
    ]


def _work(profile: Profile, space: Space) -> list[Fact]:
    workload, search = profile.workload, profile.search
    source = workload.source if isinstance(workload.source, str) else "own command"
    lines = [
        Fact(
            name="load",
            value=f"{workload.dataset.type}, {space.concurrency} clients, {workload.api}, source {source}",
        ),
        Fact(
            name="search",
            value=f"{search.strategy}, at most {search.max_launches} launches, seed {search.seed}",
        ),
    ]
    if space.blocks is not None:
        found = space.bracket()
        lines.append(
            Fact(
                name="bracket",
                value=f"{found.low} to {found.high}, start {found.start} ({found.blocks} blocks)",
            )
        )
    else:
        lines.append(Fact(name="bracket", value="from the blocks that the first launch reports"))
    return lines


def _mean_output(workload: WorkloadSection) -> float:
    output = workload.dataset.output_tokens
    return min(output.mean, workload.max_output_tokens) if output else workload.max_output_tokens * 2 / 3
