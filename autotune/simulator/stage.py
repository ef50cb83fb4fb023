"""StagePolicy: whether MindIE's next round is a prefill or a decode.

Source: the stage selection of MindIE-LLM's scheduler, for one instance that does both.
"""

from typing import NamedTuple

from autotune.simulator.rules import MindieRules

DEFAULT_QUEUE_DELAY_MICROSECONDS = 5000
DECODE_RESERVE = 0.05
"""Share of all blocks that prefill leaves to the running sequences when supportSelectBatch is false."""


class Queues(NamedTuple):
    """What the choice is made on; made once a round, so it is a plain tuple."""

    waiting: int
    running: int
    swapped: int
    free_blocks: int
    oldest_arrival: float
    """Arrival of the head of the waiting queue in seconds; of no meaning when nothing waits."""


class StagePolicy:
    """Holds the waste account of supportSelectBatch."""

    def __init__(self, rules: MindieRules) -> None:
        self._rules = rules
        self._waste_ms = 0
        self._decode_reserve = int(DECODE_RESERVE * rules.blocks)

    def wants_prefill(self, queues: Queues, now: float) -> bool:
        """Decide for one round, and keep the account of it."""
        if self._rules.support_select_batch:
            return self._prefill_pays(queues)
        return (
            queues.swapped == 0 and queues.free_blocks >= self._decode_reserve and self._is_due(queues, now)
        )

    def due_at(self, queues: Queues) -> float | None:
        """When the head of the waiting queue will have waited long enough, in seconds; None: at once."""
        if self._rules.support_select_batch:
            return None
        return queues.oldest_arrival + self._rules.queue_delay

    def quiet_decodes(self, queues: Queues) -> int | None:
        """Decode rounds that are certain to come next while the queues stay as they are; None: no end."""
        if queues.waiting == 0:
            return None
        if not self._rules.support_select_batch:
            reserved = queues.swapped > 0 or queues.free_blocks < self._decode_reserve
            return None if reserved else 0
        gain = self._waste_of_a_round(queues.running)
        if gain == 0:
            return None if self._prefill_cost(queues.running) > self._waste_ms else 0
        short = self._prefill_cost(queues.running) - self._waste_ms
        return max(0, -(-short // gain) - 1)

    def skip(self, rounds: int, queues: Queues) -> None:
        """Keep the account of this many quiet decode rounds at once."""
        if not self._rules.support_select_batch:
            return
        if queues.waiting:
            self._waste_ms += rounds * self._waste_of_a_round(queues.running)
        else:
            self._waste_ms = 0

    def _prefill_pays(self, queues: Queues) -> bool:
        if queues.waiting == 0:
            self._waste_ms = 0
            return False
        self._waste_ms += self._waste_of_a_round(queues.running)
        if self._prefill_cost(queues.running) > self._waste_ms:
            return False
        self._waste_ms = 0
        return True

    def _prefill_cost(self, running: int) -> int:
        return self._rules.prefill_time_ms_per_req * running

    def _waste_of_a_round(self, running: int) -> int:
        return self._rules.decode_time_ms_per_req * max(0, self._rules.max_batch_size - running)

    def _is_due(self, queues: Queues, now: float) -> bool:
        if queues.waiting == 0:
            return False
        fills_a_batch = queues.waiting >= self._rules.prefill_batch
        waits_for_batches = self._rules.max_queue_delay_microseconds > DEFAULT_QUEUE_DELAY_MICROSECONDS
        due = queues.oldest_arrival + self._rules.queue_delay
        return (waits_for_batches and fills_a_batch) or now >= due
