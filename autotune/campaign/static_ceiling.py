"""Static ceiling: what the bare model reached in a static test, as a fact of the campaign."""

from autotune.errors import UsageError
from autotune.load.sources.static_test import ceiling_of, read_static_test
from autotune.model.service import Fact
from autotune.profile.schema import Profile
from autotune.report.limits import STATIC_TEST


def static_test(profile: Profile) -> tuple[Fact, ...]:
    """The fastest case of `workload.static_output`; nothing without one. Raises UsageError."""
    path = profile.workload.static_output
    if path is None:
        return ()
    try:
        text = path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise UsageError(f"workload.static_output {path}: {error.strerror}", hint=f"ls -l {path}") from error
    best = ceiling_of(read_static_test(text))
    lengths = f", {best.input_tokens} tokens in, {best.output_tokens} out" if best.output_tokens else ""
    value = f"{best.tokens_per_second:.1f} token/s at batch {best.batch_size}{lengths}"
    return (Fact(name=STATIC_TEST, value=value),)
