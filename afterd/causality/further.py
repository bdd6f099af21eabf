"""A variant that fails later in its test than the bad version: that one's fault is repaired, and another is left.

Where several assertions of a test have a guilty change each, undoing the first one's leads to the next. What else must
be undone is told by the failure, or else by the variant's own recorded run, as the first change was by the bad one's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from afterd.causality.trials import CameFurther, Clashing
from afterd.limits import SEARCH
from afterd.model.change import NOTHING, ChangeSet, in_order


@dataclass(slots=True)
class Further:
    """``told``: what a variant's other failure says must be undone as well; ``led_to``: what the causes of its own
    failure lead to, which is asked of few variants, ``left`` of them.
    """

    told: Clashing
    came_further: CameFurther
    led_to: Callable[[ChangeSet], ChangeSet]
    left: int = SEARCH.otherwise
    known: dict[ChangeSet, ChangeSet] = field(default_factory=dict)

    def clashing(self, reverted: ChangeSet) -> ChangeSet:
        """What must be undone as well, for a variant not to fail as it did; empty where that is not known."""
        told = self.told(reverted)
        if told or len(reverted) > SEARCH.put_back or not self.came_further(reverted):
            return told
        if reverted not in self.known and self.left:
            self.left -= 1
            self.known[reverted] = self.led_to(reverted)
        return self.known.get(reverted, NOTHING)

    def notes(self, undone: ChangeSet) -> list[str]:
        """What was seen of variants whose later failures led to a part of what is ``undone`` in the answer."""
        return [
            f"Without {', '.join(in_order(reverted))} the test comes further and fails otherwise,"
            f" for {', '.join(in_order(led))}."
            for reverted, led in self.known.items()
            if led and reverted | led <= undone
        ]
