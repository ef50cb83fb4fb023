"""Fingerprint: what must be the same for two runs to be compared, as facts of the run."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from autotune.campaign.ascend_versions import CANN, DRIVER, FIRMWARE, ascend_versions
from autotune.campaign.sides.service_environment import environment_of
from autotune.engines.mindie.config_file import read as read_config
from autotune.errors import Refused
from autotune.mindie_rules.json_text import JsonValue
from autotune.model.campaign import Campaign
from autotune.model.service import Description, Fact
from autotune.profile.schema import Profile
from autotune.store.history import fingerprint as fingerprint_of
from autotune.store.history import lineages
from autotune.store.study import CampaignStore, StoredRun

MODEL_FILES, CONFIGURATION, HOST_WISH = "model files", "configuration", "host settings wanted"
_HOST = ("CPU", "NUMA nodes", "page size", "npu", "npu-smi", "kernel")
FACTS = (MODEL_FILES, CONFIGURATION, HOST_WISH, CANN, DRIVER, FIRMWARE, *_HOST)
"""Environment facts that belong to the fingerprint, beside engine, versions, model and workload."""
_TUNED = frozenset(
    {
        "maxBatchSize",
        "maxPrefillBatchSize",
        "maxPrefillTokens",
        "prefillTimeMsPerReq",
        "decodeTimeMsPerReq",
        "supportSelectBatch",
        "maxQueueDelayMicroseconds",
        "LogConfig",
    }
)
"""What a campaign tunes, and what the daemon itself rewrites."""
_WHERE = frozenset(
    {
        "ipAddress",
        "managementIpAddress",
        "port",
        "managementPort",
        "metricsPort",
        "interCommPort",
        "multiNodesInferPort",
    }
)
"""Where the service listens, which makes it neither faster nor slower."""


def fingerprint_facts(profile: Profile, description: Description) -> tuple[Fact, ...]:
    """The facts that are read for the fingerprint alone. Touches nothing."""
    facts = [*ascend_versions(environment_of(profile))]
    facts.append(Fact(name=HOST_WISH, value=_digest(profile.host.model_dump_json())))
    if profile.model.path is not None:
        facts.append(Fact(name=MODEL_FILES, value=_model_files(profile.model.path)))
    if description.kind == "mindie" and description.config_path:
        facts.append(Fact(name=CONFIGURATION, value=_configuration(Path(description.config_path))))
    return tuple(facts)


def fingerprint(campaign: Campaign) -> str:
    """Twelve hex digits; runs that share them may be compared."""
    return fingerprint_of(_as_stored(campaign), facts=FACTS)


def earlier(store: CampaignStore, campaign: Campaign, *, most: int) -> tuple[Campaign, ...]:
    """The newest runs of this fingerprint, oldest first; unfinished ones are left out."""
    wanted = fingerprint(campaign)
    of_it = [each for each in lineages(store.runs(), facts=FACTS) if each.fingerprint == wanted]
    runs = [run for lineage in of_it for run in lineage.runs if run.verdict and run.launches]
    return tuple(store.load(run.run) for run in runs[-most:])


def _as_stored(campaign: Campaign) -> StoredRun:
    return StoredRun(
        run=campaign.run,
        profile_name=campaign.profile_name,
        profile_text=campaign.profile_text,
        description=campaign.description,
        started_wall=campaign.started_wall,
        ended_wall=campaign.ended_wall,
        verdict=campaign.verdict,
        restored=campaign.restored,
        applied=campaign.applied,
        rehearsed=campaign.rehearsed,
        environment=campaign.environment,
        launches=len(campaign.launches),
    )


def _model_files(directory: Path) -> str:
    """Names, sizes and times of all files: weights are too large to be read every night."""
    try:
        found: Iterable[tuple[str, int, int]] = sorted(
            (str(path.relative_to(directory)), path.stat().st_size, path.stat().st_mtime_ns)
            for path in directory.rglob("*")
            if path.is_file()
        )
    except OSError as error:
        return f"unreadable: {error.strerror}"
    return _digest(json.dumps(list(found)))


def _configuration(path: Path) -> str:
    try:
        document = read_config(path).document
    except Refused as refused:
        return f"unreadable: {refused.message}"
    return _digest(json.dumps(_what_counts(document), sort_keys=True))


def _what_counts(document: JsonValue) -> JsonValue:
    if isinstance(document, dict):
        left_out = _TUNED | _WHERE
        return {name: _what_counts(value) for name, value in document.items() if name not in left_out}
    if isinstance(document, list):
        return [_what_counts(value) for value in document]
    return document


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
