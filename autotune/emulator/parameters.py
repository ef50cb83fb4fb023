"""Checks of the sampling parameters of a request, in the words of MindIE's server.

Source: public source of MindIE-LLM, December 2025.
"""

from collections.abc import Mapping
from typing import Any, Final

from autotune.emulator.responses import Rejected, dump

INT32_HIGH: Final = 2147483647
_INVALID: Final = 422
_TEMPERATURE_HIGH: Final = 2
_REPETITION_HIGH: Final = 2
_PRIORITY_HIGH: Final = 5
_TIMEOUT_HIGH: Final = 65535
_SEED_HIGH: Final = 2**63 - 1
DEFAULT_NEW_TOKENS: Final = 20
"""max_new_tokens of TGI, Triton and the native interface where a request does not say."""


def invalid(message: str) -> Rejected:
    """A request whose content is wrong."""
    return Rejected(_INVALID, message)


def boolean(values: Mapping[str, Any], key: str, *, default: bool = False) -> bool:
    """An optional bool."""
    value = values.get(key)
    if value is None:
        return default
    if not isinstance(value, bool):
        raise invalid(f"{key} must be boolean type.")
    return value


def integer(values: Mapping[str, Any], key: str, kind: str = "integer") -> int | None:
    """An optional whole number."""
    value = values.get(key)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool):
        raise invalid(f"{key} must be {kind} type.")
    return value


def number(values: Mapping[str, Any], key: str) -> float | None:
    """An optional number."""
    value = values.get(key)
    if value is None:
        return None
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise invalid(f"{key} must be float type.")
    return value


def max_new_tokens(values: Mapping[str, Any]) -> int:
    """max_new_tokens of TGI, Triton and the native interface."""
    value = integer(values, "max_new_tokens")
    if value is None:
        return DEFAULT_NEW_TOKENS
    if not 0 < value <= INT32_HIGH:
        raise invalid(f"Parameter max_new_tokens must be in (0,{INT32_HIGH}], got {value}.")
    return value


def max_tokens(values: Mapping[str, Any], default: int) -> int:
    """max_tokens of the OpenAI and vLLM interfaces."""
    value = values.get("max_tokens")
    if value is None:
        return default
    if not isinstance(value, int) or isinstance(value, bool):
        raise invalid("Parameter max_tokens not number_integer")
    if not 0 < value <= INT32_HIGH:
        raise invalid(f"Parameter max_tokens must be (0,{INT32_HIGH}], got {value}")
    return value


def _between(values: Mapping[str, Any], key: str, *, high: float, open_high: bool, text: str) -> None:
    value = number(values, key)
    if value is None:
        return
    if value <= 0 or value > high or (open_high and value == high):
        raise invalid(f"Parameter {key} must be in {text}, got {dump(value)}.")


def check_sampling(
    values: Mapping[str, Any], *, zero_temperature: bool = False, open_top_p: bool = False
) -> None:
    """Check what steers sampling; nothing of it changes what the emulated model says."""
    temperature = number(values, "temperature")
    if temperature is not None:
        low_ok = temperature >= 0 if zero_temperature else temperature > 0
        if not low_ok or temperature > _TEMPERATURE_HIGH:
            raise invalid(f"Parameter temperature must be in (0.0,2], got {dump(temperature)}.")
    top_k = integer(values, "top_k")
    if top_k is not None and not (top_k == -1 or 0 <= top_k <= INT32_HIGH):
        raise invalid(f"Parameter top_k must be in -1 || (0,{INT32_HIGH}], got {top_k}")
    _between(values, "top_p", high=1.0, open_high=open_top_p, text="(0.0,1.0]")
    _between(values, "typical_p", high=1.0, open_high=False, text="(0.0,1.0]")
    _between(values, "repetition_penalty", high=_REPETITION_HIGH, open_high=False, text="(0.0, 2]")
    for key in ("do_sample", "watermark"):
        boolean(values, key)
    _check_stop(values)


def _check_stop(values: Mapping[str, Any]) -> None:
    stop = values.get("stop")
    if stop is None or isinstance(stop, str):
        return
    if not isinstance(stop, list):
        raise invalid("Input validation error: param stop must be string or list[string]")
    if not all(isinstance(item, str) and item for item in stop):
        raise invalid(
            "Input validation error: `stop` must be list[string] if list, "
            "and item length in [1, 1024] with total <= 32768"
        )


def seed(values: Mapping[str, Any], drawn: int) -> int:
    """The seed of a request, or the one that the server draws for it."""
    value = integer(values, "seed", "unsigned")
    if value is None:
        return drawn
    if value < 0:
        raise invalid("seed must be unsigned type.")
    if value > _SEED_HIGH:
        raise invalid(f"Parameter seed must be in [0, {_SEED_HIGH}], got {value}.")
    return value


def priority(values: Mapping[str, Any]) -> None:
    """The priority of a request: checked and otherwise without effect."""
    value = integer(values, "priority", "unsigned")
    if value is not None and not 1 <= value <= _PRIORITY_HIGH:
        raise invalid(f"Parameter priority must be in [1,{_PRIORITY_HIGH}], got {value}.")


def timeout(values: Mapping[str, Any]) -> float | None:
    """Seconds after which the client wants the request to end."""
    value = integer(values, "timeout", "unsigned")
    if value is None:
        return None
    if not 0 < value <= _TIMEOUT_HIGH:
        raise invalid(
            f"Parameter timeout must be strictly positive and small than {_TIMEOUT_HIGH} seconds, "
            f"got {value}."
        )
    return float(value)


def batch_size(values: Mapping[str, Any]) -> None:
    """batch_size of the Triton interfaces: checked and otherwise without effect."""
    value = integer(values, "batch_size")
    if value is not None and not 0 < value <= INT32_HIGH:
        raise invalid(f"Parameter batch_size must be in (0,{INT32_HIGH}], got {value}.")


def parameters_of(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """The `parameters` object of a request, empty when there is none."""
    value = body.get("parameters")
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise invalid("parameters must be object type.")
    return value
