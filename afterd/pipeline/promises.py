"""What an answer promises, taken from outcomes of exactly the trees that it speaks of.

A search believes much that it has not run: that a name is certainly unbound without a change. None of that is in an
answer, but what a compiler refuses, or a parser of a file that both versions' runs read. *Verified*: the bad version
without the root and what goes along was seen to pass. *Minimal*: with any one of them put back it was seen not to,
and of a few changes the likeliest alone neither: of three that are needed by each other, one may be enough. Each is
asked alone where none that was put back failed as ever, but for those of which the text says that they need others:
that it fails otherwise shows no need of it. Those that a
compiler takes alone, where it refuses others, are asked together first: with all of them undone it may fail as ever.
A part whose run ends as a pass does but prints nothing, where both versions print, is no pass to stand on; nor
was it seen to fail, so the whole is not said to be minimal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf

from afterd.causality.auxiliary import nothing_needed
from afterd.causality.deltas.needed import Needed
from afterd.limits.searching import SEARCH
from afterd.model.change import NOTHING, ChangeId, ChangeSet, in_order
from afterd.model.outcome import Outcome, Unresolved, Verdict

OutcomeOf = Callable[[ChangeSet], Outcome]
Refused = Callable[[ChangeSet], str]
"""What a compiler said against a variant's files, of which each was compiled, or a parser against a file that both
versions' runs read; empty: nothing."""
Needs = Callable[[ChangeSet], ChangeSet]
"""What some changes ask for by their names."""
Missing = Callable[[ChangeSet, Outcome], str]
"""What a variant's run failed for want of, read from its outcome; empty: it did build."""


@dataclass(frozen=True, slots=True)
class ToldByText:
    """What texts tell of variants without a run, and nothing is claimed by: ``asks_for``: what some changes ask for by
    their names; ``stands``: whether no text says that a variant lacks something.
    """

    asks_for: Needs = nothing_needed
    stands: Callable[[ChangeSet], bool] = lambda _reverted: True


NOTHING_TOLD_BY_TEXT = ToldByText()


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
    root: ChangeSet,
    auxiliary: ChangeSet,
    outcome: OutcomeOf,
    refused: Refused,
    likeliest: Sequence[ChangeId] = (),
    told: ToldByText = NOTHING_TOLD_BY_TEXT,
    most: float = inf,
    known: Callable[[ChangeSet], bool] = lambda _reverted: False,
) -> Promises:
    """Put back each change of an answer, what goes along first; what is not needed leaves it.

    ``outcome`` is asked for real runs (``known`` ones cost nothing). Where the root is not needed and
    what goes along repairs the test alone, that is the root. ``likeliest``: changes, the most suspicious first.
    Of many that go along no more than ``most`` runs are asked. Of changes that do not stand by what is ``told`` of them
    the likeliest alone is tried by itself.
    """
    if not outcome(root | auxiliary).passed:
        return Promises(root, auxiliary, verified=False, minimal=None)
    asked = _Asked(outcome, most)
    fewer = _fewer(root, auxiliary, asked, refused, told.asks_for, known)
    root, auxiliary = _within(fewer, root, auxiliary)
    pending, silent, needed = [*_parts(root, auxiliary, likeliest)], NOTHING, False
    tried = together = NOTHING
    while pending or not (needed or len(root | auxiliary) == 1):
        if not pending:
            every = [frozenset({each}) for each in _in_likelihood(root, auxiliary, likeliest)]
            together, needed = _at_once(every, refused), True
            alone = [*filter(told.stands, every)] or every[:1]
            pending = [together, *alone] if together else alone
        left = pending.pop(0)
        if refused(left):
            continue
        if asked.enough and len(root | auxiliary) > SEARCH.put_to_test:
            return Promises(root, auxiliary, verified=True, minimal=None)
        seen = asked.outcome(left)
        if seen.reason in (Unresolved.NOT_RUN, Unresolved.LOST):
            return Promises(root, auxiliary, verified=True, minimal=None)
        if seen.passed:
            root, auxiliary = _within(left, root, auxiliary)
            pending = [*_parts(root, auxiliary, likeliest, tried)]  # what one needed may go now
            silent, together, needed = NOTHING, NOTHING, False
            continue
        if seen.reason is Unresolved.SILENT:
            silent = silent or left
        tried |= (root | auxiliary) - left
        needed = needed or seen.verdict is Verdict.FAIL
        if left == together and seen.verdict is Verdict.FAIL:
            break
    return Promises(root, auxiliary, verified=True, minimal=not silent, silent=silent)


def those_without_which_it_fails_as_ever(
    kept: Promises,
    outcome: OutcomeOf,
    missing: Missing,
    refused: Refused,
    known: Callable[[ChangeSet], bool] = lambda _reverted: False,
) -> Promises:
    """The same answer, in which what only has to go along is no cause: with it put back the rest misses what it
    defines, or, of few, is ``refused`` by a compiler, where with another change put back the test fails as ever (known
    outcomes: no run is made, nor a build of what is refused). The other one may have been thought to go along.

    Where with most of many put back nothing is built, and with none the test fails as ever, none was seen to be guilty:
    that is no smallest answer, but how far the search came.
    """
    kept = _with_guilty_auxiliary(kept, outcome, known)
    whole = kept.root | kept.auxiliary
    parts = {change: whole - {change} for change in kept.root if len(kept.root) > 1}
    put_back = {change: outcome(left) for change, left in parts.items() if not refused(left)}
    if not any(seen.verdict is Verdict.FAIL for seen in put_back.values()):
        built = sum(seen.built for seen in put_back.values())
        unbuilt = len(kept.root) > SEARCH.put_to_test and 2 * built < len(kept.root)
        return replace(kept, minimal=None) if unbuilt else kept
    along = {change for change, seen in put_back.items() if missing(parts[change], seen)}
    if len(kept.root) <= SEARCH.put_to_test:
        along |= parts.keys() - put_back.keys()
    return _with_causes(kept, kept.root - along)


