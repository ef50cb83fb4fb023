"""Routes of the management port that tell facts and counters: /info, /v1/config, /v1/status and more."""

import time
from typing import Final

from autotune.emulator.health_routes import known, unwell
from autotune.emulator.http_connection import HttpConnection, Request
from autotune.emulator.plane import Handler
from autotune.emulator.service import EmulatedService
from autotune.mindie_rules import interfaces
from autotune.mindie_rules.interfaces import Info, JsonMetrics, ServedConfig, SlotCount, Status

_FULL_STATUS: Final = (2, 3)
"""The version from which /v1/status tells all of its numbers."""


class FactRoutes:
    """Answers what the service is and does."""

    def __init__(self, service: EmulatedService) -> None:
        self._service = service

    def routes(self) -> dict[tuple[str, str], Handler]:
        """The routes."""
        return {
            ("GET", "/info"): self._info,
            ("GET", "/v1/config"): self._config,
            ("GET", "/v1/status"): self._status,
            ("GET", "/v2/status"): self._status,
            ("GET", "/v2/models/{model}/getSlotCount"): self._slots,
            ("GET", "/metrics-json"): self._metrics_json,
        }

    def _info(self, _request: Request, connection: HttpConnection, _model: str) -> None:
        if unwell(self._service, connection):
            return
        served = self._service.served
        claimed = self._service.faults.served_max_batch_size
        info = Info(
            max_batch_size=served.rules.max_batch_size if claimed is None else claimed,
            max_prefill_tokens=served.rules.max_prefill_tokens,
            max_input_token_len=served.max_input_token_len,
            max_seq_len=served.rules.max_seq_len,
            model_name=served.model_name,
            model_dtype="float16",
            version=self._service.identity.version,
        )
        connection.reply(200, interfaces.build_info(info))

    def _config(self, _request: Request, connection: HttpConnection, _model: str) -> None:
        served = self._service.served
        config = ServedConfig(
            model_name=served.model_name,
            max_seq_len=served.rules.max_seq_len,
            npu_mem_size=served.npu_mem_size,
            cpu_mem_size=served.cpu_mem_size,
            world_size=served.world_size,
            max_output_len=served.rules.max_iter_times,
            cache_block_size=served.rules.cache_block_size,
        )
        connection.reply(200, interfaces.build_served_config(config))

    def _slots(self, _request: Request, connection: HttpConnection, model: str) -> None:
        if unwell(self._service, connection) or not known(self._service, model, connection):
            return
        scheduler = self._service.engine.scheduler
        count = SlotCount(
            total_slots=scheduler.rules.max_batch_size,
            free_slots=self._free_slots(),
            available_tokens_length=scheduler.free_blocks * scheduler.rules.cache_block_size,
        )
        connection.reply(200, interfaces.build_slot_count(count))

    def _free_slots(self) -> int:
        engine = self._service.engine
        return max(0, engine.scheduler.rules.max_batch_size - engine.running - engine.waiting)

    def _status(self, _request: Request, connection: HttpConnection, _model: str) -> None:
        if unwell(self._service, connection):
            return
        engine = self._service.engine
        scheduler = engine.scheduler
        status = Status(available_slots=self._free_slots(), available_blocks=scheduler.free_blocks)
        if (self._service.identity.major, self._service.identity.minor) >= _FULL_STATUS:
            status = Status(
                available_slots=self._free_slots(),
                available_blocks=scheduler.free_blocks,
                waiting=engine.waiting,
                running=engine.running,
                swapped=scheduler.swapped,
                free_npu_blocks=scheduler.free_blocks,
                free_cpu_blocks=scheduler.rules.cpu_blocks,
                total_npu_blocks=scheduler.rules.blocks,
                total_cpu_blocks=scheduler.rules.cpu_blocks,
            )
        connection.reply(200, interfaces.build_status(status))

    def _metrics_json(self, _request: Request, connection: HttpConnection, _model: str) -> None:
        if unwell(self._service, connection):
            return
        engine = self._service.engine
        values = JsonMetrics(
            ttft_ms=engine.tally.mean_ttft_ms,
            tbt_ms=engine.tally.mean_tbt_ms,
            waiting=engine.waiting,
            processing=engine.running,
            remaining_blocks=engine.scheduler.free_blocks,
        )
        address = self._service.served.management
        body = interfaces.build_json_metrics(
            values, address=address.host, port=address.port, unix_time=time.time()
        )
        connection.reply(200, body)
