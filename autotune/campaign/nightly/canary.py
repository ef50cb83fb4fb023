"""Canary: a short load shows whether production serves the new setting before traffic comes back."""

from dataclasses import dataclass

from autotune.campaign.production import ProductionService
from autotune.campaign.sides.side import HostSide
from autotune.engines.mindie.addresses import addresses_of
from autotune.engines.mindie.config_file import read as read_config
from autotune.errors import LaunchCause, LaunchFailed
from autotune.model.campaign import Reading
from autotune.model.measurement import Invalid, InvalidReason
from autotune.model.protocols import LevelRequest, Listener
from autotune.model.service import Blocks, Counters, Endpoint

MARGIN = 0.15
"""Surely slower than it was proven by more than this, and it is taken back."""
HALF_WIDTH = 0.05
CAP_SECONDS = 90.0
"""Seconds of the service's clock."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ServedByProduction:
    """Production as a `Service`: it was started by its own unit, and is not ours."""

    endpoint: Endpoint
    production: ProductionService
    blocks: Blocks | None = None

    def counters(self) -> Counters | None:
        """It is not asked."""
        return None

    def check(self) -> None:
        """Raise LaunchFailed when it no longer answers."""
        if not self.production.handle().answers():
            raise LaunchFailed(LaunchCause.CRASHED, "production does not answer any more")


def check_served(
    side: HostSide, production: ProductionService, listener: Listener, *, concurrency: int, proven: Reading
) -> None:
    """Put a short load on it. Raises LaunchFailed when it dies or is clearly slower than was proven."""
    addresses = addresses_of(read_config(production.config_path).document, production.environment)
    endpoint = Endpoint(
        url=addresses.business,
        model_name=side.engine.describe().model_name,
        management_url=addresses.management,
    )
    service = ServedByProduction(endpoint=endpoint, production=production)
    request = LevelRequest(
        concurrency=concurrency,
        half_width=HALF_WIDTH,
        cap_seconds=CAP_SECONDS,
        at_once=proven.settings.max_batch_size,
    )
    side.source.warm_up(service)
    level = side.source.measure(service, request, listener)
    service.check()
    if isinstance(level, Invalid):
        if level.reason is InvalidReason.TOO_SHORT:
            return
        raise LaunchFailed(LaunchCause.CRASHED, f"the load on it is not valid: {level.reason.value}")
    if level.tokens_per_second * (1.0 + level.half_width) < (1.0 - MARGIN) * proven.tokens_per_second:
        raise LaunchFailed(
            LaunchCause.UNKNOWN,
            f"it reads {level.tokens_per_second:.0f} token/s "
            f"and was proven at {proven.tokens_per_second:.0f}",
        )
