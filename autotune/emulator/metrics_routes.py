"""GET /metrics of the metrics port: Prometheus' text, when MIES_SERVICE_MONITOR_MODE is 1."""

from autotune.emulator.http_connection import HttpConnection, Request
from autotune.emulator.plane import Handler
from autotune.emulator.service import EmulatedService
from autotune.mindie_rules import interfaces, metrics
from autotune.mindie_rules.metrics import Histogram, Metric, Sample


class MetricsRoutes:
    """Answers the metrics port, when MIES_SERVICE_MONITOR_MODE is 1."""

    def __init__(self, service: EmulatedService, *, active: bool) -> None:
        self._service = service
        self._active = active

    def routes(self) -> dict[tuple[str, str], Handler]:
        """The one route."""
        return {("GET", "/metrics"): self._metrics}

    def _metrics(self, _request: Request, connection: HttpConnection, _model: str) -> None:
        if not self._active:
            connection.fail(500, interfaces.MONITOR_MODE_MESSAGE)
            return
        connection.reply(200, metrics.build_metrics(self._samples(), model_name=self._service.model.name))

    def _samples(self) -> list[Sample]:
        engine = self._service.engine
        tally = engine.tally
        scheduler = engine.scheduler
        rules = scheduler.rules
        seconds = max(1e-9, engine.clock.now())
        ended = tally.succeeded + tally.failed
        values: dict[Metric, float | Histogram] = {
            Metric.REQUEST_RECEIVED: tally.received,
            Metric.REQUEST_SUCCESS: tally.succeeded,
            Metric.REQUEST_FAILED: tally.failed,
            Metric.RUNNING: engine.running,
            Metric.WAITING: engine.waiting,
            Metric.SWAPPED: scheduler.swapped,
            Metric.PROMPT_THROUGHPUT: tally.prompt_tokens / seconds,
            Metric.GENERATION_THROUGHPUT: tally.generated_tokens / seconds,
            Metric.TTFT: tally.ttft.histogram(),
            Metric.TBT: tally.tbt.histogram(),
            Metric.E2E: tally.e2e.histogram(),
            Metric.FAILED_SHARE: tally.failed / ended if ended else 0.0,
            Metric.PROMPT_TOKENS: tally.prompt_lengths.histogram(),
            Metric.GENERATION_TOKENS: tally.reply_lengths.histogram(),
            Metric.PROMPT_TOKENS_TOTAL: tally.prompt_tokens,
            Metric.GENERATION_TOKENS_TOTAL: tally.generated_tokens,
            Metric.NPU_CACHE_USAGE: 1 - scheduler.free_blocks / rules.blocks,
            Metric.CPU_CACHE_USAGE: 0.0,
            Metric.PREFIX_CACHE_HIT_RATE: 0.0,
            Metric.PREEMPTIONS: scheduler.preemptions,
        }
        return [Sample(metric=metric, value=value) for metric, value in values.items()]
