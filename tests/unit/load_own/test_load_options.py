"""The command line of a load test becomes one test, or a clear refusal."""

import pytest

from autotune.errors import UsageError
from autotune.load.ends import ForRequests, ForSeconds, UntilSure
from autotune.load.options import LoadOptions, cpus_of, prepared
from autotune.load.quantities import fraction_of, seconds_of

BASE = {"url": "http://127.0.0.1:1025", "api": "tgi", "model": "m"}


def made(**values):
    return prepared(LoadOptions(**{**BASE, "concurrency": 4, **values})).test


def test_the_interval_is_one_percent_when_nothing_is_said():
    assert made().end == UntilSure(half_width=0.01, cap_seconds=600.0, alone=True)


@pytest.mark.parametrize(
    ("values", "end"),
    [
        ({"requests": 7}, ForRequests(count=7)),
        ({"duration": "90s"}, ForSeconds(seconds=90.0)),
        ({"half_width": "2%", "cap": "5m"}, UntilSure(half_width=0.02, cap_seconds=300.0, alone=True)),
    ],
)
def test_a_test_ends_as_it_was_asked_to(values, end):
    assert made(**values).end == end


def test_synthetic_lengths_are_those_asked_for_even_beyond_the_usual_longest():
    load = made(input_tokens=100, output_tokens=900).workload
    assert {load.asked_tokens(index) for index in range(50)} == {900}


def test_a_header_may_come_from_the_environment_or_a_file(monkeypatch, tmp_path):
    monkeypatch.setenv("TOKEN", "one")
    (tmp_path / "token").write_text("two\n")
    target = made(headers=("A=env:TOKEN", f"B=file:{tmp_path / 'token'}", "C=three=3")).target
    assert target.headers == (("A", "one"), ("B", "two"), ("C", "three=3"))


@pytest.mark.parametrize(
    "values",
    [
        {"concurrency": None},
        {"rate": 3.0},
        {"requests": 5, "duration": "5s"},
        {"duration": "soon"},
        {"half_width": "150%"},
        {"dataset_type": "gsm8k"},
        {"ca": "ca.pem"},
        {"headers": ("nothing",)},
        {"headers": ("A=env:NOT_SET_ANYWHERE",)},
        {"headers": ("A=file:/not/there",)},
        {"headers": ("A=x\r\nB: y",)},
        {"cpus": "a-b"},
        {"url": "http://127.0.0.1:99999"},
    ],
)
def test_what_does_not_fit_together_is_refused(values):
    with pytest.raises(UsageError):
        made(**values)


def test_a_dataset_needs_its_type(tmp_path):
    with pytest.raises(UsageError, match="--dataset-type"):
        made(dataset=tmp_path)


def test_token_ids_only_for_the_api_that_takes_nothing_else():
    load = made(api="triton-tokens", input_tokens=12).workload
    assert len(load.prompts[0].token_ids) == 12


@pytest.mark.parametrize(
    ("text", "seconds"), [("60s", 60), ("1.5m", 90), ("250ms", 0.25), ("2h", 7200), ("7", 7)]
)
def test_times_are_read(text, seconds):
    assert seconds_of(text, "--duration") == seconds


@pytest.mark.parametrize(("text", "fraction"), [("1%", 0.01), ("0.02", 0.02), (" 2.5 % ", 0.025)])
def test_shares_are_read(text, fraction):
    assert fraction_of(text, "--half-width") == pytest.approx(fraction)


def test_cpu_lists_are_read():
    assert cpus_of("0-2,8") == (0, 1, 2, 8)
