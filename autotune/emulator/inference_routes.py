"""Routes of the business port that generate: all inference interfaces."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from autotune.emulator.health_routes import known
from autotune.emulator.http_connection import HttpConnection, Request
from autotune.emulator.parameters import invalid
from autotune.emulator.plane import Handler
from autotune.emulator.protocols import native, openai, tgi, triton, triton_tokens, vllm
from autotune.emulator.protocols.reply import Inquiry
from autotune.emulator.responses import Rejected, dump
from autotune.emulator.service import EmulatedService, enqueue_error
from autotune.errors import UsageError

Body = Mapping[str, Any]
_NEITHER = (
    '{"Error": "`inputs` or `prompt` must be necessary and data type must be string. Additionally, the '
    'request body must be valid json", "error_type": "validation"}'
)
_COMPLETIONS_SINCE = 2
"""The major version."""
_UNREADABLE = "Failed to parse request context to json"


def json_object(body: bytes, message: str = _UNREADABLE) -> Body:
    """The JSON object of a request's body. Raises Rejected with this message when there is none."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise invalid(message) from error
    if not isinstance(value, dict):
        raise invalid(message)
    return value


class InferenceRoutes:
    """Takes requests and submits them to the engine."""

    def __init__(self, service: EmulatedService) -> None:
        self._service = service
        self._count = 0

    def routes(self) -> dict[tuple[str, str], Handler]:
        """The routes; /v1/completions came with 2.0."""
        routes: dict[tuple[str, str], Handler] = {
            ("POST", "/"): self._at_root,
            ("POST", "/generate"): self._generate,
            ("POST", "/generate_stream"): self._tgi_stream,
            ("POST", "/v1/chat/completions"): self._chat,
            ("POST", "/v1/completions"): self._completion,
            ("POST", "/infer"): self._native,
            ("POST", "/infer_token"): self._native,
            ("POST", "/v2/models/{model}/generate"): self._triton,
            ("POST", "/v2/models/{model}/generate_stream"): self._triton_stream,
            ("POST", "/v2/models/{model}/infer"): self._triton_tokens,
            ("POST", "/v2/models/{model}/stopInfer"): self._stop_infer,
        }
        if self._service.identity.major < _COMPLETIONS_SINCE:
            del routes["POST", "/v1/completions"]
        return routes

    # --- inference

    def _serve(self, request: Request, connection: HttpConnection, read: Callable[[Body], Inquiry]) -> None:
        service = self._service
        tally = service.engine.tally
        tally.received += 1
        try:
            stream = service.take(self._inquiry(request, read), connection)
        except Rejected as rejected:
            tally.failed += 1
            connection.fail(rejected.status, rejected.message)
            return
        except UsageError as error:
            tally.failed += 1
            connection.fail(424, enqueue_error(error))
            return
        connection.stream = stream
        connection.on_lost = service.engine.cancel
        if stream.streaming:
            connection.open_stream()

    def _inquiry(self, request: Request, read: Callable[[Body], Inquiry]) -> Inquiry:
        body = json_object(request.body)
        if self._service.stopped:
            raise Rejected(503, "The service has been stopped")
        if self._service.faults.not_found:
            raise Rejected(404, "Not Found")
        if self._service.strikes():
            raise Rejected(self._service.faults.error_status, "Failed to get engine response.")
        return read(body)

    def _next_identity(self) -> str:
        """The id that the server gives a request."""
        self._count += 1
        return f"endpoint_common_{self._count}"

    def _now(self) -> float:
        return self._service.engine.clock.now()

    def _at_root(self, request: Request, connection: HttpConnection, _model: str) -> None:
        def read(body: Body) -> Inquiry:
            stream = body.get("stream")
            if stream is not None and not isinstance(stream, bool):
                raise invalid("Stream must be boolean type.")
            return tgi.read(
                body, self._service.model, self._next_identity(), stream=bool(stream), listed=not stream
            )

        self._serve(request, connection, read)

    def _generate(self, request: Request, connection: HttpConnection, _model: str) -> None:
        def read(body: Body) -> Inquiry:
            model = self._service.model
            if body.get("prompt") is not None:
                return vllm.read(body, model, self._next_identity())
            if body.get("inputs") is not None:
                return tgi.read(body, model, self._next_identity(), stream=False)
            raise invalid(_NEITHER)

        self._serve(request, connection, read)

    def _tgi_stream(self, request: Request, connection: HttpConnection, _model: str) -> None:
        model = self._service.model
        self._serve(
            request, connection, lambda body: tgi.read(body, model, self._next_identity(), stream=True)
        )

    def _chat(self, request: Request, connection: HttpConnection, _model: str) -> None:
        model = self._service.model
        self._serve(
            request,
            connection,
            lambda body: openai.read_chat(body, model, self._next_identity(), now=self._now()),
        )

    def _completion(self, request: Request, connection: HttpConnection, _model: str) -> None:
        model = self._service.model
        self._serve(
            request,
            connection,
            lambda body: openai.read_completion(body, model, self._next_identity(), now=self._now()),
        )

    def _native(self, request: Request, connection: HttpConnection, _model: str) -> None:
        model = self._service.model
        self._serve(
            request, connection, lambda body: native.read(body, model, self._next_identity(), now=self._now())
        )

    def _triton(self, request: Request, connection: HttpConnection, name: str) -> None:
        self._triton_text(request, connection, name, stream=False)

    def _triton_stream(self, request: Request, connection: HttpConnection, name: str) -> None:
        self._triton_text(request, connection, name, stream=True)

    def _triton_text(self, request: Request, connection: HttpConnection, name: str, *, stream: bool) -> None:
        if not known(self._service, name, connection):
            return
        model = self._service.model
        self._serve(
            request,
            connection,
            lambda body: triton.read(body, model, self._next_identity(), stream=stream, now=self._now()),
        )

    def _triton_tokens(self, request: Request, connection: HttpConnection, name: str) -> None:
        if known(self._service, name, connection):
            model = self._service.model
            self._serve(
                request, connection, lambda body: triton_tokens.read(body, model, self._next_identity())
            )

    def _stop_infer(self, request: Request, connection: HttpConnection, name: str) -> None:
        if not known(self._service, name, connection):
            return
        try:
            body = json_object(request.body, "Failed to parse context to json body.")
            identity = body.get("id")
            if not isinstance(identity, str):
                raise invalid("Not found id." if "id" not in body else "id must be string type.")
        except Rejected as rejected:
            connection.fail(rejected.status, rejected.message)
            return
        if self._service.stop_request(identity):
            connection.reply(200, dump(body))
        else:
            connection.fail(404, f"RequestId is {identity} not found.")
