"""Warm-up: a few short requests that are not measured; they prove that the service answers as it should."""

import time
from dataclasses import replace

from autotune.errors import LaunchCause, LaunchFailed
from autotune.load.client.plan import Target
from autotune.load.ends import ForRequests
from autotune.load.load_test import LoadTest, run_load_test
from autotune.load.workload.workload import Workload
from autotune.model.protocols import Service

_REQUESTS = 8
_CLIENTS = 4
_TOKENS = 16
_TRIES = 3
_PAUSE_SECONDS = 1.0
_PASS = 1_000_000
"""A pass of the data set that no test reaches, so that its salt is used by nothing else."""


def warm_up(service: Service, target: Target, workload: Workload, *, time_scale: float) -> None:
    """Send the requests; the same in every launch.

    Raises LaunchFailed when the service is gone, or answers none of them well.
    """
    test = LoadTest(
        target=target,
        workload=replace(workload, max_output_tokens=min(_TOKENS, workload.max_output_tokens)),
        concurrency=_CLIENTS,
        end=ForRequests(count=_REQUESTS),
        time_scale=time_scale,
        first_request=_PASS * len(workload),
    )
    reading = run_load_test(test)
    for _ in range(_TRIES - 1):
        if reading.completed == _REQUESTS:
            return
        service.check()
        time.sleep(_PAUSE_SECONDS)
        reading = run_load_test(test)
    if reading.completed == _REQUESTS:
        return
    service.check()
    why = "; ".join(reading.details) or (reading.fault.detail if reading.fault else "short replies")
    raise LaunchFailed(LaunchCause.UNKNOWN, f"the service does not answer as it should: {why}")
