"""A passing reversion is made smaller, until no change of it can be put back (AFTER, Algorithm 2).

The paper halves blindly; where a reversion is not small, parts are put back here by how likely each change is needed
(``deltas.needed``). Only a passing run decides: what is left was seen to pass, and putting any one change of it
back was seen not to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf

from afterd.causality.attempts import Attempts
from afterd.causality.deltas.dependencies import Changes, by_file, home
from afterd.causality.deltas.needed import Needed
from afterd.causality.trials import BudgetSpentError, Trial
from afterd.limits import SEARCH
from afterd.model.change import ChangeId, ChangeSet, in_order
from afterd.model.outcome import Verdict


@dataclass(frozen=True, slots=True)
class Root:
    """Changes whose reversal passed, with those that went along for the program to build.

    ``minimal``: putting back any one change was seen not to pass; None where the budget ended
    before that was seen, or where many are left and to see it is dear.
    """

    changes: ChangeSet
    auxiliary: ChangeSet
    minimal: bool | None


class _TooDearError(Exception):
    """Many changes are left, and runs in plenty left them so."""


class Shrinking:
    """The ways in which a passing reversion is made smaller.

    ``most`` runs are made of one that does not come down to few, builds and compilers counted as what they cost: of a
    rewrite most parts fail in ways of their own when they are put back, or are not built, and xarray's commit of 775
    lines came to no end in 245.
    """

    def __init__(
        self, attempts: Attempts, changes: Changes, executed: ChangeSet, most: float = inf
    ) -> None:
        self._attempts = attempts
        self._changes = changes
        self._executed = executed
        self._most = most
        self._until = inf

    def begin(self) -> None:
        """From now on runs are counted."""
        self._until = self._attempts.trials.spent() + self._most

    def settled(self, passing: Trial, order: Sequence[ChangeId], *, begun: bool = False) -> Root:
        """The passing reversion, as small as the budget allows to make it; ``order``: the most suspicious first.
        ``begun``: what was tried of it before counts.
        """
        best = passing
        if not begun:
            self.begin()
        try:
            for trial in self._smaller(passing, order):
                best = trial
        except (BudgetSpentError, _TooDearError):
            return Root(best.asked, best.auxiliary, None)
        return Root(best.asked, best.auxiliary, minimal=True)

    def _smaller(self, passing: Trial, order: Sequence[ChangeId]) -> Iterator[Trial]:
        """Ever smaller passing reversions; the last is 1-minimal, and needs what went along."""
        ways = (
            self._acting,
            self._lean,
            self._standing,
            self._without_parts,
            self._standing,
            self._leaner,
            self._one_less,
        )
        alone: set[ChangeSet] = set()
        while True:
            for smaller in ways:
                for trial in smaller(passing, order):
                    passing = trial
                    yield trial
            if passing.auxiliary in alone or not self._auxiliary_alone(passing):
                return
            alone.add(passing.auxiliary)
            passing = self._attempts.trials.without_more(passing.auxiliary)
            self._attempts.note(passing)
            yield passing

    def _weigh(self, passing: Trial) -> None:
        """Raises _TooDearError where more are left than are put back one by one, after so many runs. What goes along
        because a compiler asks for it is no question of runs.
        """
        if self.is_too_dear(passing):
            raise _TooDearError

    def is_too_dear(self, passing: Trial) -> bool:
        """Whether more are left than are put back one by one, after so many runs."""
        left = passing.asked if self._attempts.trials.proves else passing.reverted
        return self._attempts.trials.spent() >= self._until and len(left) > SEARCH.put_to_test

    def _acting(self, passing: Trial, order: Sequence[ChangeId]) -> Iterator[Trial]:  # noqa: ARG002 - as its like
        """Without those of it that the test does not execute, but for what the rest needs: where an innocent suspect
        took them along they were put back one by one, a run each.
        """
        acting = passing.asked & self._executed
        whole = self._with_their_functions(acting, passing.asked)
        for part in dict.fromkeys((acting, whole)):
            if part and len(passing.asked - part) > 1 and not self._attempts.failed_within(part):
                trial = self._part(passing, part)
                if trial.shrinks(passing) and trial.reverted != passing.reverted:
                    yield trial
                    return

    def _with_their_functions(self, acting: ChangeSet, among: ChangeSet) -> ChangeSet:
        """Some changes with all of the functions that these stand in: of a head and its body one alone is no text."""
        homes = {each: home(self._changes[each]) for each in among if each in self._changes}
        functions = {homes[each] for each in acting if len(homes.get(each, ())) > 1}
        return acting | {each for each, own in homes.items() if own in functions}

    def _lean(self, passing: Trial, order: Sequence[ChangeId]) -> Iterator[Trial]:  # noqa: ARG002 - as its like
        """Without those that went along and are not executed: each run to come is clearer, and what was put back beside
        them need not be put back again.
        """
        yield from self._attempts.trials.executed_alone(passing, self._executed)

    def _standing(self, passing: Trial, order: Sequence[ChangeId]) -> Iterator[Trial]:
        """Without one change and all that need it, where that is not the one alone: what is left needs
        nothing that is not undone, as far as the text tells. What goes along and none asked for needs is put back
        together as well.
        """
        attempts = self._attempts
        if len(passing.reverted) <= SEARCH.looked_at:
            attempts.learn_needs(passing.reverted)
        tried = set[ChangeSet]()  # some pass, and take more along
        untried = True
        while untried:
            untried = False
            for change in reversed(in_suspicion_order(passing.reverted, order)):
                needing = attempts.needing(change, passing.reverted)
                rest = passing.reverted - needing - {change}
                left = rest & passing.asked
                if not (needing and left) or rest in tried or self._is_idle(left, passing):
                    continue
                self._weigh(passing)
                tried.add(rest)
                untried = True
                trial = (
                    attempts.trials.beside(left, rest - left)
                    if left == passing.asked
                    else attempts.make(left)
                )
                if trial.shrinks(passing):
                    passing = trial
                    yield trial
                    break

    def _is_idle(self, left: ChangeSet, passing: Trial) -> bool:
        """Whether a part of what was asked for was tried in vain, or would be."""
        attempts = self._attempts
        return left != passing.asked and (attempts.failed_within(left) or attempts.left_over(left))

    def _without_parts(self, passing: Trial, order: Sequence[ChangeId]) -> Iterator[Trial]:
        """Without parts that are not needed, on sets that are not small; what was tried before counts."""
        if len(passing.asked) <= SEARCH.put_back:
            return
        asking = self._attempts.trials.asking(passing.asked)
        needed = Needed(in_suspicion_order(passing.asked, order), asking)
        for tried, verdict in self._attempts.seen.items():
            if tried < passing.asked and verdict in (Verdict.FAIL, Verdict.UNRESOLVED):
                needed.failed_without(passing.asked - tried)

        def passing_with(left: ChangeSet) -> Trial | None:
            self._weigh(passing)
            trial = self._part(passing, left)
            return trial if trial.shrinks(passing) else None

        for trial in needed.put_back(passing_with):
            passing = trial
            yield trial

    def _part(self, passing: Trial, left: ChangeSet) -> Trial:
        """The trial of a part of what passes, with what it needs; where that is as much, with what went along."""
        if self.takes_as_much(passing, left):
            return self.beside(passing, left)
        return self._attempts.make(left)

    def takes_as_much(self, passing: Trial, left: ChangeSet) -> bool:
        """Whether a text asks for as much to go along with a part of what passes as was undone before, which would tell
        nothing.
        """
        along = self._attempts.trials.suspected_along(left)
        return along is not None and len(left | along) >= len(passing.reverted)

    def beside(self, passing: Trial, left: ChangeSet) -> Trial:
        """The trial of a part of what passes, with what went along."""
        trial = self._attempts.trials.beside(left, passing.auxiliary)
        self._attempts.note(trial)
        return trial

    def _one_less(self, passing: Trial, order: Sequence[ChangeId]) -> Iterator[Trial]:
        """Puts back one change at a time, the least suspicious first, and before them those of which no text says that
        the rest needs them, until each is needed; also what went along on a suspicion alone.

        With all that went along before, which may have been needed for more than to build, or
        with what the rest needs. After one that is not needed the next are asked, and those before it
        again at last: they were seen to be needed beside it.
        """
        proves = self._attempts.trials.proves
        waiting = in_suspicion_order(passing.asked, order)[::-1]
        if not proves:
            waiting += in_order(passing.auxiliary)
        waiting.sort(key=lambda each: not self._stands_without(each, passing))
        while waiting and len(passing.asked if proves else passing.reverted) > 1:
            for number, trial in enumerate(self._put_back(waiting, passing)):
                if trial.shrinks(passing):
                    left = [*waiting[number + 1 :], *waiting[:number]]
                    waiting = [each for each in left if each in trial.reverted]
                    passing = trial
                    yield trial
                    break
                self._weigh(passing)
            else:
                return

    def _stands_without(self, change: ChangeId, passing: Trial) -> bool:
        """Whether no text speaks against a change's being put back."""
        return self._attempts.trials.stands(passing.reverted - {change})

    def _put_back(self, changes: Sequence[ChangeId], passing: Trial) -> Iterator[Trial]:
        """A trial without each of them; of one that was asked for the second way only where the first told nothing."""
        attempts, along = self._attempts, passing.auxiliary
        candidates = [passing.asked - {change} for change in changes]
        if not along:
            for trial in attempts.trials.revert_each(candidates):
                attempts.note(trial)
                yield trial
            return
        for change, asked in zip(changes, candidates, strict=True):
            if change in along:
                yield attempts.trials.beside(asked, along - {change})
                continue
            if not asked:
                yield attempts.trials.without_more(along)
                continue
            if not attempts.trials.along(asked | along):
                trial = attempts.trials.beside(asked, along)
                attempts.note_failed(trial)
                untold = trial.outcome.verdict is Verdict.UNRESOLVED
                if not (untold and self._goes_another_way(passing, asked)):
                    yield trial
                    continue
            yield attempts.make(asked)

    def _goes_another_way(self, passing: Trial, asked: ChangeSet) -> bool:
        """Whether a text asks for what did not go along before, and for less in all than was undone."""
        along = self._attempts.trials.suspected_along(asked)
        if along is None:
            return True
        return bool(along - passing.reverted) and len(asked | along) < len(passing.reverted)

    def _leaner(self, passing: Trial, order: Sequence[ChangeId]) -> Iterator[Trial]:  # noqa: ARG002 - as its like
        known = [change for change in in_order(passing.auxiliary) if change in self._changes]
        yield from self._attempts.trials.leaner(passing, by_file(known, self._changes), self._weigh)

    def _auxiliary_alone(self, passing: Trial) -> bool:
        """Whether not the changes asked for but what went along with them made the test pass."""
        along, attempts = passing.auxiliary, self._attempts
        return (
            bool(along)
            and not attempts.failed_within(along)
            and attempts.trials.plain(along).passed
        )


def in_suspicion_order(changes: ChangeSet, order: Sequence[ChangeId]) -> list[ChangeId]:
    """As in ``order``; what is not in it comes last."""
    known = [change for change in order if change in changes]
    return [*known, *sorted(changes.difference(known))]
