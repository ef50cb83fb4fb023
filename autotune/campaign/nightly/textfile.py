"""Textfile: a night's outcome for node_exporter's textfile collector."""

import os
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path

from autotune.campaign.nightly.outcome import NightOutcome, NightVerdict

_PREFIX = "autotune_nightly"
_LAST_SUCCESS = f"{_PREFIX}_last_success_timestamp_seconds"
_MODE = 0o644
"""node_exporter runs as another user."""


def write_textfile(path: Path, outcome: NightOutcome) -> None:
    """Replace the file as a whole. Raises OSError.

    Without time stamps, which the collector does not take; the last success is carried over.
    """
    text = textfile(outcome, last_success=_carried_over(path, outcome))
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fchmod(stream.fileno(), _MODE)
            os.fsync(stream.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def textfile(outcome: NightOutcome, *, last_success: float | None) -> str:
    """The text exposition format, each metric with its help and type, a newline at the end."""
    label = f'profile="{_escaped(outcome.profile)}"'
    served, best = outcome.served, outcome.best
    plain: tuple[tuple[str, str, float | None], ...] = (
        ("last_run_timestamp_seconds", "When the last night ended.", outcome.ended_wall),
        ("last_success_timestamp_seconds", "When a night last did its work.", last_success),
        ("exit_code", "Exit code of the last night.", outcome.exit_code),
        ("duration_seconds", "How long it took.", outcome.ended_wall - outcome.started_wall),
        ("launches", "How often the service was started for it.", outcome.launches),
        ("restored", "1 when the host and its service are as they should be.", float(outcome.restored)),
        ("emulated", "1 when the service is a stand-in.", float(outcome.emulated)),
        ("tokens_per_second", "Output tokens a second of the served setting.", outcome.tokens_per_second),
        ("max_batch_size", "maxBatchSize that is served now.", served.max_batch_size if served else None),
        ("best_tokens_per_second", "The same of the best setting.", outcome.best_tokens_per_second),
        ("best_max_batch_size", "maxBatchSize of the best setting.", best.max_batch_size if best else None),
        ("gain_ratio", "Gain of the best setting over the served one.", outcome.gain),
    )
    lines: list[str] = []
    for name, text, value in plain:
        if value is not None:
            lines += _metric(name, text, [(label, value)])
    verdicts = [(f'{label},verdict="{each.value}"', float(each is outcome.verdict)) for each in NightVerdict]
    return "\n".join([*lines, *_metric("verdict", "1 for the verdict of the last night.", verdicts), ""])


def _metric(name: str, text: str, samples: Iterable[tuple[str, float]]) -> list[str]:
    full = f"{_PREFIX}_{name}"
    head = [f"# HELP {full} {text}", f"# TYPE {full} gauge"]
    return [*head, *(f"{full}{{{labels}}} {value:.15g}" for labels, value in samples)]


def _carried_over(path: Path, outcome: NightOutcome) -> float | None:
    if outcome.verdict.is_success:
        return outcome.ended_wall
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    found = re.search(rf"^{_LAST_SUCCESS}\{{.*\}} ([0-9.e+]+)$", text, re.MULTILINE)
    return float(found[1]) if found else None


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
