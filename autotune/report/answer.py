"""Answer: what a campaign found, in one sentence that stands alone, and the sentences after it."""

from dataclasses import dataclass
from shlex import quote

from autotune.model.campaign import Campaign, Reading, Verdict
from autotune.model.launch import Outcome, Purpose
from autotune.model.move import VerdictCode
from autotune.model.settings import Settings, Value
from autotune.report.commands import state_option
from autotune.report.evidence import best, incumbent
from autotune.report.figures import over, percent, percent_range, rate
from autotune.report.knob_names import changed, knob_name, value_text
from autotune.report.phrases import reason_text
from autotune.report.safe_text import one_line
from autotune.report.texts.words import Language
from autotune.report.values import setting_values


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """The answer of a campaign in one language."""

    code: VerdictCode
    sentence: str
    """Complete in itself, without a full stop; says so when the service was emulated or all was rehearsed."""
    details: tuple[str, ...]
    """Whole sentences that explain it, most important first."""
    next_words: str = ""
    next_command: str = ""
    """What to type next; empty when there is nothing to do."""

    @property
    def next_step(self) -> str:
        """Words and command."""
        return f"{self.next_words} {self.next_command}".strip()


def answer(campaign: Campaign, language: Language) -> Answer:
    """The answer of `campaign`; a campaign without a verdict counts as interrupted."""
    code = campaign.verdict.code if campaign.verdict else VerdictCode.INTERRUPTED
    words, command = _next_step(campaign, code, language)
    return Answer(
        code=code,
        sentence=_labelled(campaign, _sentence(campaign, code, language), language),
        details=tuple(filter(None, _details(campaign, code, language))),
        next_words=words,
        next_command=command,
    )


def origin_note(campaign: Campaign, language: Language) -> str:
    """Where figures come from that are not those of a real service; empty for real ones."""
    if campaign.rehearsed:
        return language.answer.rehearsed_note
    return language.answer.emulated_note if campaign.description.emulated else ""


def setting_text(campaign: Campaign, settings: Settings) -> str:
    """The batch size with the engine's name for it."""
    name = knob_name("max_batch_size", campaign.description.kind)
    return f"{name} {settings.max_batch_size}"


def _sentence(campaign: Campaign, code: VerdictCode, language: Language) -> str:
    words = language.answer
    match code:
        case VerdictCode.IMPROVED:
            return _improved(campaign, language)
        case VerdictCode.EQUAL_SMALLER:
            return words.equal_smaller.format(**_gain_fields(campaign, language))
        case VerdictCode.INCUMBENT_BEST:
            return _incumbent_best(campaign, language)
        case VerdictCode.LIMIT_UNMET:
            return words.limit_unmet.format(setting=setting_text(campaign, campaign.description.incumbent))
        case VerdictCode.NOT_MEASURABLE:
            return words.not_measurable
        case VerdictCode.INTERRUPTED:
            return _interrupted(campaign, language)


def _gain_fields(campaign: Campaign, language: Language) -> dict[str, str]:
    verdict = campaign.verdict or Verdict(code=VerdictCode.INTERRUPTED, reason="")
    first, _ = _changes(*_sides(campaign))
    confirmed = ""
    if verdict.compared is not None:
        incumbent, best = verdict.compared
        confirmed = language.answer.confirmed.format(incumbent=incumbent, best=best)
    return {
        "changes": _changes_text(campaign, first, language),
        "gain": percent(verdict.gain, language.style, signed=True),
        "range": _range(verdict, language),
        "confirmed": confirmed,
    }


def _improved(campaign: Campaign, language: Language) -> str:
    found = best(campaign)
    if found is None or (campaign.verdict and campaign.verdict.gain is not None):
        return language.answer.improved.format(**_gain_fields(campaign, language))
    first, _ = _changes(*_sides(campaign))
    return language.answer.improved_alone.format(
        changes=_changes_text(campaign, first, language) or setting_text(campaign, found.settings),
        rate=rate(found.tokens_per_second),
        half_width=percent(found.half_width, language.style),
    )


def _incumbent_best(campaign: Campaign, language: Language) -> str:
    kept = incumbent(campaign)
    settings = kept.settings if kept else campaign.description.incumbent
    tried = {launch.settings for launch in campaign.launches if launch.purpose is not Purpose.SCOUT}
    return language.answer.incumbent_best.format(
        setting=setting_text(campaign, settings),
        rate=rate(kept.tokens_per_second if kept else None),
        half_width=percent(kept.half_width if kept else None, language.style),
        tried=len(tried - {settings}),
    )


def _interrupted(campaign: Campaign, language: Language) -> str:
    words = language.answer
    ended = sum(launch.outcome is not Outcome.PENDING for launch in campaign.launches)
    head = words.interrupted.format(launches=ended)
    found, kept = best(campaign), incumbent(campaign)
    if found is None:
        return f"{head}{_colon(language)}{words.nothing_yet}"
    tail = words.best_so_far.format(
        setting=setting_text(campaign, found.settings), rate=rate(found.tokens_per_second)
    )
    if kept is not None and kept.settings != found.settings:
        gain = over(found.tokens_per_second, kept.tokens_per_second)
        tail += words.gain_unconfirmed.format(gain=percent(gain, language.style, signed=True))
    return f"{head}{_colon(language)}{tail}"


