"""What an answer promises, taken from outcomes of exactly the trees that it speaks of.

A search believes much that it has not run: that a name is certainly unbound without a change, that a
text cannot be compiled. None of that is in an answer. *Verified*: the bad version without the root and
what goes along was seen to pass. *Minimal*: with any one of them put back it was seen not to, and of a
few changes each alone neither: of three that are needed by each other, one may be enough. Of more
each is asked alone where none that was put back failed as ever: that it fails otherwise shows no need of it.
A part whose run ends as a pass does but prints nothing, where both versions print, is no pass to stand on; nor
was it seen to fail, so the whole is not said to be minimal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from afterd.limits.searching import SEARCH
from afterd.model.change import NOTHING, ChangeSet, in_order
from afterd.model.outcome import Outcome, Unresolved, Verdict

OutcomeOf = Callable[[ChangeSet], Outcome]
Refused = Callable[[ChangeSet], str]
"""What a compiler said against a variant's files, of which each was compiled; empty: nothing."""


@dataclass(frozen=True, slots=True)
class Promises:
    """The changes of an answer, as few as were seen to be enough, and what was seen of them.

    ``minimal`` is None where the budget ended before each of them had been put back, and False where a smaller
    part, ``silent``, passed without a word.
    """

    root: ChangeSet
    auxiliary: ChangeSet
    verified: bool
    minimal: bool | None
    silent: ChangeSet = NOTHING


def kept_promises(
    root: ChangeSet, auxiliary: ChangeSet, outcome: OutcomeOf, refused: Refused
) -> Promises:
    """Put back each change of an answer, what goes along first; what is not needed leaves it.

    ``outcome`` is asked for real runs (known ones cost nothing). Where the root is not needed and
    what goes along repairs the test alone, that is the root.
    """
    if not outcome(root | auxiliary).passed:
        return Promises(root, auxiliary, verified=False, minimal=None)
    pending, silent, needed = list(_parts(root, auxiliary)), NOTHING, False
    while pending or not (needed or len(root | auxiliary) <= SEARCH.each_alone):
        if not pending:
            pending, needed = [frozenset({each}) for each in in_order(root | auxiliary)], True
        left = pending.pop(0)
        if refused(left):
            continue
        seen = outcome(left)
        if seen.reason in (Unresolved.NOT_RUN, Unresolved.LOST):
            return Promises(root, auxiliary, verified=True, minimal=None)
        if seen.passed:
            root, auxiliary = root & left, auxiliary & left
            root, auxiliary = (root, auxiliary) if root else (auxiliary, NOTHING)
            pending, silent = list(_parts(root, auxiliary)), NOTHING  # what one needed may go now
            needed = False
        elif seen.reason is Unresolved.SILENT:
            silent = silent or left
        needed = needed or seen.verdict is Verdict.FAIL
    return Promises(root, auxiliary, verified=True, minimal=not silent, silent=silent)


def _parts(root: ChangeSet, auxiliary: ChangeSet) -> Iterator[ChangeSet]:
    """An answer without one of its changes, what goes along first; of a few changes also each alone."""
    whole = root | auxiliary
    for change in (*in_order(auxiliary), *in_order(root)):
        if len(whole) > 1:
            yield whole - {change}
    if 2 < len(whole) <= SEARCH.each_alone:  # of two that is said
        yield from (frozenset({change}) for change in in_order(whole))
