"""Languages: the one that was asked for."""

from autotune.errors import UsageError
from autotune.report.texts.chinese import CHINESE
from autotune.report.texts.english import ENGLISH
from autotune.report.texts.words import Language

LANGUAGES = {language.code: language for language in (ENGLISH, CHINESE)}


def language(code: str) -> Language:
    """The language `en` or `zh`. Raises UsageError for another one."""
    if code not in LANGUAGES:
        raise UsageError(f"no report in language {code!r}", hint="en or zh")
    return LANGUAGES[code]
