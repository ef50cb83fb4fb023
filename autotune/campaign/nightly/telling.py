"""Telling: everybody who wants to know hears of every night, also of one that failed or did not begin."""

import os
from pathlib import Path
from time import sleep

from autotune.campaign.nightly.outcome import NightOutcome
from autotune.campaign.nightly.textfile import write_textfile
from autotune.campaign.nightly.webhook import send
from autotune.errors import UsageError
from autotune.profile.schema import NightlySection


def tell(section: NightlySection, outcome: NightOutcome) -> tuple[str, ...]:
    """Write the textfile and call the webhook; what went wrong with that, which never fails the night."""
    problems = [_write(section.textfile, outcome), _send(section, outcome)]
    return tuple(problem for problem in problems if problem)


def _write(path: Path | None, outcome: NightOutcome) -> str | None:
    if path is None:
        return None
    try:
        write_textfile(path, outcome)
    except OSError as error:
        return f"the textfile {path} cannot be written: {error.strerror}"
    return None


def _send(section: NightlySection, outcome: NightOutcome) -> str | None:
    hook = section.webhook
    if hook is None:
        return None
    try:
        url = hook if isinstance(hook, str) else hook.read(os.environ)
    except UsageError as error:
        return f"nightly.webhook: {error.message}"
    return send(url, outcome, sleep)
