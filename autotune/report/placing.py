"""Placing: where a name stands beside its mark so that it covers nothing."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Box:
    """A rectangle of the drawing; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def covers(self, other: "Box") -> float:
        """The area that both have."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(0.0, width) * max(0.0, height)

    def outside(self, area: "Box") -> float:
        """How much of this lies outside `area`."""
        return self.covers(self) - self.covers(area)


@dataclass(frozen=True, kw_only=True, slots=True)
class Spot:
    """A place for a text: where it is anchored, and what it covers."""

    x: float
    y: float
    """Of the baseline."""
    anchor: str
    box: Box


def beside(mark: Box, *, width: float, height: float, area: Box) -> tuple[Spot, ...]:
    """Places around a mark, best first: above, below, right, left; the first two also moved aside."""
    centre = (mark.left + mark.right) / 2
    held = min(max(centre, area.left + width / 2), area.right - width / 2)
    level = (mark.top + mark.bottom) / 2 + height / 3
    above, below = mark.top - 5, mark.bottom + height + 1
    spots = [_spot(held, above, "middle", width, height), _spot(held, below, "middle", width, height)]
    spots += [_spot(mark.right + 5, level, "start", width, height)]
    spots += [_spot(mark.left - 5, level, "end", width, height)]
    for y in (above, below):
        spots += [_spot(centre - 4, y, "start", width, height), _spot(centre + 4, y, "end", width, height)]
    return tuple(spots)


def free_spot(spots: Iterable[Spot], taken: Iterable[Box], area: Box) -> Spot:
    """The first spot that covers nothing, else the one that covers least."""
    obstacles = tuple(taken)

    def cost(spot: Spot) -> float:
        return sum(spot.box.covers(box) for box in obstacles) + 10 * spot.box.outside(area)

    return min(spots, key=cost)


def _spot(x: float, y: float, anchor: str, width: float, height: float) -> Spot:
    left = {"start": x, "middle": x - width / 2, "end": x - width}[anchor]
    box = Box(left=left, top=y - height, right=left + width, bottom=y + 3)
    return Spot(x=x, y=y, anchor=anchor, box=box)
