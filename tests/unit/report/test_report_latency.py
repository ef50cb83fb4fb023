from dataclasses import replace

from autotune.model.campaign import LimitFindings, LimitValue, TradeOff
from autotune.model.limit import LimitStatistic
from autotune.model.measurement import Distribution
from autotune.report.latency import figures, latency_plots
from autotune.report.limits import profile_limits
from autotune.report.texts.languages import language
from autotune.report.trade_offs import trade_off_parts, trade_off_table, trade_offs

from . import example_campaigns as examples

EN = language("en")


def limited(*limits):
    """The guide's campaign under limits."""
    text = examples.PROFILE.replace("limits: []", f"limits: [{', '.join(limits)}]")
    return replace(examples.guide(), profile_text=text)


def test_limits_are_read_from_the_profile_and_choose_the_figure():
    campaign = limited('"tpot:p99<=210ms"', '"goodput>=99%"')
    assert [limit.text for limit in profile_limits(campaign)] == ["tpot:p99<=210ms", "goodput>=99%"]
    ttft, tpot = figures(campaign)
    assert (ttft.limit, ttft.statistic) == (None, LimitStatistic.MEAN)
    assert tpot.statistic is LimitStatistic.P99
    assert tpot.of(examples.level(435, 2845.3)) == 1000 * 435 / 2845.3 * 1.3


def test_a_profile_that_cannot_be_read_has_no_limits():
    for text in ("{", "name: x", "objective: {limits: 3}", 'objective: {limits: ["fast"]}'):
        assert profile_limits(replace(examples.guide(), profile_text=text)) == ()


def test_the_limit_is_drawn_and_the_table_says_who_keeps_it():
    campaign = limited('"tpot:mean<=160ms"')
    assert latency_plots(campaign, EN)[1].rules[0].y == 160.0
    table = trade_off_table(campaign, EN)
    kept = {row[0].text: row[-1].text for row in table.rows}
    assert kept == {"500": "no", "435": "yes", "600": "no"}


def test_a_trade_off_is_beaten_by_no_other_restart():
    found = [(value.batch, round(value.tokens_per_second, 2)) for value in trade_offs(examples.guide())]
    assert found == [(500, 2985.85), (435, 2848.6), (600, 2520.6)]


def test_levels_without_latencies_give_no_chart():
    base = examples.guide()
    bare = tuple(
        replace(
            launch,
            levels=tuple(
                replace(level, ttft_ms=Distribution(), tpot_ms=Distribution())
                for level in launch.measurements
            ),
        )
        for launch in base.launches
    )
    assert latency_plots(replace(base, launches=bare), EN) == ()


def test_a_long_campaign_names_only_what_can_be_read():
    names = [mark.name for mark in latency_plots(examples.large(60), EN)[0].marks if mark.name]
    assert len(names) <= 1
    assert len(trade_off_table(examples.large(60), EN).rows) <= 12


def test_what_the_limits_cost_is_said_in_words():
    cost = trade_off_parts(limited('"tpot:mean<=160ms"'), EN)[0]
    assert cost.text == (
        "The limits cost 4.6 %: maxBatchSize 500 reads 2,985.9 tokens/s and breaks one, maxBatchSize 435 with"
        " 2,848.6 tokens/s is the fastest that keeps them."
    )
    assert trade_off_parts(limited('"tpot:mean<=900ms"'), EN)[0].text == EN.notes.limits_free
    assert trade_off_parts(limited('"tpot:mean<=1ms"'), EN)[0].text == EN.notes.limits_unmet


def test_goodput_has_its_column_where_it_was_counted():
    base = limited('"goodput>=99%"')
    level = replace(base.launches[0].levels[0], goodput=0.97)
    campaign = replace(base, launches=(replace(base.launches[0], levels=(level,)),))
    table = trade_off_table(campaign, EN)
    assert [column.title for column in table.columns][-2:] == ["Goodput", "goodput>=99%"]
    assert [cell.text for cell in table.rows[0]][-2:] == ["97.0 %", "no"]


def test_the_judgement_of_the_search_goes_before_the_bare_figures():
    base = limited('"tpot:mean<=160ms"')
    rows = tuple(
        TradeOff(
            settings=examples.settings(batch),
            tokens_per_second=rate,
            kept=judgement == "kept",
            efficient=True,
            values=(LimitValue(limit="tpot:mean<=160ms", value=150.0, judgement=judgement),),
        )
        for batch, rate, judgement in ((435, 2848.6, "kept"), (500, 2985.9, "open"), (600, 2520.6, "broken"))
    )
    reason = "500 does not surely keep tpot:mean<=160ms: 158.0 ms"
    found = LimitFindings(rows=rows, fastest=None, cost=0.046, next_size=500, next_reason=reason)
    campaign = replace(base, limit_findings=found)
    kept = {row[0].text: row[-1].text for row in trade_off_table(campaign, EN).rows}
    assert kept == {"500": "not sure", "435": "yes", "600": "no"}
    assert trade_off_parts(campaign, EN)[0].text.endswith(f"Why no further: {reason}.")
    chinese = trade_off_parts(campaign, language("zh"))[0].text
    assert chinese.endswith("不能更进一步的原因：500 不能确定满足 tpot:mean<=160ms（158.0 ms）。")
