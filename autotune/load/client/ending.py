"""Ending: whether a complete reply is good, short or failed, and for what cause."""

import ssl
from dataclasses import dataclass
from math import isnan

from autotune.load.client.api import NATURAL_ENDS, EventFacts, error_of
from autotune.load.client.framing import document_of
from autotune.load.client.recorder import Ended

_OK = 200


@dataclass(kw_only=True, slots=True)
class Reply(Ended):
    """A reply as far as it has come."""

    status: int = 0
    finish: str | None = None
    final: bool = False
    whole: bool = False
    """It came in one piece."""
    error: str | None = None
    complaint: bytes = b""

    @property
    def ended_by_its_own_sign(self) -> bool:
        """[DONE], details, usage or a finish reason has come."""
        return self.final or self.finish is not None

    def is_whole(self, body: bytes, *, delimited: bool, all_there: bool) -> bool:
        """Whether a reply that only the end of the connection ended is complete all the same.

        It is when its own sign has come, when it is a refusal, when its one JSON document is whole, or when
        all tokens are there.
        """
        if self.ended_by_its_own_sign:
            return True
        if self.status != _OK:
            return self.status != 0 and not delimited
        return document_of(body) is not None if body else all_there

    def learn(self, facts: EventFacts) -> None:
        """Take what an event says."""
        self.finish = facts.finish or self.finish
        self.tokens = facts.tokens if facts.tokens is not None else self.tokens
        self.prompt_tokens = facts.prompt_tokens if facts.prompt_tokens is not None else self.prompt_tokens
        self.final = self.final or facts.final
        self.error = self.error or facts.error


@dataclass(frozen=True, kw_only=True, slots=True)
class Judgement:
    """Good when there is no cause and it is not short."""

    cause: str | None = None
    detail: str = ""
    short: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Loss:
    """Why a reply was lost with its connection."""

    cause: str
    detail: str


def cause_of_loss(error: Exception | None, *, answered: bool, secure: bool) -> Loss:
    """The connection ended before the reply did."""
    if isinstance(error, ssl.SSLError):
        return Loss(cause="tls", detail=str(error))
    if error is not None:
        return Loss(cause="reset", detail=str(error))
    if answered:
        return Loss(cause="cut", detail="the connection ended before the reply did")
    asks = "; the service may ask for a client certificate" if secure else "; the service may be overloaded"
    return Loss(cause="unanswered", detail=f"the connection was closed without an answer{asks}")


_GOOD = Judgement()


def judged(reply: Reply, *, asked_tokens: int, ignore_eos: bool, tells_finish: bool) -> Judgement:
    """Good, short or failed; the end of the transfer alone makes nothing good."""
    if reply.status != _OK:
        return Judgement(cause=f"http_{reply.status}", detail=_complaint(reply))
    if reply.error is not None:
        return Judgement(cause="error_in_reply", detail=reply.error[:200])
    if tells_finish and reply.finish is None:
        return Judgement(short=True, detail="no finish reason")
    counted = reply.tokens if reply.tokens is not None else reply.events
    if counted >= asked_tokens > 0:
        return _GOOD
    natural = not ignore_eos and (reply.finish in NATURAL_ENDS or not tells_finish)
    if natural:
        return Judgement(short=isnan(reply.first) and not reply.tokens, detail="no token")
    unknown = reply.tokens is None and reply.whole
    return Judgement(
        short=counted < asked_tokens and not unknown, detail=f"{counted} of {asked_tokens} tokens"
    )


def _complaint(reply: Reply) -> str:
    document = document_of(reply.complaint)
    told = error_of(document) if document else None
    return (told or reply.complaint.decode("utf-8", "replace")).strip()[:200]
