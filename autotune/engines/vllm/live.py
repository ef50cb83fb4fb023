"""Live server: the vLLM server that ran before a campaign, and whether it answers."""

from autotune.engines.tls import Tls
from autotune.engines.vllm.control import Control, has_text
from autotune.engines.vllm.entry import Interface
from autotune.engines.vllm.facts import ServerFacts
from autotune.model.change import ServedModel

_UNAUTHORIZED = 401
_ASK_SECONDS = 15.0


def served_by(facts: ServerFacts, model_name: str | None) -> ServedModel:
    """The server of a command; `model_name` overrides the name in requests."""
    return ServedModel(
        scheme=facts.scheme,
        host=facts.host,
        port=facts.port,
        interface=facts.interface.value,
        model_name=model_name or facts.model_name,
    )


def answers(served: ServedModel, *, tls: Tls | None, api_key: str | None) -> bool:
    """Whether it answers a request for one token. Without its key a server that asks for one answers, too."""
    host = f"[{served.host}]" if ":" in served.host else served.host
    with Control(f"{served.scheme}://{host}:{served.port}", tls=tls, api_key=api_key) as control:
        reply = control.one_token(Interface(served.interface), served.model_name, seconds=_ASK_SECONDS)
    locked = api_key is None and reply is not None and reply.status == _UNAUTHORIZED
    return locked or has_text(reply)
