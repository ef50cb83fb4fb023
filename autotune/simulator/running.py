"""RunningSet: the sequences that decode together, with a calendar of what they will need and when.

A decode round gives one token to each member, except to those that rest. Instead of touching every member
in every round, the set counts the rounds and keeps, by round, who may finish in it and who may need a
further KV block in it, so that a round costs as much as what happens in it. Who has rested comes up too
early, and is entered again.
"""

from collections.abc import Iterable
from itertools import chain, islice
from operator import attrgetter

from autotune.simulator.sequence import Sequence, Steps

NUMBER = attrgetter("number")
"""Sort key: order of submission."""


class RunningSet:
    """Ordered members that get a token each step."""

    def __init__(self, cache_block_size: int) -> None:
        self._block_size = cache_block_size
        self._steps = Steps()
        self._members: dict[Sequence, None] = {}
        self._resting: dict[Sequence, None] = {}
        self._tail_rests = True
        """Those that rest are the last of the order; so it is, too, when nobody rests."""
        self._finishing: dict[int, dict[Sequence, None]] = {}
        self._growing: dict[int, dict[Sequence, None]] = {}
        self._context = 0
        self._served: tuple[Sequence, ...] | None = ()

    def __len__(self) -> int:
        return len(self._members)

    def __contains__(self, sequence: Sequence) -> bool:
        return sequence in self._members

    @property
    def resting(self) -> int:
        """Members that get no token in the next step."""
        return len(self._resting)

    @property
    def served(self) -> tuple[Sequence, ...]:
        """Members that get a token in the next step, in order."""
        if self._served is None:
            if self._tail_rests:
                self._served = tuple(islice(self._members, len(self._members) - len(self._resting)))
            else:
                self._served = tuple(member for member in self._members if member not in self._resting)
        return self._served

    @property
    def context_tokens(self) -> int:
        """Tokens that the served members attend to: prompts and all that was generated."""
        if not self._resting:
            return self._context
        leads = sum([sequence.prompt_tokens + sequence.lead for sequence in self._resting])
        return self._context - leads - len(self._resting) * self._steps.count

    @property
    def last(self) -> Sequence:
        """The member at the end of the order."""
        return next(reversed(self._members))

    @property
    def last_served(self) -> Sequence:
        """The last member that does not rest."""
        return next(member for member in reversed(self._members) if member not in self._resting)

    def join(self, sequence: Sequence) -> None:
        """Add a member at the end; it must have a token left to generate."""
        generated = sequence.start_decoding(self._steps)
        self._members[sequence] = None
        self._context += sequence.prompt_tokens + generated
        self._served = None
        self._note_finish(sequence, sequence.output_tokens - generated)
        self._note_growth(sequence, generated)

    def leave(self, sequence: Sequence) -> None:
        """Take a member out; the tokens that it has are kept."""
        self._context -= sequence.prompt_tokens + sequence.stop_decoding()
        del self._members[sequence]
        self._resting.pop(sequence, None)
        self._served = None

    def order(self) -> list[Sequence]:
        """All members in order."""
        return list(self._members)

    def reorder(self, *parts: Iterable[Sequence]) -> None:
        """Put the members into the order of these parts; together they must hold just the members."""
        self._members = dict.fromkeys(chain.from_iterable(parts))
        self._served = None

    def rest(self, sequences: Iterable[Sequence]) -> None:
        """Only these members get no token in the next step."""
        self._resting = dict.fromkeys(sequences)
        self._tail_rests = not self._resting
        self._served = None

    def rest_all_but(self, served: int) -> list[Sequence]:
        """Only the members after the first `served` get no token in the next step; return them."""
        tail = list(islice(self._members, served, None))
        self._resting = dict.fromkeys(tail)
        self._tail_rests = True
        self._served = None
        return tail

    def growing(self) -> list[Sequence]:
        """Served members that need a further block for the next step, in no particular order."""
        due = self._growing.get(self._steps.count)
        if not due:
            return []
        needy = []
        for sequence in due:
            if sequence not in self._members:
                continue
            if not self._lacks_block(sequence):
                self._note_growth(sequence, sequence.generated)
            elif sequence not in self._resting:
                needy.append(sequence)
        return needy

    def granted(self, sequence: Sequence) -> None:
        """A growing member has got its block."""
        sequence.blocks += 1
        self._note_growth(sequence, sequence.generated)

    def step(self) -> list[Sequence]:
        """Give each served member a token; return those that are finished by it, already taken out."""
        now = self._steps.count
        still_lacking = [s for s in self._growing.pop(now, ()) if s in self._resting and self._lacks_block(s)]
        for sequence in self._resting:
            sequence.lead -= 1
        self._steps.count = now + 1
        self._context += len(self._members) - len(self._resting)
        for sequence in still_lacking:
            self._growing.setdefault(now + 1, {})[sequence] = None
        return self._finish(self._finishing.pop(now, {}))

    def quiet_steps(self, limit: int) -> int:
        """How many steps, at most `limit`, pass from now on in which nobody finishes or needs a block."""
        now = self._steps.count
        for ahead in range(limit):
            if now + ahead in self._finishing or now + ahead in self._growing:
                return ahead
        return limit

    def skip(self, steps: int) -> None:
        """Take this many quiet steps at once; nobody may rest."""
        self._steps.count += steps
        self._context += steps * len(self._members)

    def _finish(self, due: dict[Sequence, None]) -> list[Sequence]:
        finished = []
        for sequence in due:
            if sequence not in self._members:
                continue
            left = sequence.left
            if left:
                self._note_finish(sequence, left)
                continue
            self.leave(sequence)
            finished.append(sequence)
        return finished

    def _lacks_block(self, sequence: Sequence) -> bool:
        return sequence.length > sequence.blocks * self._block_size

    def _note_finish(self, sequence: Sequence, left: int) -> None:
        self._finishing.setdefault(self._steps.count + left - 1, {})[sequence] = None

    def _note_growth(self, sequence: Sequence, generated: int) -> None:
        room = sequence.blocks * self._block_size - sequence.prompt_tokens - generated
        wait = room + 1 if room >= 0 else 0
        if generated + wait < sequence.output_tokens:
            self._growing.setdefault(self._steps.count + wait, {})[sequence] = None
