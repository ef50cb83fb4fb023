"""Traffic: a live service is touched only when its traffic was moved away, or when there is none."""

from autotune.campaign.production import ProductionService, commands_of
from autotune.engines.mindie.addresses import addresses_of
from autotune.engines.mindie.config_file import read as read_config
from autotune.engines.mindie.control import ControlPlane
from autotune.engines.mindie.read_back import counters
from autotune.errors import Busy
from autotune.model.protocols import Clock

LOOKS = 5
_BETWEEN_SECONDS = 0.4
_HINT = "engine: {service: {before: [...], after: [...]}} moves the traffic away and back"


def refuse_traffic(production: ProductionService, clock: Clock) -> None:
    """Raise Busy when requests are in a live service that no hook takes out of its load balancer.

    A service that does not say how many it has counts as one with traffic.
    """
    commands = commands_of(production.section)
    if not production.is_live() or commands is None or commands.before:
        return
    addresses = addresses_of(read_config(production.config_path).document, production.environment)
    with ControlPlane(production.tls) as control:
        for _ in range(LOOKS):
            found = counters(control, addresses, monitored=True)
            if found is None or found.running is None:
                raise Busy("the live service does not say whether it has traffic", hint=_HINT)
            requests = found.running + (found.waiting or 0)
            if requests:
                raise Busy(f"the live service has traffic: {requests} requests are in it", hint=_HINT)
            clock.sleep(_BETWEEN_SECONDS)
