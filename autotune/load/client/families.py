"""Which api name stands for which family of services."""

from importlib import import_module

from autotune.errors import UsageError
from autotune.load.client.api import Api

_FAMILIES: dict[str, tuple[str, str, dict[str, bool]]] = {
    "openai-chat": ("openai", "OpenAi", {"chat": True}),
    "openai": ("openai", "OpenAi", {"chat": False}),
    "tgi": ("tgi", "Tgi", {}),
    "triton": ("triton", "Triton", {}),
    "triton-tokens": ("triton", "TritonTokens", {}),
    "vllm": ("vllm", "Vllm", {}),
    "mindie-infer": ("native", "MindieInfer", {}),
}
"""Module, class and arguments; only the family in use is imported."""
API_NAMES = tuple(_FAMILIES)


def api_of(name: str) -> Api:
    """The family of an api name. Raises UsageError for an unknown one."""
    if name not in _FAMILIES:
        raise UsageError(f"unknown api {name!r}", hint=f"one of {', '.join(API_NAMES)}")
    module, family, arguments = _FAMILIES[name]
    api: Api = getattr(import_module(f"autotune.load.client.apis.{module}"), family)(**arguments)
    return api
