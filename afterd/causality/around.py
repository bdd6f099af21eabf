"""What is undone of a program where no set of suspects repairs the test: each alone, then what stands around them.

A trace names a part of what was rewritten, and parts of a rewrite fail in ways of their own. So functions, classes and
files in which suspects stand are undone whole before other failures are explained.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from afterd.causality.deltas.dependencies import Changes, home, structural_order
from afterd.causality.reversion import Reversion
from afterd.causality.shrinking import Root
from afterd.causality.standing import Standing
from afterd.causality.worth import Worth
from afterd.limits import SEARCH
from afterd.model.change import Change, ChangeId


class Around:
    """The ways, each asked with the suspects once causes lead no further, the likeliest first."""

    def __init__(
        self, reversion: Reversion, changes: Changes, worth: Worth, standing: Standing
    ) -> None:
        self._reversion = reversion
        self._changes = changes
        self._worth = worth
        self._standing = standing

    def each_with_its_function(self, leading: Sequence[ChangeId]) -> Root | None:
        """The suspects one by one, the likeliest first: all changes of the function that one is in, then it alone, as
        long as that takes no more runs than a search without evidence.

        Hypotheses ask for sets, which fail in ways of their own where a program was rewritten. Of a rewritten function
        the trace names a part, and a part undone alone tells nothing; what was removed beside a suspect left nothing in
        the trace at all (awk's concatenation is two such changes, tcsh's match of file names is 25; attrs's
        transformed fields are twelve, the fifth function of those in which suspects stand). And two of three roots are
        a single change, which tells whatever the others would do (transitions as one commit). Where a compiler decides,
        each alone costs builds of what goes along, and those that lead are tried after it; after the leading one's
        function all in which suspects stand are undone at once: it may take parts of two (hiredis), and where that
        fails as ever no other is undone by itself.
        """
        if self._standing.proves:
            functions = [place for place in self._homes(leading) if len(place) > 1]
            first = [self._inside(place) for place in functions[: SEARCH.leaders]]
            every = [change for place in functions for change in self._inside(place)]
            at_once = [every] if len(first) > 1 and len(every) < len(self._changes) else []
            return self._first_whole([*first[:1], *at_once, *first[1:]], leading)
        tried = set[tuple[str, ...]]()
        most = self._reversion.tried + round(self._worth.blind_runs)
        for change in leading:
            place = home(self._changes[change])
            whole = [] if len(place) == 1 or place in tried else [self._inside(place)]
            tried.add(place)
            root = self._first_whole(whole, leading) or self._alone(change)
            if root is not None or self._reversion.tried >= most:
                return root
        return None

    def _alone(self, change: ChangeId) -> Root | None:
        """What comes of a suspect alone, unless the test failed as ever with it and more undone."""
        known = self._reversion.failed_as_ever(frozenset([change]))
        return None if known else self._reversion.leading([change])

    def whole_places(self, leading: Sequence[ChangeId]) -> Root | None:
        """All changes of a class in which a suspect is, and of a file, for the first suspects.

        A rewrite of several methods that rest on each other fails otherwise in each part (urwid: after the first, seven
        more failures were traced in 60 runs); what is around the suspects is small beside the range.
        """
        if self._standing.proves:
            return None
        homes = self._homes(leading)[: SEARCH.leaders]
        around = [place[:length] for length in (2, 1) for place in homes if len(place) > length]
        return self._first_whole(map(self._inside, dict.fromkeys(around)), leading)

    def _inside(self, place: Sequence[str]) -> list[Change]:
        """All changes in a file, class or function."""
        return [each for each in self._changes.values() if home(each)[: len(place)] == tuple(place)]

    def _homes(self, leading: Sequence[ChangeId]) -> list[tuple[str, ...]]:
        """Where the suspects stand, the leading one's place first."""
        return list(dict.fromkeys(home(self._changes[change]) for change in leading))

    def _first_whole(
        self, groups: Iterable[Sequence[Change]], leading: Sequence[ChangeId]
    ) -> Root | None:
        """A root within the first group of several changes that repairs where all of it is undone; not in one without
        which, and maybe more, the test failed as ever. What no evidence leads to is put back first.
        """
        for changes in groups:
            together = frozenset(each.id for each in changes)
            if len(changes) < 2 or self._reversion.failed_as_ever(together):
                continue
            order = [*dict.fromkeys([*leading, *structural_order(changes)])]
            if root := self._reversion.settle(together, order):
                return root
        return None
