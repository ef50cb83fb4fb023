"""Supply: the next request as bytes, made from templates so that it costs nothing between two replies."""

import json
import math
from collections import deque
from dataclasses import dataclass, replace

from autotune.load.client.address import Address
from autotune.load.client.api import Api, Ask, ignores_eos
from autotune.load.client.message import Message
from autotune.load.workload.workload import Workload

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_KEPT_BYTES = 64 * 1024 * 1024
"""Templates beyond are made again each time."""
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
"""Its multiples, without their whole part, lie evenly between 0 and 1 however many there are."""
_PLACE = "\u0001salt\u0001"
_PLACE_IN_JSON = b"\\u0001salt\\u0001"


@dataclass(frozen=True, kw_only=True, slots=True)
class Template:
    """A request's body before and after the place of the salt."""

    before: bytes
    after: bytes
    plain: Message
    """The whole request without salt."""


class Supply:
    """Hands out requests in the workload's order, `step` apart, so that several processes share one row."""

    def __init__(
        self,
        *,
        workload: Workload,
        api: Api,
        address: Address,
        model: str,
        headers: tuple[tuple[str, str], ...] = (),
        streaming: bool = True,
        first: int = 0,
        step: int = 1,
        staggered: int = 0,
        count: int | None = None,
    ) -> None:
        self._workload = workload
        self._api = api
        self._model = model
        self._streaming = streaming
        self._ignore_eos = ignores_eos(workload, api)
        self._next = first
        self._step = step
        self._staggered = staggered
        self._opening: deque[Message] = deque()
        self._left = count
        self._head = _head(address, api.path(model, streaming=streaming), headers, streaming=streaming)
        self._kept: dict[int, Template] = {}
        self._kept_bytes = 0
        self._turn, self._salt = 0, b""

    def prepare(self, count: int) -> None:
        """Make the staggered requests, and templates of the next ones, before the clock starts."""
        staggered = range(self._next, self._next + self._staggered * self._step, self._step)
        self._opening = deque(self._part(index) for index in staggered)
        for index in range(self._next, self._next + count * self._step, self._step):
            self._template(index % len(self._workload))

    def take(self) -> Message | None:
        """The next request; None when no more shall be sent."""
        if self._left is not None:
            if self._left <= 0:
                return None
            self._left -= 1
        index = self._next
        self._next += self._step
        if self._opening:
            return self._opening.popleft()
        return self._whole(index)

    def _whole(self, index: int) -> Message:
        turn, place = divmod(index, len(self._workload))
        salt = self._salt_of(turn)
        if salt and self._workload.prompts[place].token_ids:
            return self._made(place, turn).plain
        return self._salted(self._kept.get(place) or self._template(place), salt)

    def _part(self, index: int) -> Message:
        """A request that asks for a part of its tokens."""
        turn, place = divmod(index, len(self._workload))
        template = self._made(place, turn, share=index * _GOLDEN % 1.0)
        if self._workload.prompts[place].token_ids:
            return template.plain
        return self._salted(template, self._salt_of(turn))

    def _salt_of(self, turn: int) -> bytes:
        if turn != self._turn:
            self._turn, self._salt = turn, self._workload.salt(turn).encode()
        return self._salt

    def _salted(self, template: Template, salt: bytes) -> Message:
        before, after, plain = template.before, template.after, template.plain
        if not salt:
            return plain
        length = len(before) + len(salt) + len(after)
        return Message(
            data=b"%bContent-Length: %d\r\n\r\n%b%b%b" % (self._head, length, before, salt, after),
            asked_tokens=plain.asked_tokens,
            ignore_eos=plain.ignore_eos,
            streaming=plain.streaming,
            prompt_tokens=plain.prompt_tokens,
        )

    def _template(self, place: int) -> Template:
        kept = self._kept.get(place)
        if kept is None:
            kept = self._made(place, 0)
            if self._kept_bytes < _KEPT_BYTES:
                self._kept[place] = kept
                self._kept_bytes += 2 * len(kept.plain.data)
        return kept

    def _made(self, place: int, turn: int, *, share: float = 1.0) -> Template:
        workload = self._workload
        prompt = workload.prompts[place]
        if prompt.token_ids:
            prompt = workload.prompt(place + turn * len(workload))
        else:
            prompt = replace(prompt, text=_PLACE + prompt.text)
        asked = max(1, math.ceil(share * workload.asked_tokens(place)))
        ask = Ask(
            prompt=prompt,
            output_tokens=asked,
            sampling=workload.sampling,
            model=self._model,
            streaming=self._streaming,
        )
        body = _encode(self._api.document(ask)).encode("utf-8", "replace")
        before, _, after = body.partition(_PLACE_IN_JSON)
        length = len(before) + len(after)
        plain = Message(
            data=b"%bContent-Length: %d\r\n\r\n%b%b" % (self._head, length, before, after),
            asked_tokens=asked,
            ignore_eos=self._ignore_eos,
            streaming=self._streaming,
            prompt_tokens=prompt.input_tokens,
        )
        return Template(before=before, after=after, plain=plain)


def _head(address: Address, path: str, headers: tuple[tuple[str, str], ...], *, streaming: bool) -> bytes:
    """Everything before Content-Length. No Accept-Encoding: a compressed stream comes in lumps."""
    lines = [
        f"POST {address.path}{path} HTTP/1.1",
        f"Host: {address.host_header}",
        f"Accept: {'text/event-stream, application/json' if streaming else 'application/json'}",
        "Content-Type: application/json",
        *(f"{name}: {value}" for name, value in headers),
    ]
    return "".join(f"{line}\r\n" for line in lines).encode("utf-8")
