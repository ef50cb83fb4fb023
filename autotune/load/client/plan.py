"""LoadPlan: everything that one load test needs to know before it starts."""

from dataclasses import dataclass

from autotune.load.client.address import Address
from autotune.load.client.api import Api
from autotune.load.client.tls import TlsFiles
from autotune.load.workload.workload import Workload


@dataclass(frozen=True, kw_only=True, slots=True)
class Patience:
    """How long each phase of a request may take, in seconds of the host's clock."""

    connect: float = 10.0
    first_token: float = 900.0
    stall: float = 600.0
    """Between two events of one request; as MindIE's tokenTimeout, since a request that was preempted waits
    behind whatever is queued."""
    total: float = 3600.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """The service, and how it is spoken to."""

    address: Address
    api: Api
    model: str
    headers: tuple[tuple[str, str], ...] = ()
    """May hold secrets: never printed, never stored."""
    tls: TlsFiles | None = None
    streaming: bool = True

    def __repr__(self) -> str:
        """Without the headers."""
        return f"Target({self.address!r}, api={self.api.name}, model={self.model})"


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadPlan:
    """One load test: what is sent where, how fast, for how long."""

    target: Target
    workload: Workload
    concurrency: int
    """Closed loop: clients. Open loop: most requests at once."""
    rate: float | None = None
    """Open loop: requests a second of the host's clock."""
    poisson: bool = True
    requests: int | None = None
    """Send so many and wait for all of them; None sends until it is stopped."""
    ramp_seconds: float = 0.0
    """Time over which the clients start, host's clock."""
    first_request: int = 0
    """Place in the workload's endless row where this test begins."""
    request_step: int = 1
    """Distance of the requests in that row: several processes share it."""
    staggered: int = 0
    """So many of the first requests ask for a part of their tokens only, from none to all."""
    bucket_seconds: float = 0.5
    """Host's clock."""
    slice_seconds: float = 5.0
    """Host's clock: how finely event gaps are kept apart."""
    patience: Patience = Patience()
    seed: int = 1
