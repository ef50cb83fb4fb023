"""Routes of the business port that tell of the models, and the tokenizer."""

from typing import Any

from autotune.emulator import ask
from autotune.emulator.health_routes import known
from autotune.emulator.http_connection import HttpConnection, Request
from autotune.emulator.inference_routes import json_object
from autotune.emulator.parameters import invalid
from autotune.emulator.plane import Handler
from autotune.emulator.responses import Rejected, dump
from autotune.emulator.service import EmulatedService
from autotune.mindie_rules import interfaces
from autotune.mindie_rules.interfaces import EngineInfo


class ModelRoutes:
    """Answers what can be asked of the models."""

    def __init__(self, service: EmulatedService) -> None:
        self._service = service

    def routes(self) -> dict[tuple[str, str], Handler]:
        """The routes."""
        return {
            ("POST", "/v1/tokenizer"): self._tokenizer,
            ("GET", "/v1/models"): self._models,
            ("GET", "/v1/models/{model}"): self._one_model,
            ("GET", "/v2"): self._engine,
            ("GET", "/v2/models/{model}"): self._triton_model,
            ("GET", "/v2/models/{model}/config"): self._triton_config,
        }

    def _tokenizer(self, request: Request, connection: HttpConnection, _model: str) -> None:
        try:
            body = json_object(request.body, "Req body converts to json fail.")
            text = body.get("inputs")
            if not isinstance(text, str) or not text:
                raise invalid("Inputs in request body is invalid.")
        except Rejected as rejected:
            connection.fail(rejected.status, rejected.message)
            return
        count = ask.count_tokens(text)
        tokens = [text[4 * index : 4 * index + 4] for index in range(count)]
        connection.reply(200, dump({"token_number": count, "tokens": tokens}))

    def _models(self, _request: Request, connection: HttpConnection, _model: str) -> None:
        connection.reply(200, dump({"object": "list", "data": [self._model_facts()]}))

    def _one_model(self, _request: Request, connection: HttpConnection, name: str) -> None:
        if known(self._service, name, connection):
            connection.reply(200, dump(self._model_facts()))

    def _model_facts(self) -> dict[str, Any]:
        return {
            "id": self._service.model.name,
            "object": "model",
            "created": int(self._service.started_wall),
            "owned_by": "MindIE Server",
        }

    def _engine(self, _request: Request, connection: HttpConnection, _model: str) -> None:
        served = self._service.served
        rules = served.rules
        info = EngineInfo(
            version=self._service.identity.version,
            max_iter_times=rules.max_iter_times,
            prefill_policy_type=served.prefill_policy_type,
            decode_policy_type=served.decode_policy_type,
            max_prefill_batch_size=rules.prefill_batch,
            max_prefill_tokens=rules.max_prefill_tokens,
        )
        connection.reply(200, interfaces.build_engine_info(info))

    def _triton_model(self, _request: Request, connection: HttpConnection, name: str) -> None:
        if not known(self._service, name, connection):
            return
        tensor = {"shape": [-1], "datatype": "UINT32"}
        body = {
            "name": name,
            "platform": "MindIE Server",
            "inputs": [{"name": "input0", **tensor}],
            "outputs": [{"name": "output0", **tensor}],
        }
        connection.reply(200, dump(body))

    def _triton_config(self, _request: Request, connection: HttpConnection, name: str) -> None:
        if not known(self._service, name, connection):
            return
        served = self._service.served
        body = {
            "model_name": name,
            "input_datatype": "INT64",
            "output_datatype": "INT64",
            "max_seq_len": served.rules.max_seq_len,
            "npu_mem_size": served.npu_mem_size or -1,
            "cpu_mem_size": served.cpu_mem_size,
            "world_size": served.world_size,
            "model_weight_path": served.model_path.rstrip("/").rpartition("/")[2],
            "model_instance_type": served.instance_type,
        }
        connection.reply(200, dump(body))
