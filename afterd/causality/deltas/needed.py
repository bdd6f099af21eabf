"""Which changes of a passing reversion are needed: probabilistic delta debugging.

Each change has a chance of being needed, and the part is put back next by which most changes are hoped to be settled
as not needed (ProbDD; Wang, Shen, Chen, Xiong, Zhang, Probabilistic delta debugging, FSE 2021, sections 3.2 and 3.3).
There each chance begins at one guess for all programs. How many are needed is what nobody knows, though: of a
rewritten function all are, of a release two of a thousand. So the share of them is unknown here, as likely between
one of all and two of all as between half of all and all, and is learnt from the same runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from math import exp, log, prod
from types import MappingProxyType
from typing import TypeVar

from afterd.model.change import NOTHING, ChangeId, ChangeSet

PassedT = TypeVar("PassedT")


class Needed:
    """What is known of the changes of a passing reversion; ``order``: the likeliest to be needed first; ``needs``: what
    each asks for by its names, so that a change is put back together with all that ask for it, and those first that
    nobody asks for: what is left is then a program.
    """

    def __init__(
        self, order: Sequence[ChangeId], needs: Mapping[ChangeId, ChangeSet] = MappingProxyType({})
    ) -> None:
        self._left = [*order]
        self._asking: dict[ChangeId, set[ChangeId]] = {change: {change} for change in order}
        for change in order:
            for needed in needs.get(change, NOTHING) & self._asking.keys():
                self._asking[needed].add(change)
        self._at = {change: place for place, change in enumerate(order)}
        steps = 2 * len(order).bit_length()
        self._shares = [2 ** (-step / 2) for step in range(steps + 1)]
        self._put_back: list[int] = []
        self._refused: list[ChangeSet] = []

    def passed_without(self, part: Iterable[ChangeId]) -> None:
        """With all of a part put back it still passed: none of them is needed."""
        gone = frozenset(part)
        self._put_back.append(len(gone))
        self._left = [change for change in self._left if change not in gone]
        self._refused = [refused - gone for refused in self._refused]

    def failed_without(self, part: Iterable[ChangeId]) -> None:
        """With all of a part put back it did not pass: at least one of them is needed."""
        self._refused.append(frozenset(part) & frozenset(self._left))

    def next_part(self) -> list[ChangeId]:
        """The changes to put back together; empty where each is known to be needed."""
        chances = self._chances()
        together = {change: self._asking[change].intersection(chances) for change in self._left}

        def needed(change: ChangeId) -> float:
            return 1.0 - prod(1.0 - chances[each] for each in together[change])

        open_changes = sorted(
            (change for change in self._left if not self._is_in_vain(together[change])),
            key=lambda change: (round(needed(change), 9), -self._at[change]),
        )
        open_changes = open_changes[: self._settled_at_once(open_changes)]
        best, most, spared = 0, 0.0, 1.0
        waiting = set[ChangeId]()  # put back as well, or what is left is no program
        for count, change in enumerate(open_changes, start=1):
            spared *= 1.0 - chances[change]
            waiting = (waiting | together[change]).difference(open_changes[:count])
            if not waiting and (not best or count * spared > most):
                best, most = count, count * spared
        return open_changes[:best]

    def _is_in_vain(self, together: Set[ChangeId]) -> bool:
        """Whether to put these back was in vain before."""
        return any(refused <= together for refused in self._refused if refused)

    def _settled_at_once(self, ordered: Sequence[ChangeId]) -> int:
        """How many of the first changes hold no part that was put back in vain: with one, it is in vain again."""
        place = {change: at for at, change in enumerate(ordered)}
        last = (
            max(place.get(change, len(ordered)) for change in refused)
            for refused in self._refused
            if refused
        )
        return min([*last, len(self._left) - 1])

    def put_back(self, passing_with: Callable[[ChangeSet], PassedT | None]) -> Iterator[PassedT]:
        """What passed each time that a part was put back: ``passing_with`` is asked what comes of what is then left."""
        while part := self.next_part():
            passed = passing_with(frozenset(self._left).difference(part))
            if passed is None:
                self.failed_without(part)
            else:
                self.passed_without(part)
                yield passed

    def _chances(self) -> dict[ChangeId, float]:
        """How likely each change is needed: the share of all, raised by each refusal that it took part in."""
        share = self._share()
        chances = dict.fromkeys(self._left, share)
        for refused in sorted(self._refused, key=len, reverse=True):
            hit = 1.0 - prod(1.0 - chances[change] for change in refused)
            for change in refused:
                chances[change] = min(1.0, chances[change] / hit)
        return chances

    def _share(self) -> float:
        """The share of changes that is needed, as the runs so far have it: the geometric mean, as shares are told
        apart by their ratio.
        """
        sizes = self._disjoint_sizes()
        weights = [self._likelihood(share, sizes) for share in self._shares]
        logs = sum(w * log(share) for w, share in zip(weights, self._shares, strict=True))
        return exp(logs / (sum(weights) or 1.0))

    def _likelihood(self, share: float, refused: Sequence[int]) -> float:
        """Of what was put back, and of refusals of these sizes."""
        spared = (1.0 - share) ** sum(self._put_back)
        return spared * prod(1.0 - (1.0 - share) ** size for size in refused)

    def _disjoint_sizes(self) -> list[int]:
        """The sizes of refusals that share no change, the smallest first: forty that all hold the one needed say it
        once.
        """
        taken: ChangeSet = NOTHING
        sizes = []
        for refused in sorted(self._refused, key=lambda part: (len(part), sorted(part))):
            if refused and not refused & taken:
                taken |= refused
                sizes.append(len(refused))
        return sizes
