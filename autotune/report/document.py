"""Document: report.json and the JSON of `tune --json`, one versioned shape for programs.

Its schema is the file report.schema.json beside this module. Fractions are fractions, times are seconds,
latencies are milliseconds, moments are seconds since the epoch.
"""

import dataclasses
import json
import math
from importlib.resources import files
from typing import TypeAlias

from autotune.model.bracket import Bracket
from autotune.model.campaign import Campaign, Decision, Forecast, LimitFindings, Reading
from autotune.model.launch import LaunchRecord, PhaseSeconds
from autotune.model.measurement import Distribution, Invalid, Level, Measurement
from autotune.model.service import Fact
from autotune.report.answer import answer
from autotune.report.evidence import best, incumbent, reasons
from autotune.report.safe_text import clean
from autotune.report.shares import Shares, shares
from autotune.report.texts.words import Language

SCHEMA_VERSION = 1
Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"


def report_document(campaign: Campaign, language: Language) -> dict[str, Json]:
    """The report as a JSON object; only `verdict.text` and `next_step` depend on the language."""
    said, verdict = answer(campaign, language), campaign.verdict
    why = reasons(campaign)
    return {
        "schema_version": SCHEMA_VERSION,
        "verdict": {"code": said.code.value, "text": said.sentence},
        "incumbent": _reading(incumbent(campaign)),
        "best": _reading(best(campaign)),
        "gain": verdict.gain if verdict else None,
        "gain_low": verdict.gain_low if verdict else None,
        "gain_high": verdict.gain_high if verdict else None,
        "launches": [_launch(launch, why[launch.number]) for launch in campaign.launches],
        "bracket": _bracket(campaign.bracket),
        "restored": campaign.restored,
        "applied": campaign.applied,
        "emulated": campaign.description.emulated,
        "rehearsed": campaign.rehearsed,
        "environment": _facts((*campaign.description.facts, *campaign.environment)),
        "reason": clean(verdict.reason) if verdict else "",
        "next_step": said.next_step,
        "run": clean(campaign.run),
        "profile": clean(campaign.profile_name),
        "strategy": clean(campaign.strategy),
        "started": campaign.started_wall,
        "ended": campaign.ended_wall,
        "engine": _engine(campaign),
        "forecast": _forecast(campaign.forecast),
        "limits": _limits(campaign.limit_findings),
        "gain_shares": _gain_shares(shares(campaign)),
        "decisions": [_decision(decision) for decision in campaign.decisions],
    }


