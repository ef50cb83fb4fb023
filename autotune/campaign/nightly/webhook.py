"""Webhook: a night's outcome as one JSON document, sent with patience and never at the cost of the night."""

from collections.abc import Callable
from dataclasses import asdict
from urllib.parse import urlsplit

import requests

from autotune.campaign.nightly.outcome import NightOutcome

SCHEMA_VERSION = 1
TIMEOUT_SECONDS = (3.05, 5.0)
"""To connect, and to answer."""
PAUSES = (1.0, 4.0)
"""Before the second and the third try."""
_FIRST_FAILURE, _FIRST_SERVER_FAILURE, _TOO_MANY = 300, 500, 429


def document(outcome: NightOutcome) -> dict[str, object]:
    """The document, also of `autotune nightly --json`."""
    fields = asdict(outcome)
    settings = {"served": outcome.served, "best": outcome.best}
    shown = {name: each.as_dict() if each else None for name, each in settings.items()}
    return {
        "schema_version": SCHEMA_VERSION,
        **fields,
        **shown,
        "verdict": outcome.verdict.value,
        "text": outcome.line,
    }


def send(url: str, outcome: NightOutcome, sleep: Callable[[float], None]) -> str | None:
    """Post it. What went wrong, without the URL's secret, or None."""
    place = shown(url)
    problem = "not tried"
    for pause in (0.0, *PAUSES):
        if pause:
            sleep(pause)
        try:
            status = _post(url, outcome)
        except requests.RequestException as error:
            problem = type(error).__name__
            if isinstance(error, requests.exceptions.InvalidURL | requests.exceptions.MissingSchema):
                break
            continue
        if status < _FIRST_FAILURE:
            return None
        problem = f"status {status}"
        if status < _FIRST_SERVER_FAILURE and status != _TOO_MANY:
            break
    return f"the webhook at {place} was not reached: {problem}"


def shown(url: str) -> str:
    """Scheme and host only: path, query and user may be the secret."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname or '?'}"


def _post(url: str, outcome: NightOutcome) -> int:
    with requests.Session() as session:
        session.auth = _no_netrc
        reply = session.post(
            url, json=document(outcome), timeout=TIMEOUT_SECONDS, allow_redirects=False, stream=True
        )
        reply.close()
        return reply.status_code


def _no_netrc(request: requests.PreparedRequest) -> requests.PreparedRequest:
    """A proxy of the environment is used, a password from ~/.netrc is not."""
    return request
