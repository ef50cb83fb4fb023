"""A source of load in under 100 lines: whole replies from threads of the standard library, in rounds."""

import json
import math
import statistics
import time
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from autotune.errors import LaunchCause, LaunchFailed
from autotune.model.measurement import Invalid, InvalidReason, Level, Measurement
from autotune.model.protocols import LevelRequest, Listener, Service
from autotune.statistics.intervals import batch_means_interval

TOKENS = 8
ROUNDS = 4


class SmallSource:
    """Each round sends as many requests at once as the level asks for; a round is a batch of the interval."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open  # no proxies

    def warm_up(self, service: Service) -> None:
        """One request that is not measured."""
        try:
            self._ask(service)
        except OSError as error:
            raise LaunchFailed(LaunchCause.UNKNOWN, f"no answer: {error}") from error

    def measure(self, service: Service, request: LevelRequest, listener: Listener) -> Level:
        """Read one level; whatever fails makes it Invalid, never a number."""
        del listener  # a longer source would tell its progress
        with ThreadPoolExecutor(max_workers=request.concurrency) as workers:
            began = self._now()
            speeds = []
            for _ in range(ROUNDS):
                if self._now() - began > request.cap_seconds:
                    break
                try:
                    speeds.append(self._round(service, request.concurrency, workers))
                except OSError as error:
                    return _invalid(request, InvalidReason.REQUESTS_FAILED, str(error))
        if len(speeds) < ROUNDS:
            return _invalid(request, InvalidReason.TOO_SHORT, f"{len(speeds)} rounds")
        interval = batch_means_interval(speeds)
        requests = ROUNDS * request.concurrency
        return Measurement(
            concurrency=request.concurrency,
            tokens_per_second=interval.mean,
            half_width=interval.relative if math.isfinite(interval.relative) else 1.0,
            whole_run_tokens_per_second=statistics.fmean(speeds),
            seconds=self._now() - began,
            requests=requests,
            completed=requests,
            output_tokens=requests * TOKENS,
            mean_output_tokens=float(TOKENS),
            concurrency_reached=request.concurrency,
            batch_means=tuple(speeds),
        )

    def _round(self, service: Service, concurrency: int, workers: ThreadPoolExecutor) -> float:
        began = self._now()
        tokens = sum(workers.map(lambda _: self._ask(service), range(concurrency)))
        return tokens / (self._now() - began)

    def _ask(self, service: Service) -> int:
        body = {
            "model": service.endpoint.model_name,
            "prompt": "a b c",
            "max_tokens": TOKENS,
            "stream": False,
        }
        request = urllib.request.Request(
            f"{service.endpoint.url}/v1/completions",
            data=json.dumps(body).encode(),
            headers={"Content-Type": "application/json", "Connection": "close"},
        )
        with self._open(request, timeout=30) as reply:
            return int(json.load(reply)["usage"]["completion_tokens"])


def _invalid(request: LevelRequest, reason: InvalidReason, detail: str) -> Invalid:
    return Invalid(concurrency=request.concurrency, reason=reason, detail=detail)
