"""Words: what one language must say; a language that leaves a text out does not type-check."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from autotune.errors import LaunchCause
from autotune.model.launch import Outcome, Purpose
from autotune.model.measurement import InvalidReason
from autotune.model.move import VerdictCode
from autotune.model.service import BlockSource
from autotune.report.evidence import PointKind
from autotune.report.figures import Style


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswerWords:
    """The answer in one sentence, and the sentences after it."""

    change: str
    """Fields: name, old, new."""
    change_without_old: str
    """Fields: name, new."""
    between_changes: str
    improved: str
    """Fields: changes, gain, range, confirmed."""
    improved_alone: str
    """Fields: changes, rate, half_width. Nothing to compare with."""
    gain_range: str
    """Fields: range."""
    confirmed: str
    """Fields: incumbent, best: launches a side."""
    incumbent_best: str
    """Fields: setting, rate, half_width, tried."""
    runner_up: str
    """Fields: setting, gain, range."""
    fastest_other: str
    """Fields: setting, gain."""
    equal_smaller: str
    """Fields: changes, gain, range, confirmed."""
    limit_unmet: str
    """Fields: setting."""
    not_measurable: str
    interrupted: str
    """Fields: launches."""
    best_so_far: str
    """Fields: setting, rate."""
    gain_unconfirmed: str
    """Fields: gain."""
    nothing_yet: str
    emulated: str
    """Fields: sentence."""
    rehearsed: str
    """Fields: sentence."""
    rates: str
    """Fields: incumbent, best."""
    with_it: str
    """Fields: changes."""
    because: str
    """Fields: reason."""
    applied: str
    restored: str
    not_restored: str
    next_apply: str
    """Comes before the command."""
    next_resume: str
    next_recover: str
    emulated_note: str
    rehearsed_note: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Headings:
    """Titles of the report and of its parts."""

    title: str
    changes: str
    touched: str
    curve: str
    latency: str
    predicted: str
    launches: str
    validity: str
    whole_run: str
    vendor: str
    decisions: str
    environment: str
    apply: str
    reproduce: str
    diff: str
    profile: str
    commands: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Labels:
    """Short labels of tiles, columns and charts."""

    run: str
    profile: str
    date: str
    engine: str
    model: str
    place: str
    strategy: str
    recommended: str
    stays: str
    best_so_far: str
    not_confirmed: str
    found: str
    found_value: str
    """Fields: value."""
    rate_spread: str
    """Fields: half_width."""
    throughput: str
    tokens_per_second: str
    gain: str
    effort: str
    launches: str
    """Fields: count."""
    setting: str
    number: str
    purpose: str
    outcome: str
    cause: str
    interval: str
    against_incumbent: str
    ttft: str
    tpot: str
    mean: str
    of_statistic: str
    """Fields: axis, statistic."""
    preemptions: str
    running: str
    blocks: str
    time: str
    start: str
    warm_up: str
    measure: str
    stop: str
    total: str
    reason: str
    concurrency: str
    reached: str
    sweep_levels: str
    """Fields: count."""
    requests: str
    completed: str
    failed: str
    short_replies: str
    window: str
    result: str
    valid: str
    whole_run: str
    per_client: str
    difference: str
    batch_axis: str
    """Fields: name."""
    throughput_axis: str
    ttft_axis: str
    tpot_axis: str
    bracket: str
    """Fields: low, high."""
    bracket_start: str
    knee: str
    """Fields: low, high."""
    failed_value: str
    incumbent_level: str
    with_preemptions: str
    limit: str
    predicted: str
    measured: str
    within: str
    expected: str
    """Fields: reason, rate, half_width."""
    ceiling: str
    """Fields: rate, share."""
    ceiling_line: str
    goodput: str
    pareto: str
    vendor_choice: str
    fact: str
    value: str
    name: str
    step: str
    decision: str
    ends_with: str
    at_clients: str
    """Fields: count."""
    item: str
    during: str
    afterwards: str
    configuration: str
    edited: str
    copied: str
    own_command: str
    in_place: str
    as_before: str
    put_back: str
    stays_so: str
    not_back: str
    service: str
    host: str
    started_times: str
    """Fields: count."""
    stopped: str
    blocks_from: str
    """Fields: blocks, source."""
    forecast: str
    forecast_range: str
    """Fields: low, high, launches_low, launches_high."""
    took: str
    capped: str
    assumed_noise: str
    yes: str
    no: str
    not_sure: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Notes:
    """Sentences that explain a part of the report."""

    curve: str
    """Fields: name. Also the chart's text for those who cannot see it."""
    curve_sweep: str
    curve_band: str
    curve_empty: str
    shape_falls: str
    """Fields: top, falls."""
    shape_plateau: str
    """Fields: top."""
    shape_enough: str
    """Fields: enough; of values closer than MARGIN."""
    shape_rises: str
    """Fields: top."""
    shape_sweep_falls: str
    """Fields: top, falls."""
    shape_sweep_preempts: str
    """Fields: preempts."""
    shape_preempts: str
    """Fields: preempts."""
    shape_preempts_tried: str
    """The same where the setting found differs in more than the batch size. Fields: preempts."""
    shape_calm: str
    shape_calm_tried: str
    shares: str
    """Fields: bundle, batch, name, old, new."""
    shares_about: str
    """Fields: bundle, batch, name, old, new. Read off a curve, not launched."""
    predicted: str
    """Fields: inside, count."""
    limits_next: str
    """Fields: reason."""
    limits_unmet: str
    limits_free: str
    limits_cost: str
    """Fields: kept, rate, fastest, fastest_rate, loss."""
    latency: str
    latency_per_value: str
    launches: str
    """Fields: total, start, warm_up, measure, stop."""
    times: str
    validity_all: str
    """Fields: levels."""
    validity_some: str
    """Fields: invalid, levels."""
    validity_checks: str
    """Fields: checks: what would make a level invalid."""
    whole_run: str
    vendor: str
    vendor_found: str
    """Fields: setting, rate, launches, time, loss."""
    vendor_same: str
    """Fields: setting, rate, launches, time."""
    vendor_short: str
    """Fields: setting."""
    vendor_no_start: str
    vendor_estimated: str
    vendor_at_most: str
    no_changes: str
    no_diff: str
    apply: str
    reproduce: str
    again: str
    files: str
    sortable: str
    scaled: str
    """Of a stand-in that runs faster than what it stands for. Fields: scale."""
    scroll: str
    made_by: str
    """Fields: version."""
    redacted: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Language:
    """All texts of one language."""

    code: str
    """As HTML's lang attribute takes it."""
    style: Style
    answer: AnswerWords
    headings: Headings
    labels: Labels
    notes: Notes
    verdicts: Mapping[VerdictCode, str]
    purposes: Mapping[Purpose, str]
    outcomes: Mapping[Outcome, str]
    causes: Mapping[LaunchCause, str]
    invalid: Mapping[InvalidReason, str]
    points: Mapping[PointKind, str]
    block_sources: Mapping[BlockSource, str]
    between_clauses: str = "; "
    between_sentences: str = " "
    reasons: Mapping[str, str] = field(default_factory=dict)
    """English phrase -> words; empty for English."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """English name -> name; a name that is missing stays."""
    values: Mapping[str, str] = field(default_factory=dict)
    """English value of a fact -> words; a value that is missing stays."""