def _details(campaign: Campaign, code: VerdictCode, language: Language) -> tuple[str, ...]:
    return (
        origin_note(campaign, language),
        _rates(campaign, code, language),
        _runner_up(campaign, code, language),
        _changed_with_it(campaign, code, language),
        _because(campaign, language),
        _state(campaign, language),
    )


def _rates(campaign: Campaign, code: VerdictCode, language: Language) -> str:
    found, kept = best(campaign), incumbent(campaign)
    if code not in {VerdictCode.IMPROVED, VerdictCode.EQUAL_SMALLER} or found is None or kept is None:
        return ""
    return language.answer.rates.format(
        incumbent=rate(kept.tokens_per_second), best=rate(found.tokens_per_second)
    )


def _runner_up(campaign: Campaign, code: VerdictCode, language: Language) -> str:
    verdict, found, kept = campaign.verdict, best(campaign), incumbent(campaign)
    if code is not VerdictCode.INCUMBENT_BEST or verdict is None or found is None or kept is None:
        return ""
    if found.settings == kept.settings or verdict.gain is None:
        return _fastest_other(campaign, kept, language)
    return language.answer.runner_up.format(
        setting=setting_text(campaign, found.settings),
        gain=percent(verdict.gain, language.style, signed=True),
        range=_range(verdict, language),
    )


def _fastest_other(campaign: Campaign, kept: Reading, language: Language) -> str:
    """The fastest of the other values where it read faster: what a reader of the curve would ask about."""
    others = [value for value in setting_values(campaign) if value.settings != kept.settings]
    fastest = max(others, key=lambda value: value.tokens_per_second, default=None)
    if fastest is None or fastest.tokens_per_second <= kept.tokens_per_second:
        return ""
    gain = over(fastest.tokens_per_second, kept.tokens_per_second)
    return language.answer.fastest_other.format(
        setting=setting_text(campaign, fastest.settings), gain=percent(gain, language.style, signed=True)
    )


def _changed_with_it(campaign: Campaign, code: VerdictCode, language: Language) -> str:
    if code not in {VerdictCode.IMPROVED, VerdictCode.EQUAL_SMALLER}:
        return ""
    _, others = _changes(*_sides(campaign))
    if not others:
        return ""
    return language.answer.with_it.format(changes=_changes_text(campaign, others, language))


def _because(campaign: Campaign, language: Language) -> str:
    if campaign.verdict is None or not campaign.verdict.reason:
        return ""
    reason = reason_text(campaign.verdict.reason, language).rstrip(".。")
    return language.answer.because.format(reason=reason)


def _state(campaign: Campaign, language: Language) -> str:
    if campaign.rehearsed:
        return ""
    if campaign.applied:
        return language.answer.applied
    return language.answer.restored if campaign.restored else language.answer.not_restored


def _next_step(campaign: Campaign, code: VerdictCode, language: Language) -> tuple[str, str]:
    """What comes next in words, and its command."""
    words, run = language.answer, quote(one_line(campaign.run))
    if not campaign.rehearsed and not campaign.restored and not campaign.applied:
        return words.next_recover, f"autotune recover{state_option(campaign)}"
    if code is VerdictCode.INTERRUPTED:
        return words.next_resume, f"autotune tune PROFILE --resume {run}"
    wanted = code in {VerdictCode.IMPROVED, VerdictCode.EQUAL_SMALLER}
    if wanted and not campaign.applied and not campaign.rehearsed:
        return words.next_apply, f"autotune apply {run}{state_option(campaign)}"
    return "", ""


def _sides(campaign: Campaign) -> tuple[Settings, Settings]:
    kept, found = incumbent(campaign), best(campaign)
    before = kept.settings if kept else campaign.description.incumbent
    return before, found.settings if found else before


Change = tuple[str, Value | None, Value]


def _changes(before: Settings, after: Settings) -> tuple[tuple[Change, ...], tuple[Change, ...]]:
    """What the sentence names, the batch size where it changes, and what changes beside it."""
    everything = changed(before, after)
    if everything and everything[0][0] == "max_batch_size":
        return everything[:1], everything[1:]
    return everything, ()


def _changes_text(campaign: Campaign, changes: tuple[Change, ...], language: Language) -> str:
    words = language.answer
    parts = []
    for name, old, new in changes:
        shown = knob_name(name, campaign.description.kind)
        if old is None:
            parts.append(words.change_without_old.format(name=shown, new=value_text(new)))
        else:
            parts.append(words.change.format(name=shown, old=value_text(old), new=value_text(new)))
    return words.between_changes.join(parts)


def _range(verdict: Verdict, language: Language) -> str:
    if verdict.gain_low is None and verdict.gain_high is None:
        return ""
    shown = percent_range(verdict.gain_low, verdict.gain_high, language.style)
    return language.answer.gain_range.format(range=shown)


def _colon(language: Language) -> str:
    return "：" if language.code == "zh" else ": "


def _labelled(campaign: Campaign, sentence: str, language: Language) -> str:
    if campaign.rehearsed:
        return language.answer.rehearsed.format(sentence=sentence)
    if campaign.description.emulated:
        return language.answer.emulated.format(sentence=sentence)
    return sentence
