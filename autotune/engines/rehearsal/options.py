"""RehearsalOptions: what a rehearsed service is made of, taken from a profile or given one by one."""

from dataclasses import dataclass

from autotune.errors import UsageError
from autotune.profile.schema import DatasetSection, EngineSection, LengthSection, Profile, WorkloadSection
from autotune.simulator.lengths import Lengths, LengthShape, synthetic_lengths
from autotune.simulator.noise import QUIET, Noise
from autotune.simulator.presets import Preset, preset


@dataclass(frozen=True, kw_only=True, slots=True)
class RehearsalOptions:
    """Everything that decides the readings; the same options give the same readings."""

    preset: Preset
    lengths: Lengths
    max_batch_size: int = 200
    """The incumbent's."""
    launch_noise: float = 0.02
    """Relative standard deviation of the speed from launch to launch."""
    noise: Noise = QUIET
    """Within a launch."""
    seed: int = 1
    start_seconds: float = 120.0
    warm_up_seconds: float = 5.0
    stop_seconds: float = 5.0
    out_of_memory_from: int | None = None
    """Launches with this max_batch_size or more do not start."""
    max_link_num: int | None = 1000
    first_launch: int = 0
    """Launches that were made before, by a campaign that goes on: their noise is not used again."""

    def __post_init__(self) -> None:
        rules = self.preset.rules
        if rules.blocks_for(self.lengths.longest) >= rules.blocks:
            raise UsageError(
                f"requests of up to {self.lengths.longest} tokens do not fit into {rules.blocks} KV blocks",
                hint="raise engine.blocks or lower the lengths of the workload",
            )


def options_from_profile(profile: Profile) -> RehearsalOptions:
    """Options for a whole profile. Raises UsageError for an unknown preset or lengths that never fit."""
    return options_from(profile.engine, profile.workload, seed=profile.search.seed)


def options_from(engine: EngineSection, workload: WorkloadSection, *, seed: int) -> RehearsalOptions:
    """Options from the sections that matter."""
    chosen = preset(engine.preset).with_blocks(engine.blocks)
    return RehearsalOptions(
        preset=chosen,
        lengths=synthetic_lengths(_shape(workload, chosen.shape), seed=seed),
        max_batch_size=engine.max_batch_size,
        launch_noise=engine.noise,
        noise=chosen.noise if engine.noise else QUIET,
        seed=seed,
        start_seconds=engine.start_seconds,
    )


def _shape(workload: WorkloadSection, default: LengthShape) -> LengthShape:
    """The profile's lengths; a data set of texts is stood in for by the preset's own lengths."""
    data: DatasetSection = workload.dataset
    if data.input_tokens is None or data.output_tokens is None:
        return default
    longest = min(data.output_tokens.max, workload.max_output_tokens)
    return LengthShape(
        input_tokens=data.input_tokens.mean,
        max_input_tokens=data.input_tokens.max if _is_fixed(data.input_tokens) else None,
        output_tokens=min(data.output_tokens.mean, longest),
        max_output_tokens=longest,
        input_spread=0.0 if _is_fixed(data.input_tokens) else default.input_spread,
        output_spread=0.0 if _is_fixed(data.output_tokens) else default.output_spread,
    )


def _is_fixed(length: LengthSection) -> bool:
    return length.min == length.max
