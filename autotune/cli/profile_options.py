"""The profile on a command line, and values that override it there."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


def profile_argument() -> Callable[[Command], Command]:
    """PROFILE, as the parameter `profile`."""
    return click.argument("profile", type=click.Path(path_type=Path, dir_okay=False))


def overriding(example: str = "") -> Callable[[Command], Command]:
    """`--set KEY=VALUE`, as the parameter `overrides`; `example` is shown in its help."""
    like = f", like {example}" if example else ""
    return click.option(
        "--set",
        "overrides",
        multiple=True,
        metavar="KEY=VALUE",
        help=f"Override one value of the profile{like}; may be repeated.",
    )
