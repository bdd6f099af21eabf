"""How often the loops of an activation are gone around.

What a repaired run would do more rounds of is mostly what the run itself did elsewhere: it skips the two spaces here
that it skipped there. So that is how far a loop is unrolled.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from afterd.symbolic.code import Body

Loop = tuple[str, int]
"""A function's name, and the block that the loop begins with."""


@dataclass(slots=True)
class Rounds:
    """The rounds of an activation's loops since each was come to, by the block that it begins with."""

    counts: dict[int, int] = field(default_factory=dict)

    def copy(self) -> Rounds:
        """The same, to be counted on apart."""
        return Rounds(dict(self.counts))

    def count(self, body: Body, source: int, target: int, most: dict[Loop, int] | None) -> None:
        """Note that a block is entered from another one, and in ``most`` the most rounds of any activation."""
        if target not in body.headers[target]:
            return
        again = target in body.headers[source]
        rounds = self.counts.get(target, 0) + 1 if again else 1
        self.counts[target] = rounds
        if most is not None:
            loop = (body.name, target)
            most[loop] = max(rounds, most.get(loop, 0))

    def fewer_than(self, most: Mapping[Loop, int], body: Body, loops: Collection[int]) -> bool:
        """Whether each of these loops was gone around less often than that."""
        return all(self.counts.get(loop, 0) < most.get((body.name, loop), 0) for loop in loops)
