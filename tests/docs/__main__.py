"""Write the pages that are made from the code: `make docs`."""

from pathlib import Path

from tests.docs import command_line, messages, report_json

PAGES = {
    "command-line.md": command_line.page,
    "messages.md": messages.page,
    "report-json.md": report_json.page,
}
FOLDER = Path(__file__).parents[2] / "docs"


def main() -> None:
    """Write all of them."""
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), encoding="utf-8")
        print(FOLDER / name)


if __name__ == "__main__":
    main()
