"""Thorough: how a single test reads an interval wider than 1.5 % by the rule of final levels.

A window that wants more than 1.5 % uses the quick rule of sweep levels, whose interval does not hold when the
speed of the service wanders slowly. A test that stands alone has no other levels beside it, so it takes the
rule of final levels, ends after two narrow looks, and states the width that it was asked for.
"""

from autotune.statistics.window import QUICK_FROM

_STOP_SHARE = 0.8
"""A test ends when the interval is this share of the wanted one, since it was looked at several times."""
_PLAIN_SHARE = 0.15
"""An interval this far inside the wanted one is stated as it is."""
_WINDOW_HALF_WIDTH = 0.0045
"""Narrow enough for the rule of final levels, and so narrow that it seldom ends a test by itself."""


def window_half_width(wanted: float) -> float:
    """What the window is asked for, a fraction."""
    return wanted if wanted <= QUICK_FROM else _WINDOW_HALF_WIDTH


def sure_at(wanted: float) -> float | None:
    """Half-width that ends the test when it was seen twice; None leaves it to the window."""
    return None if wanted <= QUICK_FROM else _STOP_SHARE * wanted


def stated(wanted: float, computed: float | None) -> float | None:
    """The half-width to state: a test that ends because it looks narrow enough favours lucky looks."""
    if computed is None or wanted <= QUICK_FROM or computed <= _PLAIN_SHARE * wanted:
        return computed
    return max(computed, wanted)


def capped(wanted: float, computed: float | None) -> bool:
    """Whether a test whose time ran out had not become narrow enough."""
    return computed is None or computed > _STOP_SHARE * wanted
