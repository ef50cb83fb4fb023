"""What all sections of a profile share: strictness, and the kinds of values that stand in them."""

from collections.abc import Mapping
from typing import Annotated, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag

from autotune.profile.quantities import fraction_of, seconds_of
from autotune.profile.secret import SecretReference

T = TypeVar("T")


class Section(BaseModel):
    """A frozen part of a profile that refuses keys it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)


def _words(value: object) -> object:
    """Numbers in a command are words too; a whole line is not, because no shell is used."""
    if isinstance(value, str):
        message = "a command is a list of words, like [systemctl, stop, mindie]; no shell is used"
        raise ValueError(message)  # noqa: TRY004 - pydantic takes ValueError only
    if isinstance(value, list | tuple):
        return [_plain_number(word) for word in value]
    return value


def not_empty(value: tuple[T, ...]) -> tuple[T, ...]:
    """The value itself. Raises ValueError when it has no items."""
    if not value:
        raise ValueError("must not be empty")
    return value


def _plain_number(value: object) -> object:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value


def _text_or_reference(value: object) -> str:
    return "<reference>" if isinstance(value, Mapping | SecretReference) else "<text>"


Whole = Annotated[int, Field(strict=True, ge=1)]
"""A whole number above zero; `true` and `3.0` are none."""
Count = Annotated[int, Field(strict=True, ge=0)]
"""A whole number, zero included."""
Real = Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)]
"""A number above zero."""
Flag = Annotated[bool, Field(strict=True)]
"""true or false and nothing that is like it."""
Duration = Annotated[float, BeforeValidator(seconds_of)]
"""Seconds, written 90s, 15m or 2h."""
Fraction = Annotated[float, BeforeValidator(fraction_of)]
"""A fraction, written 2% or 0.02."""
Word = Annotated[str, Field(min_length=1)]
"""Text that is not empty."""
Argv = Annotated[tuple[Word, ...], BeforeValidator(_words), AfterValidator(not_empty)]
"""A command as a list of words."""
TextOrSecret = Annotated[
    Annotated[str, BeforeValidator(_plain_number), Tag("<text>")]
    | Annotated[SecretReference, Tag("<reference>")],
    Discriminator(_text_or_reference),
]
"""Plain text, or a reference to a secret."""
