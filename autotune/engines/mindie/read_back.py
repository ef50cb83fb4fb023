"""Read back: what the running service says of itself, against what was written for it."""

from dataclasses import dataclass

from autotune.engines.mindie.addresses import Addresses
from autotune.engines.mindie.control import ControlPlane
from autotune.errors import LaunchCause, LaunchFailed
from autotune.mindie_rules.bounds import Version, parse_version
from autotune.mindie_rules.interfaces import ENGINE, INFO, STATUS, read_engine_info, read_info, read_status
from autotune.mindie_rules.metrics import read_metrics
from autotune.model.service import Blocks, BlockSource, Counters
from autotune.model.settings import Settings

_DOCUMENTED = Version(major=2, minor=3)
_NAMES = ("maxBatchSize", "maxPrefillBatchSize", "maxPrefillTokens")


@dataclass(frozen=True, kw_only=True, slots=True)
class Served:
    """The live values, None where this version does not tell."""

    version: str | None = None
    max_batch_size: int | None = None
    max_prefill_batch_size: int | None = None
    max_prefill_tokens: int | None = None


def served(control: ControlPlane, addresses: Addresses) -> Served:
    """Ask /info of the management interface and /v2 of the business interface."""
    info_reply = control.get(f"{addresses.management}{INFO}")
    info = read_info(info_reply.body) if info_reply and info_reply.ok else None
    engine_reply = control.get(f"{addresses.business}{ENGINE}")
    engine = read_engine_info(engine_reply.body) if engine_reply and engine_reply.ok else None
    return Served(
        version=engine.version if engine else None,
        max_batch_size=info.max_batch_size if info else None,
        max_prefill_batch_size=engine.max_prefill_batch_size if engine else None,
        max_prefill_tokens=engine.max_prefill_tokens if engine else None,
    )


def check_served(found: Served, written: Settings, *, before: Settings, version: str) -> None:
    """Raise LaunchFailed(READ_BACK) when the service serves another value than was written.

    maxPrefillBatchSize 0 means "as maxBatchSize", so it is compared as that. Where the version is older than
    2.3 or unknown, nobody has documented what these replies mean: there only a service that goes on with the
    value of `before` counts.
    """
    known = parse_version(version)
    sure = known is not None and known >= _DOCUMENTED
    rows = zip(_NAMES, _compared(written), _compared(before), _live(found), strict=True)
    differing = tuple(
        f"{name}: {wanted} was written, {live} is served"
        for name, wanted, old, live in rows
        if wanted is not None and live is not None and wanted != live and (sure or live == old)
    )
    if differing:
        message = f"the service does not serve what was written: {'; '.join(differing)}"
        raise LaunchFailed(LaunchCause.READ_BACK, message, lines=differing)


def _compared(settings: Settings) -> tuple[int | None, int | None, int | None]:
    prefill = settings.max_prefill_batch_size
    return (
        settings.max_batch_size,
        settings.max_batch_size if prefill == 0 else prefill,
        settings.max_prefill_tokens,
    )


def _live(found: Served) -> tuple[int | None, int | None, int | None]:
    return found.max_batch_size, found.max_prefill_batch_size, found.max_prefill_tokens


def blocks_from_status(control: ControlPlane, addresses: Addresses) -> Blocks | None:
    """Ask /v1/status for the KV blocks; None where the version does not tell."""
    reply = control.get(f"{addresses.management}{STATUS}")
    status = read_status(reply.body) if reply and reply.ok else None
    if status is None or not status.total_npu_blocks:
        return None
    return Blocks(count=status.total_npu_blocks, source=BlockSource.STATUS)


def counters(control: ControlPlane, addresses: Addresses, *, monitored: bool) -> Counters | None:
    """Ask for the counters: /v1/status, and /metrics where monitoring is on; None when nobody tells."""
    reply = control.get(f"{addresses.management}{STATUS}")
    status = read_status(reply.body) if reply and reply.ok else None
    metrics_reply = control.get(f"{addresses.metrics}/metrics") if monitored and addresses.metrics else None
    metrics = read_metrics(metrics_reply.body) if metrics_reply and metrics_reply.ok else None
    if status is None and metrics is None:
        return None
    return Counters(
        running=status.running if status else metrics.running if metrics else None,
        waiting=status.waiting if status else metrics.waiting if metrics else None,
        preemptions=metrics.preemptions if metrics else None,
        free_blocks=status.free_npu_blocks if status else None,
        total_blocks=status.total_npu_blocks if status else None,
    )
