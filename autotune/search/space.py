"""Space: which settings may be tried for one workload on one host."""

from dataclasses import dataclass, replace

from autotune.errors import UsageError
from autotune.model.bracket import Bracket, RequestBlocks
from autotune.model.settings import Settings
from autotune.sizing.bracket import bracket as sized_bracket
from autotune.sizing.bracket import prefill_batch, prefill_tokens

_UNKNOWN_REACH = 4
"""Without blocks, how many times below and above the incumbent the bracket reaches."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Space:
    """What a strategy may choose from. Everything but max_batch_size follows from it or is shared."""

    incumbent: Settings | None
    """The setting found on the host; None when there is none to compare with."""
    request: RequestBlocks
    mean_input_tokens: float
    max_input_token_len: int
    bounds_low: int = 1
    bounds_high: int
    """Largest max_batch_size that the service takes."""
    grid: tuple[int, ...] = ()
    """Allowed values of max_batch_size (gears, multiples of 8); empty: every whole number."""
    concurrency: int
    """Requests that the clients keep open; the same for all compared launches."""
    blocks: int | None = None
    """KV blocks as estimated before any launch; what a launch reports wins."""
    blocks_source: str = "formula"
    shared: Settings | None = None
    """Values that all candidates share, beside those that follow from max_batch_size."""
    block_size: int = 128
    max_output_tokens: int | None = None
    """Cap on generated tokens a request, for the blocks of the longest."""
    lengths_assumed: bool = False
    """`request` and `mean_input_tokens` are a guess: what the incumbent's launch measures wins."""
    times_from_means: bool = False
    """All candidates get prefill and decode times from the incumbent's measured means (MindIE)."""
    tune_prefill: bool = True
    """Let max_prefill_batch_size and max_prefill_tokens follow max_batch_size (MindIE)."""

    def __post_init__(self) -> None:
        """Raise UsageError when nothing can be chosen."""
        if not 1 <= self.bounds_low <= self.highest:
            raise UsageError(
                f"no batch size between {self.bounds_low} and {self.highest}",
                hint="raise the concurrency or the upper bound",
            )
        if self.grid and not self._grid_inside():
            raise UsageError("no value of the grid lies inside the bounds")

    @property
    def highest(self) -> int:
        """Largest value worth trying: above the concurrency a limit cannot be felt."""
        return min(self.bounds_high, self.concurrency)

    def _grid_inside(self) -> tuple[int, ...]:
        return tuple(sorted({size for size in self.grid if self.bounds_low <= size <= self.highest}))

    def at_least(self, size: float) -> int | None:
        """Smallest allowed value that is not below `size`; None when there is none."""
        wanted = max(-int(-size // 1), self.bounds_low)
        if self.grid:
            return next((value for value in self._grid_inside() if value >= wanted), None)
        return wanted if wanted <= self.highest else None

    def at_most(self, size: float) -> int | None:
        """Largest allowed value that is not above `size`; None when there is none."""
        wanted = min(int(size // 1), self.highest)
        if self.grid:
            return next((value for value in reversed(self._grid_inside()) if value <= wanted), None)
        return wanted if wanted >= self.bounds_low else None

    def nearest(self, size: float) -> int:
        """Allowed value nearest to `size`; the smaller of two that are equally near."""
        below, above = self.at_most(size), self.at_least(size)
        if below is None or above is None:
            found = above if below is None else below
            assert found is not None, "__post_init__ made sure of one value"
            return found
        return below if size - below <= above - size else above

    def bracket(self, blocks: int | None = None, source: str | None = None) -> Bracket:
        """Where to look, by the block arithmetic, inside bounds and grid.

        `blocks` is what a launch reported; without it the estimate is used, and without that the
        incumbent's surroundings. Raises UsageError when there is nothing to start from.
        """
        count = blocks if blocks is not None else self.blocks
        if count is None:
            return self._bracket_around_incumbent()
        origin = source or (self.blocks_source if blocks is None else "log")
        found = sized_bracket(blocks=count, request=self.request, source=origin)
        return self._inside(found.low, found.start, found.high, blocks=count, source=origin)

    def _bracket_around_incumbent(self) -> Bracket:
        if self.incumbent is None:
            raise UsageError(
                "neither KV blocks nor a setting to start from", hint="give the blocks: --blocks N"
            )
        start = self.incumbent.max_batch_size
        return self._inside(
            start // _UNKNOWN_REACH, start, start * _UNKNOWN_REACH, blocks=0, source="incumbent"
        )

    def _inside(self, low: int, start: int, high: int, *, blocks: int, source: str) -> Bracket:
        first, middle, last = self.nearest(low), self.nearest(start), self.nearest(high)
        return Bracket(
            low=first,
            start=middle,
            high=last,
            start_prefill=prefill_batch(middle),
            blocks=blocks,
            source=source,
        )

    def settings_for(self, max_batch_size: int) -> Settings:
        """The whole setting that goes with one max_batch_size."""
        shared = self.shared or Settings(max_batch_size=max_batch_size)
        if not self.tune_prefill:
            return replace(shared, max_batch_size=max_batch_size)
        batch = prefill_batch(max_batch_size)
        tokens = prefill_tokens(
            prefill_batch=batch,
            mean_input_tokens=self.mean_input_tokens,
            max_input_token_len=self.max_input_token_len,
        )
        return replace(
            shared,
            max_batch_size=max_batch_size,
            max_prefill_batch_size=batch,
            max_prefill_tokens=tokens,
        )
