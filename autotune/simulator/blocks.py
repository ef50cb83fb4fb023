"""BlockPool: the KV blocks that are left on the NPU and on the CPU."""

from autotune.simulator.sequence import Sequence


class BlockPool:
    """Counts blocks; which block is whose does not matter to a scheduler."""

    def __init__(self, *, blocks: int, cpu_blocks: int = 0) -> None:
        self.total = blocks
        self.free = blocks
        self.cpu_free = cpu_blocks

    def allocate(self, sequence: Sequence, blocks: int) -> None:
        """Give a sequence its first blocks."""
        self.free -= blocks
        sequence.blocks = blocks

    def release(self, sequence: Sequence) -> None:
        """Take back all blocks that a sequence holds on the NPU."""
        self.free += sequence.blocks
        sequence.blocks = 0

    def swap_out(self, sequence: Sequence) -> None:
        """Move a sequence's blocks to the CPU."""
        self.free += sequence.blocks
        self.cpu_free -= sequence.blocks

    def swap_in(self, sequence: Sequence) -> None:
        """Move a sequence's blocks back to the NPU."""
        self.free -= sequence.blocks
        self.cpu_free += sequence.blocks

    def drop_swapped(self, sequence: Sequence) -> None:
        """Take back the CPU blocks of a sequence that is cancelled while swapped out."""
        self.cpu_free += sequence.blocks
        sequence.blocks = 0
