from dataclasses import replace

import pytest

from autotune.model.launch import Purpose
from autotune.model.settings import Settings
from autotune.report.sections import build
from autotune.report.shares import shares
from autotune.report.texts.languages import language

from . import example_campaigns as examples


def bundled(*candidates, sweep=()):
    """Found: 300 without supportSelectBatch at 1000 tokens/s; recommended: 500 with it at 1500."""
    base = examples.guide()

    def launch(number, purpose, batch, rate, *, select):
        settings = Settings(max_batch_size=batch, support_select_batch=select)
        return replace(
            examples.launch(number, purpose, batch, examples.level(batch, rate)), settings=settings
        )

    launches = [launch(1, Purpose.INCUMBENT, 300, 1000.0, select=False)]
    launches += [launch(2 + at, Purpose.CANDIDATE, *pair, select=True) for at, pair in enumerate(candidates)]
    if sweep:
        levels = [examples.level(900, rate, running=at) for at, rate in sweep]
        launches.append(examples.launch(9, Purpose.SCOUT, 900, *levels))
    verdict = replace(
        base.verdict,
        incumbent=replace(base.verdict.incumbent, settings=launches[0].settings, tokens_per_second=1000.0),
        best=replace(
            base.verdict.best,
            settings=Settings(max_batch_size=500, support_select_batch=True),
            tokens_per_second=1500.0,
        ),
    )
    return replace(base, launches=tuple(launches), verdict=verdict)


def test_a_launch_of_the_new_settings_at_the_old_batch_size_parts_the_gain():
    found = shares(bundled((300, 1200.0), (500, 1500.0)))
    assert (found.bundle, found.batch) == (pytest.approx(0.2), pytest.approx(0.25))
    assert not found.estimated
    assert (1 + found.bundle) * (1 + found.batch) == pytest.approx(1.5)


def test_between_two_launches_it_is_read_off_the_curve_and_said_so():
    found = shares(bundled((250, 1100.0), (500, 1500.0)))
    assert found.bundle == pytest.approx(0.18)
    assert found.estimated


def test_the_sweep_gives_the_shape_where_no_restart_lies_below():
    found = shares(bundled((500, 1500.0), sweep=((200, 700.0), (300, 1120.0), (500, 1400.0))))
    assert found.bundle == pytest.approx(0.2)
    assert found.estimated


def test_what_cannot_be_parted_is_not_guessed():
    assert shares(bundled((500, 1500.0))) is None
    assert shares(examples.guide()) is None


@pytest.mark.parametrize(
    ("code", "words"), [("en", "Of this, +20.0 % comes from"), ("zh", "其中 +20.0% 来自")]
)
def test_the_report_says_it_under_the_changes(code, words):
    report = build(bundled((300, 1200.0), (500, 1500.0)), language(code))
    assert words in report.sections[0].parts[1].text
