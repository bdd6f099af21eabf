"""A variant that fails otherwise than the bad version: what else must be undone.

Where several assertions of a test have a guilty change each, undoing the first one's leads to the next; and where a
rewrite hands something else on, who makes it must be undone with who takes it. That is told by the failure, or else by
the variant's own recorded run, as the first change was by the bad one's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from afterd.causality.trials import Clashing
from afterd.limits import SEARCH
from afterd.model.change import NOTHING, ChangeSet, in_order


@dataclass(slots=True)
class Further:
    """``told``: what a variant's other failure says must be undone as well; ``led_to``: what the causes of its own
    failure lead to, which is asked of those that are ``worth_recording``, few of them: so many are ``left``.
    """

    told: Clashing
    worth_recording: Callable[[ChangeSet], bool]
    led_to: Callable[[ChangeSet], ChangeSet]
    left: int = SEARCH.otherwise
    known: dict[ChangeSet, ChangeSet] = field(default_factory=dict)

    def clashing(self, reverted: ChangeSet) -> ChangeSet:
        """What must be undone as well, for a variant not to fail as it did; empty where that is not known."""
        told = self.told(reverted)
        if told or len(reverted) > SEARCH.put_back or not self.worth_recording(reverted):
            return told
        if reverted not in self.known and self.left:
            self.left -= 1
            self.known[reverted] = self.led_to(reverted)
        return self.known.get(reverted, NOTHING)

    def notes(self, undone: ChangeSet) -> list[str]:
        """What was seen of variants whose own failures led to a part of what is ``undone`` in the answer."""
        return [
            f"Without {', '.join(in_order(reverted))} the test fails otherwise, for {', '.join(in_order(led))}."
            for reverted, led in self.known.items()
            if led and reverted | led <= undone
        ]
