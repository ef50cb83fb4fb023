"""Guided: the process in which atheris leads one target; `python -m tests.fuzz.guided MODULE CHECK ...`."""

import sys
from importlib import import_module

import atheris


def main() -> None:
    """Instrument the package while the target's module is imported, then hand over for good."""
    module, name = sys.argv.pop(1), sys.argv.pop(1)
    with atheris.instrument_imports(include=["autotune", "tests.fuzz"]):
        found = import_module(module)
    check = getattr(found, name)

    def one(data: bytes) -> None:
        check(data)

    atheris.Setup(sys.argv, one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
