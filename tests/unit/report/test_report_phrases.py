import ast
from pathlib import Path

import pytest

import autotune.search
from autotune.report.phrases import fact_name, knows, reason_text
from autotune.report.texts.languages import language

EN, ZH = language("en"), language("zh")


@pytest.mark.parametrize(
    ("reason", "chinese"),
    [
        ("throughput dropped", "吞吐下降"),
        ("435 and 500 cannot be told apart yet", "435 与 500 尚不能区分"),
        ("the budget is used; the gain was not confirmed", "启动预算已用完；提升未得到确认"),
        ("something new; throughput dropped", "something new；吞吐下降"),
        ("", ""),
    ],
)
def test_clauses_are_told_in_chinese_one_by_one(reason, chinese):
    assert reason_text(reason, ZH) == chinese
    assert reason_text(reason, EN) == reason


def test_a_hostile_reason_is_cleaned_in_both():
    for words in (EN, ZH):
        assert reason_text("\x1b[31mthroughput dropped\x1b[0m\n", words) in {"throughput dropped", "吞吐下降"}


def test_known_facts_have_chinese_names():
    assert fact_name("governors", ZH) == "CPU 调频策略"
    assert fact_name("governors", EN) == "governors"
    assert fact_name("LD_PRELOAD", ZH) == "LD_PRELOAD"


def sentences_of(path):
    """String constants with a blank that are neither documentation nor part of an error."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    left_out = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise | ast.JoinedStr):
            left_out |= {child for child in ast.walk(node) if child is not node}
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            left_out.add(node.value)
    for node in ast.walk(tree):
        if node in left_out:
            continue
        if isinstance(node, ast.JoinedStr):
            yield "".join(part.value if isinstance(part, ast.Constant) else "1" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_every_reason_that_a_strategy_gives_has_its_chinese():
    folder = Path(autotune.search.__file__).parent
    said = {text for path in folder.glob("*.py") for text in sentences_of(path) if " " in text}
    reasons = {text for text in said if "__" not in text}
    assert "throughput dropped" in reasons
    unknown = {reason for reason in reasons if not knows(reason.removeprefix("1; "), ZH)} - {"1; 1"}
    assert unknown == set(), "add these to autotune/report/texts/chinese_phrases.py"
