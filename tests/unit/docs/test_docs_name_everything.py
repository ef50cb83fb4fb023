"""The documents name what the code has: every error class, cause, reason and constant; both READMEs alike."""

import re
from enum import Enum
from importlib import import_module
from pathlib import Path

import pytest

from autotune import errors
from autotune.cli.main import COMMANDS
from autotune.errors import LaunchCause
from autotune.model.measurement import InvalidReason

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
TROUBLE = (DOCS / "troubleshooting.md").read_text(encoding="utf-8")
STATISTICS = (DOCS / "search-and-statistics.md").read_text(encoding="utf-8")
CONSTANTS = re.findall(r"^\| `(autotune\.[\w.]+)` \| (\S+) \|$", STATISTICS, re.MULTILINE)
CLASSES = [value for value in vars(errors).values() if isinstance(value, type)]
ERRORS = [each for each in CLASSES if issubclass(each, errors.AutotuneError)]
READMES = [(ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "README.zh.md")]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.__name__)
def test_every_error_class_stands_in_the_row_of_its_exit_code(error):
    row = next(line for line in TROUBLE.splitlines() if line.startswith(f"| {error.exit_code} |"))
    assert f"`{error.__name__}`" in row


@pytest.mark.parametrize("word", [*LaunchCause, *InvalidReason], ids=lambda word: word.value)
def test_every_cause_of_a_failed_start_and_every_invalid_reason_has_a_row(word: Enum):
    assert f"\n| `{word.value}` |" in TROUBLE


@pytest.mark.parametrize(("name", "value"), CONSTANTS, ids=[name for name, _ in CONSTANTS])
def test_the_constants_of_the_page_on_statistics_are_those_of_the_code(name, value):
    parts = name.split(".")
    depth = next(at for at in range(len(parts) - 1, 0, -1) if _module(parts[:at]) is not None)
    found = _module(parts[:depth])
    for part in parts[depth:]:
        fields = getattr(found, "__dataclass_fields__", {})
        found = fields[part].default if isinstance(found, type) and part in fields else getattr(found, part)
    assert found == float(value)


def _module(parts):
    try:
        return import_module(".".join(parts))
    except ModuleNotFoundError:
        return None


@pytest.mark.parametrize("text", READMES, ids=["English", "Chinese"])
def test_a_readme_names_every_command_and_exit_code(text):
    for command in COMMANDS:
        assert f"`autotune {command}" in text or f"`{command}`" in text, command
    for code in (0, 1, 2, 3, 4, 5, 75, 124, 130):
        assert re.search(rf"(?<!\d){code}(?!\d)", text), code


def test_both_readmes_have_the_same_parts_commands_pictures_and_links():
    english, chinese = READMES
    for pattern in (r"^#+ ", r"^```", r"^\| `", r"^\d+\. "):
        assert len(re.findall(pattern, english, re.MULTILINE)) == len(
            re.findall(pattern, chinese, re.MULTILINE)
        )
    blocks = [re.findall(r"```\w*\n(.*?)```", text, re.DOTALL) for text in READMES]
    assert [_code(block) for block in blocks[0]] == [_code(block) for block in blocks[1]]
    links = [
        set(re.findall(r"\]\(((?:docs|reports|CONTRIBUTING|profiles)[^)]*)\)", text)) for text in READMES
    ]
    assert links[0] == links[1]


def _code(block: str) -> list[str]:
    """The commands of a block, comments left off."""
    return [" ".join(line.partition("#")[0].split()) for line in block.splitlines()]


@pytest.mark.parametrize(
    "path", [ROOT / "README.md", ROOT / "README.zh.md", *sorted(DOCS.glob("*.md"))], ids=str
)
def test_every_link_of_a_page_leads_somewhere(path):
    text = path.read_text(encoding="utf-8")
    for line in text.splitlines():
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", line):
            figures = "reports/bench/" in link and re.search(r"`(make|python)[^`]*`", line)
            assert (path.parent / link).exists() or figures, link  # figures are made on a quiet machine
