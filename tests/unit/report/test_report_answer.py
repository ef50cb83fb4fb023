import string
from dataclasses import fields, replace

import pytest

from autotune.errors import UsageError
from autotune.model.move import VerdictCode
from autotune.report.answer import answer
from autotune.report.texts.languages import language
from autotune.report.texts.words import AnswerWords, Headings, Labels, Notes

from . import example_campaigns as examples

EN, ZH = language("en"), language("zh")


def test_a_gain_is_told_with_its_interval_and_its_launches():
    said = answer(examples.guide(), EN)
    assert said.sentence == (
        "maxBatchSize 435 -> 500: +4.7 % (3.9 to 5.5 %) output tokens/s, confirmed in 2+2 launches"
    )
    assert said.details == (
        "Throughput 2,848.6 -> 2,982.5 tokens/s.",
        "Changed with it: maxPrefillBatchSize 217 -> 250.",
        "Why the search ended: throughput dropped at 600.",
        "Configuration and host are as they were before the run; nothing was applied.",
    )
    assert said.next_step == "Put it in place with: autotune apply 2026-11-30-example-llama3-8b-1"


def test_the_same_in_chinese():
    said = answer(examples.guide(), ZH)
    assert said.sentence == "maxBatchSize 435 → 500：输出吞吐 +4.7%（3.9%～5.5%），经 2+2 次启动确认"
    assert said.details[1] == "同时改变：maxPrefillBatchSize 217 → 250。"


@pytest.mark.parametrize(
    ("code", "english", "chinese"),
    [
        (VerdictCode.EQUAL_SMALLER, "equally fast with a smaller batch, +4.7 % (3.9 to 5.5 %)", "吞吐相当"),
        (VerdictCode.LIMIT_UNMET, "No setting that was tried keeps within the limits", "均不满足约束"),
        (VerdictCode.NOT_MEASURABLE, "No valid measurement, so nothing is recommended", "没有有效的测量结果"),
        (VerdictCode.INTERRUPTED, "Interrupted after 5 launches", "在 5 次启动后中断"),
    ],
)
def test_every_other_verdict_has_its_own_words(code, english, chinese):
    campaign = examples.ended_as(code)
    assert english in answer(campaign, EN).sentence
    assert chinese in answer(campaign, ZH).sentence
    assert answer(campaign, EN).code is code


def test_the_incumbent_that_stays_is_named_with_its_speed_and_the_runner_up():
    said = answer(examples.incumbent_stays(), EN)
    assert said.sentence == (
        "maxBatchSize 435 stays: 2,848.6 output tokens/s (± 0.6 %); other values tried: 2, none better"
        " beyond doubt"
    )
    assert "The best other one, maxBatchSize 500, reads +0.4 % (-0.3 to 1.1 %)" in said.details[0]
    assert said.next_step == ""


def test_an_interrupted_run_tells_the_best_so_far_and_that_it_is_not_confirmed():
    said = answer(examples.interrupted(), EN)
    assert said.sentence == (
        "Interrupted after 2 launches: best so far maxBatchSize 500 with 2,980.3 output tokens/s"
        " (+4.7 %, not confirmed)"
    )
    assert said.next_step.endswith("--resume 2026-11-30-example-interrupted")


def test_a_run_that_measured_nothing_says_so():
    campaign = replace(examples.interrupted(), launches=())
    assert answer(campaign, EN).sentence == "Interrupted after 0 launches: nothing measured yet"


def test_emulated_and_rehearsed_figures_never_pass_for_real_ones():
    emulated = answer(examples.with_failures(), EN)
    assert emulated.sentence.startswith("Emulated service: maxBatchSize 435 -> 500")
    assert "not from an NPU" in emulated.details[0]
    rehearsed = answer(replace(examples.guide(), rehearsed=True), ZH)
    assert rehearsed.sentence.startswith("【预演】")
    assert rehearsed.next_step == ""


def test_a_host_that_was_not_put_back_is_the_loudest_thing():
    said = answer(replace(examples.guide(), restored=False), EN)
    assert said.next_step == "Clean up with: autotune recover"
    assert any(text.startswith("NOT RESTORED") for text in said.details)


def test_an_applied_winner_needs_no_next_step():
    said = answer(replace(examples.guide(), applied=True, restored=True), EN)
    assert said.next_step == ""
    assert said.details[-1] == "The recommended setting is in place."


def test_vllm_is_told_in_its_own_words():
    assert answer(examples.vllm(), EN).sentence.startswith("--max-num-seqs 435 -> 500: ")


def test_hostile_texts_stay_out_of_the_answer():
    said = answer(examples.hostile(), EN)
    assert "\x1b" not in "".join((said.sentence, *said.details, said.next_step))


@pytest.mark.parametrize("part", [AnswerWords, Headings, Labels, Notes])
def test_both_languages_fill_the_same_fields(part):
    name = {AnswerWords: "answer", Headings: "headings", Labels: "labels", Notes: "notes"}[part]
    for field in fields(part):
        english, chinese = (getattr(getattr(each, name), field.name) for each in (EN, ZH))
        assert placeholders(english) == placeholders(chinese), field.name
        assert english
        assert chinese


def test_every_outcome_has_a_name_in_both_languages():
    for name in ("verdicts", "purposes", "outcomes", "causes", "invalid", "points", "block_sources"):
        english, chinese = getattr(EN, name), getattr(ZH, name)
        kind = type(next(iter(english)))
        assert set(english) == set(chinese) == set(kind), name


def test_another_language_is_refused():
    with pytest.raises(UsageError, match="'fr'"):
        language("fr")


def placeholders(text):
    return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name)


def test_a_winner_without_anything_to_compare_with_says_so():
    base = examples.guide()
    assert base.verdict is not None
    alone = replace(base.verdict, incumbent=None, gain=None, gain_low=None, gain_high=None)
    campaign = replace(base, verdict=alone, launches=base.launches[1:4])
    assert answer(campaign, EN).sentence == (
        "maxBatchSize 435 -> 500: 2,982.5 output tokens/s (± 0.6 %); the setting found gave no reading to"
        " compare with"
    )
