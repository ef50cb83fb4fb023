"""Triton with token ids: POST /v2/models/{model}/infer."""

from collections.abc import Mapping
from typing import Any, Final

from autotune.emulator import parameters, vocabulary
from autotune.emulator.ask import Ask
from autotune.emulator.parameters import invalid
from autotune.emulator.protocols import inputs
from autotune.emulator.protocols.inputs import TOKENS_HIGH
from autotune.emulator.protocols.reply import Inquiry, Model
from autotune.emulator.protocols.triton import identity_of
from autotune.emulator.responses import dump

_NAME_HIGH: Final = 256
_DATATYPE: Final = "UINT32"


class TritonTokensReply:
    """An answer of token ids; there is no stream of them."""

    __slots__ = ("_ask",)

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def begun(self, waited: float) -> None:
        """Nothing of it is told."""

    def token(self, _position: int, _moment: float, _batch: int) -> bytes:
        """Nothing."""
        return b""

    def last(self, _position: int, _moment: float, _batch: int, _reason: str) -> bytes:
        """Nothing."""
        return b""

    def whole(self, tokens: int, _reason: str) -> str:
        """The output tensor."""
        output = {
            "name": self._ask.output_name or "output0",
            "shape": [1, tokens],
            "datatype": _DATATYPE,
            "data": vocabulary.token_ids(self._ask.prompt_hash, tokens),
        }
        return dump({"id": self._ask.identity, "outputs": [output]})


def read(body: Mapping[str, Any], model: Model, identity: str) -> Inquiry:
    """A request with one input tensor. Raises Rejected."""
    tensors = body.get("inputs")
    if not isinstance(tensors, list):
        raise invalid("Req should contain 'inputs' and the type should be array.")
    if len(tensors) != 1 or not isinstance(tensors[0], dict):
        raise invalid("Inputs count must be 1.")
    tensor: dict[str, Any] = tensors[0]
    ids = _ids(tensor, _shape(tensor))
    identity = identity_of(body, identity)
    output_name = _output_name(body)
    values = parameters.parameters_of(tensor)
    parameters.check_sampling(values)
    parameters.priority(values)
    parameters.batch_size(values)
    prompt = inputs.ids_prompt(ids, model)
    ask = Ask(
        identity=identity,
        prompt="",
        prompt_tokens=prompt.tokens,
        prompt_hash=prompt.hashed,
        max_tokens=parameters.max_new_tokens(values),
        exact=inputs.ignores_end(body, values),
        details=parameters.boolean(values, "details"),
        seed=parameters.seed(values, prompt.hashed),
        timeout=parameters.timeout(values),
        output_name=output_name,
    )
    return Inquiry(ask=ask, reply=TritonTokensReply(ask))


def _shape(tensor: Mapping[str, Any]) -> int:
    name = tensor.get("name")
    if not isinstance(name, str):
        raise invalid("Cannot find name in inputs or its type is not string")
    if len(name) > _NAME_HIGH:
        raise invalid("The length of name set in inputs exceeds 256.")
    shape = tensor.get("shape")
    if not isinstance(shape, list):
        raise invalid("Cannot find shape in inputs or its type is not array")
    if not all(isinstance(size, int) and not isinstance(size, bool) and size >= 0 for size in shape):
        raise invalid("Shape element must be integer type.")
    two = len(shape) == 2 and shape[0] == 1 and 0 < shape[1] <= TOKENS_HIGH  # noqa: PLR2004 - dimensions
    if len(shape) != 1 and not two:
        raise invalid(
            "Shape must be at most two-dimensional, "
            f"and the last element's value must be in (0,{TOKENS_HIGH}]."
        )
    datatype = tensor.get("datatype")
    if not isinstance(datatype, str):
        raise invalid("Cannot find datatype in inputs or its type is not string")
    if datatype != _DATATYPE:
        raise invalid(f"Unsupported datatype, got {datatype}.")
    return int(shape[-1])


def _ids(tensor: Mapping[str, Any], size: int) -> list[int]:
    data = tensor.get("data")
    if not isinstance(data, list):
        raise invalid("Cannot find data in inputs or its type is not array")
    if len(data) > TOKENS_HIGH:
        raise invalid(f"Data element must be no more than max token id length, which is {TOKENS_HIGH}.")
    if len(data) != size:
        raise invalid(f"Data size should be {size}, got {len(data)}.")
    if not all(isinstance(number, int) and not isinstance(number, bool) for number in data):
        raise invalid("Data element must be integer type.")
    return data


def _output_name(body: Mapping[str, Any]) -> str:
    outputs = body.get("outputs")
    if not isinstance(outputs, list):
        raise invalid("Req should contain 'outputs' and the type should be array.")
    if len(outputs) != 1:
        raise invalid(f"Outputs size should be 1, got {len(outputs)}.")
    name = outputs[0].get("name") if isinstance(outputs[0], dict) else None
    if not isinstance(name, str):
        raise invalid("Outputs name must be non-empty string.")
    return name
