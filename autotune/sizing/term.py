"""Term: one step of the sizing arithmetic as a value that can be printed."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Term:
    """A named value and the arithmetic that gave it, with the numbers filled in."""

    name: str
    value: float
    formula: str

    def __str__(self) -> str:
        shown = f"{self.value:,.0f}" if float(self.value).is_integer() else f"{self.value:,.3f}"
        return f"{self.name} = {self.formula} = {shown}"
