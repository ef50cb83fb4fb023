"""Mean lengths of a workload's requests, as far as the profile tells them before anything runs."""

from autotune.campaign.estimate import Lengths
from autotune.profile.schema import WorkloadSection

_GUIDE_INPUT = 186.0
_GUIDE_OUTPUT = 346.0
"""GSM8K as the vendor's guide measured it; stands in for data sets whose lengths only the server knows."""


def lengths_of(workload: WorkloadSection) -> Lengths:
    """Mean prompt and reply in tokens, and the cap on a reply."""
    data = workload.dataset
    mean_output = data.output_tokens.mean if data.output_tokens else _GUIDE_OUTPUT
    return Lengths(
        input_tokens=data.input_tokens.mean if data.input_tokens else _GUIDE_INPUT,
        output_tokens=min(mean_output, workload.max_output_tokens),
        max_output_tokens=workload.max_output_tokens,
    )
