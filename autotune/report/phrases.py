"""Phrases: what other parts of the tool wrote in English, in the language of the report where it is known."""

import re
from collections.abc import Mapping
from functools import cache

from autotune.report.safe_text import one_line
from autotune.report.texts.words import Language

GAP = "{}"


def reason_text(reason: str, language: Language, limit: int = 600) -> str:
    """A reason of the strategy on one line; its clauses are translated one by one."""
    shown = one_line(reason, limit)
    if not language.reasons:
        return shown
    clauses = (_translated(clause, language.reasons) or clause for clause in shown.split("; "))
    return language.between_clauses.join(clauses)


def fact_name(name: str, language: Language) -> str:
    """The name of a fact about engine, host or model."""
    shown = one_line(name)
    return language.facts.get(shown, shown)


def fact_value(value: str, language: Language) -> str:
    """The value of a fact; its clauses are translated where they are known."""
    shown = one_line(value)
    if not language.values:
        return shown
    return "; ".join(_translated(clause, language.values) or clause for clause in shown.split("; "))


def knows(reason: str, language: Language) -> bool:
    """Whether every clause of a reason has its words in this language."""
    clauses = reason.split("; ")
    return not language.reasons or all(_translated(clause, language.reasons) for clause in clauses)


def _translated(clause: str, phrases: Mapping[str, str]) -> str | None:
    if clause in phrases:
        return phrases[clause]
    for phrase, words in phrases.items():
        found = _pattern(phrase).fullmatch(clause) if GAP in phrase else None
        if found:
            return words.format(*(phrases.get(part, part) for part in found.groups()))
    return None


@cache
def _pattern(phrase: str) -> re.Pattern[str]:
    return re.compile("(.+?)".join(map(re.escape, phrase.split(GAP))))
