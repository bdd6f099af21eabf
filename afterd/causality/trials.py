"""Reverting sets of changes, auxiliary ones included: the one place where runs are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from afterd.causality.auxiliary import AuxiliarySearch, most_along
from afterd.causality.deltas.needed import Needed
from afterd.limits import SEARCH
from afterd.model.change import NOTHING, ChangeId, ChangeSet, in_order
from afterd.model.outcome import Outcome, Unresolved, Verdict

OutcomeOf = Callable[[ChangeSet], Outcome]
OutcomesOf = Callable[[Sequence[ChangeSet]], Sequence[Outcome]]
Clashing = Callable[[ChangeSet], ChangeSet]
"""The changes that the other failure of a variant speaks of, once that was run."""
CameFurther = Callable[[ChangeSet], bool]
"""Whether a variant, which was run, failed later in the test than the bad version."""


def never_further(reverted: ChangeSet) -> bool:  # noqa: ARG001 - it answers a CameFurther's question
    """The answer where failures do not tell how far the test came."""
    return False


def nothing_clashes(reverted: ChangeSet) -> ChangeSet:  # noqa: ARG001 - it answers a Clashing's question
    """The answer where failures name no lines."""
    return NOTHING


class BudgetSpentError(Exception):
    """No further run is allowed. Caught by the loop: what was seen until then is its answer."""


@dataclass(frozen=True, slots=True)
class Trial:
    """``asked`` was to be reverted, ``auxiliary`` had to go along, and this came of it."""

    asked: ChangeSet
    auxiliary: ChangeSet
    outcome: Outcome

    @property
    def reverted(self) -> ChangeSet:
        """All that was reverted."""
        return self.asked | self.auxiliary

    @property
    def passed(self) -> bool:
        """Only a PASS decides anything."""
        return self.outcome.passed

    def shrinks(self, passing: Trial) -> bool:
        """Whether it passes and no more was reverted than in one that does: with all changes going along any few
        of them pass.
        """
        return self.passed and len(self.reverted) <= len(passing.reverted)


class Trials:
    """Outcomes of reversions, each asked for once; ``runs`` counts those of the test.

    The bad version itself is known to fail. ``outcomes`` makes several runs at the same time, ``width``
    of them. ``kin``: who shares names with a set.
    """

    def __init__(
        self,
        outcome: OutcomeOf,
        auxiliary: AuxiliarySearch,
        outcomes: OutcomesOf | None = None,
        known: Mapping[ChangeSet, Outcome] | None = None,
        *,
        clashing: Clashing = nothing_clashes,
        kin: Clashing = nothing_clashes,
        came_further: CameFurther = never_further,
        width: int = 1,
    ) -> None:
        self.runs = 0
        self._in_vain = 0  # variants that were built to be run, and were not built
        self.width = width
        self._clashing = clashing
        self._kin = kin
        self._came_further = came_further
        self.proves = auxiliary.standing.proves
        self._outcome = outcome
        self._outcomes = outcomes
        self._auxiliary = auxiliary
        self._seen: dict[ChangeSet, Outcome] = {NOTHING: Outcome(Verdict.FAIL), **(known or {})}

    def revert(self, asked: ChangeSet) -> Trial:
        """The outcome without these changes, and without what must go along for it to build.

        Raises BudgetSpentError.
        """
        known = self._auxiliary.known(asked)
        if known is not None and (self.proves or len(known) <= most_along(asked)):
            return Trial(asked, known, self._see(asked | known))
        if (named := self._auxiliary.by_names(asked)) and self._see(asked | named).built:
            self._auxiliary.note_found(asked, named)
            return Trial(asked, named, self._see(asked | named))
        outcome = self._see(asked)
        if outcome.built:
            return Trial(asked, NOTHING, outcome)
        auxiliary = self._auxiliary.find(asked, outcome.detail)
        if not self.proves and auxiliary and len(auxiliary) > most_along(asked):
            return Trial(asked, NOTHING, outcome)  # too much to be what these need
        if auxiliary is None:
            return self._belied(asked) if not self.proves else Trial(asked, NOTHING, outcome)
        return Trial(asked, auxiliary, self._see(asked | auxiliary))

    def beside(self, asked: ChangeSet, auxiliary: ChangeSet) -> Trial:
        """The outcome with just these going along. Raises BudgetSpentError."""
        if not self.proves:
            return self._belied(asked, auxiliary)
        return Trial(asked, auxiliary, self._see(asked | auxiliary))

    def suspected_along(self, asked: ChangeSet) -> ChangeSet | None:
        """What must go along as far as a text tells that is no proof, without a run; None where it does not tell."""
        known = self._auxiliary.known(asked)
        if self.proves or known is not None:
            return known
        against = self._auxiliary.unbuildable(asked)
        return self._auxiliary.find(asked, against) if against else NOTHING

    def needs(self, change: ChangeId) -> ChangeSet:
        """What must go along with a change, as far as a text tells that is no proof; it costs no run."""
        return NOTHING if self.proves else self._auxiliary.along(change) or NOTHING

    def stands(self, reverted: ChangeSet) -> bool:
        """Whether nothing that a text tells for nothing speaks against these changes alone."""
        return self.proves or not self._auxiliary.unbuildable(reverted)

    def stands_alone(self, reverted: ChangeSet) -> bool:
        """Whether a compiler takes these changes alone, where one decides."""
        return self.proves and not self._auxiliary.is_incomplete(reverted)

    def is_dear(self, asked: ChangeSet) -> bool:
        """Whether several ask for more than few others by their names, where a compiler decides, or changes are refused
        by a build though nothing told that they would be: then it must be looked for what they lack.
        """
        if not self.proves or self._auxiliary.known(asked) is not None:
            return False
        if len(asked) > 1 and self.along(asked) > SEARCH.few_along:
            return True
        return not self._auxiliary.is_incomplete(asked) and not self._see(asked).built

    def along(self, reverted: ChangeSet) -> int:
        """How many others go along with these by their names, where a compiler decides."""
        return len(self._auxiliary.named(reverted))

    def newly_along(self, asked: ChangeSet) -> Mapping[ChangeId, ChangeSet | None]:
        """What each of several takes along alone, by a compiler, of those of which that was not known; None where few
        others do not help. What spoils every set that it is in is seen before they are built.
        """
        several = in_order(asked) if self.proves and len(asked) > 1 else ()
        return dict(self._auxiliary.newly_along(several))

    def spent(self) -> float:
        """What all of it has cost so far, in runs: also what was built, or asked of a compiler, and not run."""
        return self.runs + self._in_vain + self._auxiliary.spent()

    def spent_along(self) -> float:
        """What it has cost, in runs, to see what goes along."""
        return self._auxiliary.spent()

    def asking(self, changes: ChangeSet) -> Mapping[ChangeId, ChangeSet]:
        """What each change asks for by its names, where a compiler decides."""
        return {each: self._auxiliary.named(frozenset([each])) for each in changes}

    def clash(self, trial: Trial) -> ChangeSet:
        """What must be undone as well, by the way in which a trial failed otherwise, or by the names that
        it shares with others; empty: not known.
        """
        if not trial.outcome.built:
            return NOTHING
        clash = self._clashing(trial.reverted)
        if clash or trial.outcome.reason is not Unresolved.DIFFERENT_FAILURE:
            return clash
        return self._kin(trial.asked) - trial.auxiliary

    def came_further(self, trial: Trial) -> bool:
        """Whether a trial failed later in the test than the bad version: that one's fault is repaired."""
        otherwise = trial.outcome.reason is Unresolved.DIFFERENT_FAILURE
        return otherwise and self._came_further(trial.reverted)

    def failed_otherwise(self, reverted: ChangeSet) -> bool:
        """Whether a variant, which was run, failed, but not as the bad version does."""
        seen = self._seen.get(reverted)
        return seen is not None and seen.reason is Unresolved.DIFFERENT_FAILURE

    def unlinked(self, asked: ChangeSet) -> ChangeSet:
        """The part of ``asked`` that a linker's errors speak of; empty where it builds or they do not."""
        if not self.proves or self._auxiliary.is_incomplete(asked):
            return NOTHING
        outcome = self._see(asked)
        return NOTHING if outcome.built else self._auxiliary.blamed(asked, outcome.detail)

    def executed_alone(self, trial: Trial, executed: ChangeSet) -> Iterator[Trial]:
        """``trial`` without those that go along, on a suspicion alone, and are not executed, or without any where all
        are; where it fails otherwise, with those of them that its failure speaks of. Told only if it passes.
        """
        if self.proves or not trial.auxiliary:
            return
        needed = self._executed_along(trial, executed)
        along = NOTHING if needed == trial.auxiliary else needed
        for _ in range(1 + SEARCH.followed):
            if self._failed_between(trial.asked | along, trial.reverted):
                return
            lean = self._belied(trial.asked, along)
            if lean.passed:
                yield lean
            more = along | (self.clash(lean) & trial.auxiliary)
            if lean.passed or more in {along, trial.auxiliary}:
                return
            along = more

    def _executed_along(self, trial: Trial, executed: ChangeSet) -> ChangeSet:
        """Of what went along what is executed, with the few besides without which the text certainly does not stand."""
        along = trial.auxiliary & executed
        idle = trial.auxiliary - executed
        if len(idle) <= SEARCH.looked_at and self._auxiliary.certain(trial.asked | along):
            along = trial.auxiliary
            for change in in_order(idle):
                if not self._auxiliary.certain(trial.asked | (along - {change})):
                    along -= {change}
        return along

    def _failed_between(self, least: ChangeSet, most: ChangeSet) -> bool:
        """Whether at least these and less than those were undone, and it did not pass."""
        return any(
            least <= reverted < most and outcome.built and not outcome.passed
            for reverted, outcome in self._seen.items()
        )

    def leaner(
        self,
        trial: Trial,
        groups: Sequence[ChangeSet] = (),
        weigh: Callable[[Trial], None] = lambda _trial: None,
    ) -> Iterator[Trial]:
        """``trial`` with less that goes along, where that was only a suspicion: the suspicion is put to the test, of
        those of a file (``groups``: they may need each other and nobody else needs them), and, where they are many, of
        parts of them. Only what passes is told. ``weigh`` is asked before each run for many that go along, and may end
        it by what it raises.
        """
        if self.proves:
            return
        for group in groups:
            left = trial.auxiliary - group
            if len(trial.auxiliary & group) > 1 and left and not self._needs_any(trial, group):
                lean = self._belied(trial.asked, left)
                if lean.passed:
                    trial = lean
                    yield trial
        if len(trial.auxiliary) > SEARCH.put_to_test:
            yield from self._fewer_along(trial, weigh)

    def _needs_any(self, trial: Trial, group: ChangeSet) -> bool:
        """Whether one of a group was put back alone, in vain."""
        put_back = (self._seen.get(trial.reverted - {each}) for each in trial.auxiliary & group)
        return any(seen is not None and not seen.passed for seen in put_back)

    def _fewer_along(self, trial: Trial, weigh: Callable[[Trial], None]) -> Iterator[Trial]:
        """``trial`` with ever less going along, parts put back by how likely each change is needed."""

        def passing_with(along: ChangeSet) -> Trial | None:
            weigh(trial)
            lean = self._belied(trial.asked, along)
            return lean if lean.passed else None

        for lean in Needed(in_order(trial.auxiliary)).put_back(passing_with):
            trial = lean
            yield trial

    def _belied(self, asked: ChangeSet, auxiliary: ChangeSet = NOTHING) -> Trial:
        """The outcome whatever is suspected of it; what is certain needs no run."""
        reverted = asked | auxiliary
        if reverted not in self._seen or not self._seen[reverted].built:
            against = self._auxiliary.certain(reverted)
            if against:
                self._seen[reverted] = Outcome(Verdict.UNRESOLVED, Unresolved.BUILD, against)
            else:
                self._note(reverted, self._outcome(reverted))
        return Trial(asked, auxiliary, self._seen[reverted])

    def revert_each(self, candidates: Sequence[ChangeSet]) -> Iterator[Trial]:
        """``revert`` of each of them: side by side if that is possible, else as they are taken."""
        self.side_by_side([asked for asked in candidates if self._unseen(self._plain(asked))])
        for asked in candidates:
            yield self.revert(asked)

    def side_by_side(self, candidates: Sequence[ChangeSet]) -> None:
        """Make the runs that several reversions call for at the same time, where that is possible and the
        first of them is not known; what the budget has no room for is left to be asked for.
        """
        unseen = dict.fromkeys(
            plain for plain in map(self._plain, candidates) if self._unseen(plain)
        )
        first = self._plain(candidates[0]) if candidates else NOTHING
        if self._outcomes is None or len(unseen) < 2 or first not in unseen:
            return
        for plain, outcome in zip(unseen, self._outcomes([*unseen]), strict=True):
            if outcome.reason is not Unresolved.NOT_RUN:
                self._note(plain, outcome)

    def plain(self, reverted: ChangeSet) -> Outcome:
        """The outcome without these changes and nothing else, whatever is only suspected of it.

        Raises BudgetSpentError.
        """
        return self.without_more(reverted).outcome

    def without_more(self, asked: ChangeSet) -> Trial:
        """The same as a trial. Raises BudgetSpentError."""
        return self.beside(asked, NOTHING)

    def _plain(self, asked: ChangeSet) -> ChangeSet:
        return asked | (self._auxiliary.known(asked) or NOTHING)

    def _unseen(self, reverted: ChangeSet) -> bool:
        return reverted not in self._seen and not self._auxiliary.is_incomplete(reverted)

    def _see(self, reverted: ChangeSet) -> Outcome:
        if reverted not in self._seen:
            against = self._auxiliary.unbuildable(reverted)
            if against:
                self._seen[reverted] = Outcome(Verdict.UNRESOLVED, Unresolved.BUILD, against)
            else:
                self._note(reverted, self._outcome(reverted))
        return self._seen[reverted]

    def _note(self, reverted: ChangeSet, outcome: Outcome) -> None:
        if outcome.reason is Unresolved.NOT_RUN:
            raise BudgetSpentError
        if not outcome.cached:
            self.runs += outcome.built
            self._in_vain += not outcome.built
        self._seen[reverted] = outcome
        if outcome.built:
            self._auxiliary.note_built(reverted)
