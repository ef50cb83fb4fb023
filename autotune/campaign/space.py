"""From profile and description to the search space and its options."""

from autotune.campaign.concurrency import auto_concurrency
from autotune.campaign.estimate import Lengths
from autotune.errors import UsageError
from autotune.model.limit import LimitMetric
from autotune.model.service import Description
from autotune.model.settings import Settings
from autotune.profile.schema import Profile
from autotune.search.options import Options
from autotune.search.space import Space
from autotune.sizing.bracket import request_blocks

_DEFAULT_INPUT_LIMIT = 2048
_DEFAULT_MOST = 5000


def space_of(profile: Profile, description: Description, lengths: Lengths, *, blocks: int | None) -> Space:
    """What may be tried. `blocks` is an estimate; what a launch reports wins later.

    Raises UsageError when nothing can be tried.
    """
    cap = min(lengths.max_output_tokens, description.max_iter_times or lengths.max_output_tokens)
    request = request_blocks(
        input_tokens=lengths.input_tokens,
        output_tokens=min(lengths.output_tokens, cap),
        max_output_tokens=cap,
        block_size=description.block_size,
    )
    high = max(1, blocks // request.min_blocks) if blocks else None
    return Space(
        incumbent=description.incumbent,
        request=request,
        mean_input_tokens=lengths.input_tokens,
        max_input_token_len=description.max_input_token_len or _DEFAULT_INPUT_LIMIT,
        bounds_low=description.bounds_low,
        bounds_high=description.bounds_high or _DEFAULT_MOST,
        concurrency=_concurrency(profile, description, high),
        grid=profile.search.grid or description.grid,
        blocks=blocks,
        shared=_shared(profile, description),
        block_size=description.block_size,
        max_output_tokens=cap,
        lengths_assumed=profile.workload.dataset.input_tokens is None,
        times_from_means=_times_wanted(profile, description),
        tune_prefill=description.kind != "vllm",
    )


def options_of(profile: Profile, *, max_launches: int) -> Options:
    """How the search is to be done."""
    return Options(
        step=profile.search.step,
        max_launches=max_launches,
        knobs=profile.search.knobs,
        seed=profile.search.seed,
        scout_half_width=profile.measuring.scout_half_width,
        final_half_width=profile.measuring.final_half_width,
        limits=profile.objective.limits,
    )


def _concurrency(profile: Profile, description: Description, high: int | None) -> int:
    wanted = profile.workload.concurrency
    if wanted == "auto":
        return auto_concurrency(description, high)
    if isinstance(wanted, int):
        if description.max_link_num is not None and wanted > description.max_link_num:
            raise UsageError(
                f"workload.concurrency {wanted} is above the service's maxLinkNum {description.max_link_num}",
                hint="lower it, or raise maxLinkNum too: --set engine.raise_max_link_num=true",
            )
        return wanted
    raise UsageError(
        "workload.concurrency: batch-1 changes the load with every launch; such readings can't be compared",
        hint="concurrency: auto",
    )


def _shared(profile: Profile, description: Description) -> Settings | None:
    """Give all candidates one supportSelectBatch: true, or false where the first token is limited.

    So the vendor's guide sets it in its three modes.

    A maxLinkNum that is raised for the clients belongs to what is proven, so it is in the winner too.
    """
    if description.kind == "vllm":
        return None
    incumbent = description.incumbent
    raised = profile.engine.raise_max_link_num and profile.workload.concurrency == description.max_link_num
    return Settings(
        max_batch_size=incumbent.max_batch_size,
        support_select_batch=not _first_token_limited(profile),
        max_link_num=description.max_link_num if raised else None,
    )


def _times_wanted(profile: Profile, description: Description) -> bool:
    """Times from measured means, unless prefill goes first anyway or the service as found has its own.

    A service that already runs with supportSelectBatch true was given its times on purpose: they stay.
    """
    if description.kind == "vllm" or _first_token_limited(profile):
        return False
    return not description.incumbent.support_select_batch


def _first_token_limited(profile: Profile) -> bool:
    return any(limit.metric is LimitMetric.TTFT for limit in profile.objective.limits)
