"""Which api name stands for which family of services."""

from autotune.errors import UsageError
from autotune.load.client.api import Api
from autotune.load.client.apis.native import MindieInfer
from autotune.load.client.apis.openai import OpenAi
from autotune.load.client.apis.tgi import Tgi
from autotune.load.client.apis.triton import Triton, TritonTokens
from autotune.load.client.apis.vllm import Vllm

API_NAMES = ("openai-chat", "openai", "tgi", "triton", "triton-tokens", "vllm", "mindie-infer")


def api_of(name: str) -> Api:
    """The family of an api name. Raises UsageError for an unknown one."""
    families: dict[str, Api] = {
        "openai-chat": OpenAi(chat=True),
        "openai": OpenAi(chat=False),
        "tgi": Tgi(),
        "triton": Triton(),
        "triton-tokens": TritonTokens(),
        "vllm": Vllm(),
        "mindie-infer": MindieInfer(),
    }
    if name not in families:
        raise UsageError(f"unknown api {name!r}", hint=f"one of {', '.join(API_NAMES)}")
    return families[name]