def _with_guilty_auxiliary(
    kept: Promises, outcome: OutcomeOf, known: Callable[[ChangeSet], bool]
) -> Promises:
    """The answer with those for causes that were thought to go along, and with which put back the test was seen to fail
    as ever, where it was not so with any of the causes.
    """
    whole = kept.root | kept.auxiliary
    parts = {change: whole - {change} for change in whole if len(whole) > 1}
    as_ever = {
        change
        for change, left in parts.items()
        if known(left) and outcome(left).verdict is Verdict.FAIL
    }
    return kept if as_ever & kept.root else _with_causes(kept, kept.root | as_ever)


def _with_causes(kept: Promises, root: ChangeSet) -> Promises:
    return replace(kept, root=root, auxiliary=(kept.root | kept.auxiliary) - root)


class _Asked:
    """Outcomes, counted: whether there were ``enough``."""

    def __init__(self, outcome: OutcomeOf, most: float) -> None:
        self._outcome = outcome
        self._left = most

    def outcome(self, reverted: ChangeSet) -> Outcome:
        """The outcome; what is known already costs nothing."""
        found = self._outcome(reverted)
        self._left -= not found.cached
        return found

    @property
    def enough(self) -> bool:
        """Whether so many were asked for as are worth it."""
        return self._left <= 0


def _fewer(
    root: ChangeSet,
    auxiliary: ChangeSet,
    asked: _Asked,
    refused: Refused,
    asks_for: Needs,
    known: Callable[[ChangeSet], bool],
) -> ChangeSet:
    """Those of many changes that are left where parts are put back by how likely each is needed, with all that ask for
    them, as long as the answer still passes: what names ask for goes along by the hundred, and one by one each took a
    run and a build. What the search saw of each put back counts: of all that it put back one by one, parts were put
    back again.
    """
    whole = root | auxiliary
    if len(whole) <= SEARCH.put_back:
        return whole
    asking = {change: asks_for(frozenset({change})) for change in whole}
    likely = Needed([*in_order(root), *in_order(auxiliary)], asking)
    put_back = [left for change in in_order(whole) if known(left := whole - {change})]
    failed = [left for left in put_back if not asked.outcome(left).passed]
    if len(failed) == len(whole):
        return whole  # each was put back by itself
    for left in failed:
        likely.failed_without(whole - left)
    while len(whole) > SEARCH.put_back and not asked.enough and (part := likely.next_part()):
        left = whole.difference(part)
        seen = None if refused(left) else asked.outcome(left)
        if seen is not None and seen.reason in (Unresolved.NOT_RUN, Unresolved.LOST):
            break
        if seen is not None and seen.passed:
            whole = left
            likely.passed_without(part)
        else:
            likely.failed_without(part)
    return whole


def _at_once(alone: Sequence[ChangeSet], refused: Refused) -> ChangeSet:
    """Of changes of an answer those that a compiler takes alone, where it takes them together as well; none where it
    refuses no other: that is the answer itself.
    """
    taken = [each for each in alone if not refused(each)]
    together = NOTHING.union(*taken)
    spares = 1 < len(taken) < len(alone)
    return together if spares and not refused(together) else NOTHING


def _within(left: ChangeSet, root: ChangeSet, auxiliary: ChangeSet) -> tuple[ChangeSet, ChangeSet]:
    """What is left of a root and of what goes along; where nothing is left of the root, the rest is it."""
    return (root & left, auxiliary & left) if root & left else (auxiliary & left, NOTHING)


def _parts(
    root: ChangeSet, auxiliary: ChangeSet, likeliest: Sequence[ChangeId], tried: ChangeSet = NOTHING
) -> Iterator[ChangeSet]:
    """An answer without one of its changes, what goes along first; of a few changes also the likeliest alone.

    Those that were ``tried`` beside more come last: each is asked once more in the smallest answer alone.
    """
    whole = root | auxiliary
    for change in sorted((*in_order(auxiliary), *in_order(root)), key=tried.__contains__):
        if len(whole) > 1:
            yield whole - {change}
    if 2 < len(whole) <= SEARCH.lead_alone:  # of two that is said
        yield frozenset({_in_likelihood(root, auxiliary, likeliest)[0]})


def _in_likelihood(
    root: ChangeSet, auxiliary: ChangeSet, likeliest: Sequence[ChangeId]
) -> list[ChangeId]:
    """The changes of an answer, the most suspicious first, those that nothing speaks for after them."""
    known = [change for change in likeliest if change in root | auxiliary]
    return [*dict.fromkeys([*known, *in_order(root), *in_order(auxiliary)])]
