"""The pages that are made from the code are those of the code; `make docs` writes them again."""

import pytest

from tests.docs.__main__ import FOLDER, PAGES


@pytest.mark.parametrize("name", PAGES)
def test_a_page_that_is_made_from_the_code_is_current(name):
    written = (FOLDER / name).read_text(encoding="utf-8")
    assert written == PAGES[name](), "run: make docs"


def test_every_command_and_error_class_has_its_section():
    commands = (FOLDER / "command-line.md").read_text(encoding="utf-8")
    messages = (FOLDER / "messages.md").read_text(encoding="utf-8")
    for title in ("tune", "host show", "host apply", "nightly", "agent"):
        assert f"## `autotune {title}`" in commands
    for name in ("Refused", "UsageError", "NotRestored", "Busy"):
        assert f"## {name} (exit code" in messages