def document_text(document: dict[str, Json]) -> str:
    """The document as text; keys keep their order. Strict JSON has no endless number: it becomes null."""
    return json.dumps(_finite(document), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def schema() -> dict[str, Json]:
    """The JSON schema (draft 2020-12) of the document."""
    text = files("autotune.report").joinpath("report.schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Json] = json.loads(text)
    return loaded


def _finite(document: Json) -> Json:
    if isinstance(document, dict):
        return {key: _finite(value) for key, value in document.items()}
    if isinstance(document, list):
        return [_finite(value) for value in document]
    return None if isinstance(document, float) and not math.isfinite(document) else document


def _reading(reading: Reading | None) -> Json:
    if reading is None:
        return None
    return {
        "settings": dict(reading.settings.as_dict()),
        "tokens_per_second": reading.tokens_per_second,
        "half_width": reading.half_width,
        "launches": reading.launches,
    }


def _bracket(bracket: Bracket | None) -> Json:
    if bracket is None:
        return None
    return {
        "low": bracket.low,
        "start": bracket.start,
        "high": bracket.high,
        "start_prefill": bracket.start_prefill,
        "blocks": bracket.blocks,
        "source": bracket.source,
    }


def _launch(launch: LaunchRecord, reason: str) -> Json:
    return {
        "number": launch.number,
        "purpose": launch.purpose.value,
        "settings": dict(launch.settings.as_dict()),
        "outcome": launch.outcome.value,
        "cause": launch.cause.value if launch.cause else None,
        "detail": clean(launch.detail),
        "reason": clean(reason),
        "host": clean(launch.host),
        "blocks": launch.blocks,
        "levels": [_level(level) for level in launch.levels],
        "seconds": _seconds(launch.seconds),
    }


def _seconds(seconds: PhaseSeconds) -> Json:
    return {
        "start": seconds.start,
        "warm_up": seconds.warm_up,
        "measure": seconds.measure,
        "stop": seconds.stop,
    }


def _level(level: Level) -> Json:
    if isinstance(level, Invalid):
        return {
            "concurrency": level.concurrency,
            "tokens_per_second": None,
            "half_width": None,
            "preemptions": None,
            "running_mean": None,
            "invalid": level.reason.value,
            "detail": clean(level.detail),
        }
    return _measurement(level)


def _measurement(level: Measurement) -> Json:
    return {
        "concurrency": level.concurrency,
        "tokens_per_second": level.tokens_per_second,
        "half_width": level.half_width,
        "preemptions": level.preemptions,
        "running_mean": level.running_mean,
        "invalid": None,
        "whole_run_tokens_per_second": level.whole_run_tokens_per_second,
        "seconds": level.seconds,
        "requests": level.requests,
        "completed": level.completed,
        "failed": {clean(failure.cause): failure.count for failure in level.failed},
        "short_replies": level.short_replies,
        "concurrency_reached": level.concurrency_reached,
        "ttft_ms": _distribution(level.ttft_ms),
        "event_gap_ms": _distribution(level.event_gap_ms),
        "tpot_ms": _distribution(level.tpot_ms),
        "e2e_ms": _distribution(level.e2e_ms),
        "output_tokens": level.output_tokens,
        "input_tokens": level.input_tokens,
        "client_cpu_seconds": level.client_cpu_seconds,
        "client_cpu_share": level.client_cpu_share,
        "client_lag_p90_ms": level.client_lag_p90_ms,
        "client_send_delay_ms": level.client_send_delay_ms,
        "capped": level.capped,
        "assumed_noise": level.assumed_noise,
        "goodput": level.goodput,
    }


def _distribution(values: Distribution) -> Json:
    return dict(dataclasses.asdict(values))


def _facts(facts: tuple[Fact, ...]) -> Json:
    values: dict[str, list[str]] = {}
    for fact in facts:
        values.setdefault(clean(fact.name), []).append(clean(fact.value))
    return {name: "; ".join(several) for name, several in values.items()}


def _engine(campaign: Campaign) -> Json:
    description = campaign.description
    return {
        "kind": description.kind,
        "version": clean(description.version),
        "place": clean(description.place),
        "model_name": clean(description.model_name),
        "block_size": description.block_size,
        "max_link_num": description.max_link_num,
        "time_scale": description.time_scale,
    }


def _forecast(forecast: Forecast | None) -> Json:
    return dict(dataclasses.asdict(forecast)) if forecast else None


def _limits(found: LimitFindings | None) -> Json:
    if found is None:
        return None
    return {
        "rows": [
            {
                "settings": dict(row.settings.as_dict()),
                "tokens_per_second": row.tokens_per_second,
                "kept": row.kept,
                "efficient": row.efficient,
                "values": [
                    {"limit": clean(each.limit), "value": each.value, "judgement": each.judgement}
                    for each in row.values
                ],
            }
            for row in found.rows
        ],
        "fastest": _reading(found.fastest),
        "cost": found.cost,
        "next_size": found.next_size,
        "next_reason": clean(found.next_reason),
    }


def _gain_shares(found: Shares | None) -> Json:
    if found is None:
        return None
    return {"bundle": found.bundle, "batch": found.batch, "measured": not found.estimated}


def _decision(decision: Decision) -> Json:
    return {
        "after_launches": decision.after_launches,
        "after_levels": decision.after_levels,
        "kind": decision.kind,
        "settings": dict(decision.settings.as_dict()) if decision.settings else None,
        "concurrency": decision.concurrency,
        "reason": clean(decision.reason),
        "expected": dict(dataclasses.asdict(decision.expected)) if decision.expected else None,
        "because": decision.because.value,
    }
