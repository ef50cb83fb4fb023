"""CONTRIBUTING's map of the house is the house, and every command that it names is there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
MAP = re.findall(r"```\n(autotune/\n.*?)```", TEXT, re.DOTALL)[0]
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def packages(folder: str) -> set[str]:
    return {path.parent.name for path in (ROOT / folder).glob("*/__init__.py")}


def test_the_map_has_every_package_and_no_other():
    ours, tests = MAP.split("tests/\n")
    above = set(re.findall(r"^  ([a-z_]+)/ ", ours, re.MULTILINE))
    assert above == packages("autotune")
    assert set(re.findall(r"^    ([a-z_]+)/ ", ours, re.MULTILINE)) == packages("autotune/campaign")
    named = set(re.findall(r"\b([a-z]+)/", tests)) - {"autotune"}
    there = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir()} - {"__pycache__"}
    assert there - {"sample"} == named - {"architecture", "sample"} | {"docs"}


def test_every_module_that_the_steps_name_is_there():
    rows = re.findall(r"^\| [a-z]+ \| (.*?) \|", TEXT, re.MULTILINE)
    assert len(rows) > 5
    for row in rows:
        folder = ""
        for path in re.findall(r"`([\w/]+(?:\.py|/))`", row):
            folder = f"{Path(path).parent}/" if path.count("/") and path.endswith(".py") else folder
            place = path if "/" in path else f"{folder}{path}"
            assert (ROOT / "autotune" / place).exists(), place


def test_every_make_target_that_it_names_is_one():
    named = set(re.findall(r"`make ([a-z-]+)", TEXT))
    assert named <= TARGETS, named - TARGETS
    assert len(named) > 10
