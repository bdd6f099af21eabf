"""Dynamic analysis: which changes must be reverted for the test to pass? (AFTER, section II-B)

The paper's Algorithm 2 halves a set blindly. Here the runs that the hypotheses about the suspects call for
come first; what passed is made smaller (``shrinking``), and at last every change of the answer is put back once.

Asymmetric as in the paper: only a passing run decides. A failing one makes hypotheses less likely,
it never clears a change. Of n suspects at most n² + 3n reversions are tried, as by delta debugging.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from math import log2

from afterd.causality.attempts import Attempts
from afterd.causality.belief import Belief, Field, Predict
from afterd.causality.deltas.dependencies import Changes, home
from afterd.causality.deltas.history import uncertainty
from afterd.causality.halving import Halving
from afterd.causality.hypotheses import Proposal, next_reversion, proposed_reversion, telling_share
from afterd.causality.shrinking import Root, Shrinking, in_suspicion_order
from afterd.causality.suspicion import MANY, Suspect, Tier, with_along
from afterd.causality.trials import BudgetSpentError, Trial, Trials
from afterd.causality.worth import Worth
from afterd.limits import SEARCH
from afterd.model.change import NO_GUILT, NOTHING, ChangeId, ChangeSet, CommitGuilt, in_order
from afterd.model.outcome import Unresolved, Verdict
from afterd.weights import ODDS, RUNS

GuiltOfCommits = Callable[[Mapping[ChangeId, float]], CommitGuilt]


class TrialsSpentError(Exception):
    """Sets of suspects were tried in vain, as many as there are changes to put back one by one."""


class Reversion:
    """Dynamic analysis; it remembers the verdicts of earlier calls. ``commit_guilt`` tells how likely each commit of
    the range is guilty, by how likely changes are; None where it is not known which made what.
    """

    def __init__(
        self,
        trials: Trials,
        changes: Changes,
        executed: ChangeSet = NOTHING,
        halving: Halving | None = None,
        commit_guilt: GuiltOfCommits | None = None,
        worth: Worth | None = None,
    ) -> None:
        self._executed = executed
        self._guilt_of_commits = commit_guilt
        self._field = Field((), {})
        self._halving = halving or Halving()
        self._trials = trials
        self._changes = changes
        self._attempts = Attempts(trials, self._weigh_other_ways)
        blind = (worth or Worth(changes=len(changes))).blind_runs
        most = RUNS.searches * blind
        self._shrinking = Shrinking(self._attempts, changes, executed, most)
        each_executed = max(len(executed), blind) if executed else most  # the rest goes at once
        self._downwards = min(len(changes), most, each_executed)
        self._spoilt: list[ChangeSet] = []  # parts of sets of which a linker spoke
        self._refused: ChangeSet = NOTHING  # each alone, and nobody knows for want of what
        self._from_above = False

    def find_root(
        self,
        suspects: Sequence[Suspect],
        outside: float,
        predict: Predict = lambda _reverted: 0.5,
        passing: Trial | None = None,
        *,
        thorough: bool = True,
        neighbours: Sequence[ChangeId] = (),
    ) -> Root | None:
        """A smallest set of ``suspects`` whose reversal passes; None when none is likely.

        ``outside`` is how likely it is that a guilty change is not among them; ``passing`` a reversion
        that is known to. ``thorough``: none is given up before all were reverted together: a root
        farther from the failure may only take another way around the fault. ``neighbours`` are the
        suspects in the order of the code, for sets that are cut from it. Raises BudgetSpentError when the
        budget ends before any run passed, ShorterRangeError and TrialsSpentError where another way is cheaper.
        """
        found = passing
        self._from_above |= passing is not None
        bounded = passing is not None and self._trials.proves
        if bounded:
            self._shrinking.begin()
        self._attempts.needs.update({suspect.change: suspect.needs for suspect in suspects})
        try:
            field = Field(
                tuple(suspects), {}, None, outside, predict, self._trials.stands, self._trials.along,
                neighbours=tuple(neighbours),
            )  # fmt: skip
            for trial in self._guided(
                self._informed(field), passing, thorough=thorough, bounded=bounded
            ):
                found = trial
        except BudgetSpentError:
            if found is None:
                raise
            return Root(found.asked, found.auxiliary, None)
        suspected = [suspect.change for suspect in suspects]
        met = [c for clash in self._attempts.clashes.values() for c in in_order(clash)]
        # where no failure names what was met it only stands around the suspects
        order = dict.fromkeys([*suspected, *met] if self._trials.proves else [*met, *suspected])
        return None if found is None else self._shrinking.settled(found, list(order), begun=bounded)

    def leading(self, first: Sequence[ChangeId]) -> Root | None:
        """A root out of one of ``first`` that was not yet undone, alone or with the few that it needs by its text; None
        where none passes.

        Raises BudgetSpentError.
        """
        for change in first:
            alone = frozenset([change])
            if alone not in self._attempts.seen and self._stands_with_few(alone):
                trial = self._followed_on(self._attempts.make(alone))
                if trial.passed:
                    return self._shrinking.settled(trial, first)
        return None

    def _stands_with_few(self, alone: ChangeSet) -> bool:
        """Whether no text speaks against a change alone, or but for few others that go along."""
        if self._trials.stands(alone):
            return True
        along = self._trials.suspected_along(alone)
        return along is not None and 0 < len(along) < SEARCH.put_back

    def settle(
        self,
        reverted: ChangeSet,
        order: Sequence[ChangeId],
        without: ChangeSet = NOTHING,
        *,
        alone: bool = False,
    ) -> Root | None:
        """The smallest passing set within ``reverted``; None if that does not pass itself, or takes any of
        ``without`` along. ``alone``: nothing is looked for that must go along.
        """
        passing = (
            self._trials.without_more(reverted)
            if alone
            else self._followed(self._attempts.make(reverted), halved=False)
        )
        if not passing.passed or passing.reverted & without:
            return None
        found = self._shrinking.settled(passing, order)
        return None if (found.changes | found.auxiliary) & without else found

    @property
    def tried(self) -> int:
        """How many reversions were tried."""
        return len(self._attempts.seen)

    def failed_as_ever(self, reverted: ChangeSet) -> bool:
        """Whether the bad version's failure was seen without these changes, and maybe more."""
        return self._attempts.failed_as_ever(reverted)

    def halve(self) -> None:
        """Bisect the commits, by what is thought of their changes. Raises ShorterRangeError."""
        self._halving.make(self._commit_guilt())

    def halve_later(self, later: ChangeSet, suspects: Sequence[Suspect]) -> None:
        """Bisect the commits where that is hoped to take fewer runs than to make all that came ``later`` fewer; what is
        thought of the ``suspects`` among it is thought of their commits. Raises ShorterRangeError.
        """
        if self._guilt_of_commits is None or not self._halving.waits:
            return
        whole = sum(suspect.weight for suspect in suspects) or 1.0
        inside = 1.0 - ODDS.outside_open
        likely = {each.change: inside * each.weight / whole for each in suspects}
        guilt = self._guilt_of_commits(likely)
        if uncertainty(guilt) < log2(len(later)):
            self._halving.make(guilt)

    def few_pass(self) -> bool:
        """Whether so few changes were seen to pass that each is put back at once."""
        return self._attempts.few_pass()

    def failed_otherwise(self) -> list[ChangeSet]:
        """Few changes each, of those that were tried, without which the test fails, but not as the bad version does."""
        return self._attempts.failed_otherwise()

    def _weigh_other_ways(self) -> None:
        """Before a trial: whether those so far cost what a search takes that needs no hypothesis, of the commits or
        from all changes downwards. Raises ShorterRangeError, TrialsSpentError.
        """
        if self._attempts.few_pass():
            return
        spent = self._attempts.spent()
        if self._halving.is_due(spent):
            self.halve()
        downwards = spent >= self._downwards and not self._attempts.any_passes()
        if downwards and not self._from_above:
            raise TrialsSpentError

    def _commit_guilt(self, belief: Belief | None = None) -> CommitGuilt:
        """How likely each commit is to have turned the test red, by what is thought of its changes: a ``belief`` that
        knows all runs, or a new one.
        """
        if self._guilt_of_commits is None:
            return NO_GUILT
        suspects = self._field.suspects
        guilt = dict.fromkeys((suspect.change for suspect in suspects), 0.0)
        if suspects:
            belief = belief or Belief(replace(self._field, seen=self._attempts.seen))
            several = belief.guilt()
            inside = belief.chance(frozenset(guilt)) / (sum(several) or 1.0)
            guilt.update(zip(guilt, (chance * inside for chance in several), strict=True))
        return self._guilt_of_commits(guilt)

    def _guided(
        self, field: Field, passing: Trial | None, *, thorough: bool, bounded: bool
    ) -> Iterator[Trial]:
        """Ever smaller passing reversions, as the hypotheses lead; the commits first where these tell more.
        ``bounded``: until sets of what passes have cost as much as they may since one was smaller.
        """
        whole = frozenset(suspect.change for suspect in field.suspects)
        left = SEARCH.guided
        in_vain = 0  # of the few that pass
        while left > 0 and not (bounded and passing and self._shrinking.is_too_dear(passing)):
            inside, proposal = self._proposed(field, passing)
            left -= len(inside.suspects) > SEARCH.all_sets or passing is None
            if passing is not None and in_vain > len(inside.suspects):
                yield from self._each_alone(inside, passing)
                return
            if passing is None:
                self._field = field = inside
                self._halve_first(proposal, thorough=thorough)
            reverted = None if proposal is None else proposal.reverted
            untried = thorough and passing is None and whole not in self._attempts.seen
            if untried and (reverted is None or not left):
                reverted = whole
            if reverted is None:
                return
            self._make_side_by_side(reverted, inside)
            linked = self._linked(reverted, field)
            waits = linked not in self._attempts.seen and self._waits(linked)
            if waits or linked in self._attempts.seen:
                left += waits
                continue
            first = self._tried(linked, field, passing)
            field = _costlier(field, _taking_along(field, first))
            trial = self._followed(first, halved=passing is None)
            left *= not self._tells_otherwise(whole, first, trial, passing)
            field = self._informed(field)
            in_vain += 1
            if trial.passed and (passing is None or trial.shrinks(passing)):
                in_vain = 0
                if passing is None or len(trial.asked) <= RUNS.shrunk * len(passing.asked):
                    left = SEARCH.guided
                    self._shrinking.begin()
                passing = trial
                yield trial
                if trial is not first and len(trial.asked) <= SEARCH.put_back:
                    return  # it hangs together: what is not needed shows when it is put back

    def _make_side_by_side(self, reverted: ChangeSet, inside: Field) -> None:
        """Make the run that is called for beside those that may be called for after it, where there is room."""
        if self._trials.width > 1 and reverted not in self._attempts.seen:
            self._trials.side_by_side(_speculated_runs(inside, reverted, self._trials.width))

    def _tried(self, reverted: ChangeSet, field: Field, passing: Trial | None) -> Trial:
        """A trial; of a part of what passes that asks for as much to go along, with what went along; of one of several
        that ask for very many, or nobody knows for what, where that is built by itself and passes.
        """
        if passing is not None and self._shrinking.takes_as_much(passing, reverted):
            return self._shrinking.beside(passing, reverted)
        return self._one_that_builds(reverted, field) or self._try_standing(reverted, field)

    def _one_that_builds(self, reverted: ChangeSet, field: Field) -> Trial | None:
        """The likeliest of several, each alone, that are built as they are where all of them together are not, or with
        very many others only; None where none of them passes.

        A linker's word fits both who defines a name and who calls it: of mpack's pair the one that calls repairs alone,
        and 54 changes, which the other one asked for, were called minimal.
        """
        if not self._trials.is_dear(reverted):
            return None
        for each in islice(self._loose(reverted, field), SEARCH.leaders):
            trial = self._attempts.alone(each)
            if trial.passed:
                return trial
        return None

    def _each_alone(self, inside: Field, passing: Trial) -> Iterator[Trial]:
        """Of those that pass together one that does alone, where parts of them were tried in vain, as many as there are
        changes: what fails with others still there may pass without them, and to put each back never shows that. Of
        jrnl's ten parts one of which passes alone 370 sets were tried before it.
        """
        for suspect in sorted(inside.suspects, key=lambda each: -each.weight):
            alone = frozenset([suspect.change])
            if alone not in self._attempts.seen:
                trial = self._attempts.make(alone)
                if trial.shrinks(passing):
                    yield trial
                    return

    def _proposed(self, field: Field, passing: Trial | None) -> tuple[Field, Proposal | None]:
        """The reversion to try next, and what it is chosen from. Until one passes a compiler is asked first of each of
        its changes: one field of a struct that a header declares spoilt five sets, each in thirteen builds (c-ares).
        """
        inside = field if passing is None else field.within(passing.asked)
        while True:
            inside = replace(inside, seen=self._attempts.seen)
            proposal = proposed_reversion(_costlier(inside, self._unlinked()))
            if proposal is None or passing is not None:
                return inside, proposal
            along = self._trials.newly_along(proposal.reverted)
            if not any(each is None or each for each in along.values()):
                return inside, proposal
            known = tuple(
                with_along(each, along[each.change]) if each.change in along else each
                for each in inside.suspects
            )
            inside = replace(inside, suspects=known)

    def _tells_otherwise(
        self, whole: ChangeSet, first: Trial, followed: Trial, passing: Trial | None
    ) -> bool:
        """Whether something else tells more than a next hypothesis: where all suspects together fail otherwise, with
        what stands around them as well, where that failure comes from, as parts of what stands there cost a build
        each; where a part of few that pass does, to put each of these back, as more parts fail so.
        """
        otherwise = Unresolved.DIFFERENT_FAILURE
        if passing is not None:
            few = len(passing.asked) <= SEARCH.put_back
            return few and followed.outcome.reason is otherwise
        followed_too = self._trials.proves and first.asked == whole and followed is not first
        return followed_too and first.outcome.reason is followed.outcome.reason is otherwise

    def _try_standing(self, reverted: ChangeSet, field: Field) -> Trial:
        """A trial; where the text of the variant already tells that it does not stand, of as many of the changes as
        stand together, the most suspicious first. Of 61 suspects two that parted a docstring spoilt ten sets, each
        with one change less than the one before.
        """
        trial = self._attempts.make(reverted)
        if trial.outcome.built or self._trials.stands(reverted):
            return trial
        kept = NOTHING
        for change in in_suspicion_order(reverted, [suspect.change for suspect in field.suspects]):
            more = kept | {change} | self._attempts.needs.get(change, NOTHING)
            if self._trials.stands(more):
                kept = more
        return self._attempts.make(kept) if kept and kept not in self._attempts.seen else trial

    def _halve_first(self, proposal: Proposal | None, *, thorough: bool) -> None:
        """Bisect the commits where that tells more than the trial that is proposed; where none is, and causes may find
        others, these are waited for.
        """
        if proposal is not None:
            self._halve_rather(proposal.gain, proposal.belief)
        elif thorough:
            self._halve_rather(0.0)

    def _halve_rather(self, gain: float, belief: Belief | None = None) -> None:
        """Bisect the commits where that tells more for a run than a trial from which so many bits are hoped for."""
        if self._halving.waits:
            guilt = self._commit_guilt(belief)
            if self._halving.tells_more(gain, guilt):
                self._halving.make(guilt)

    def _followed(self, trial: Trial, *, halved: bool) -> Trial:
        """A trial; while it fails otherwise, at a line that says of which change, without that as well. ``halved``:
        where that failed otherwise again and the commits tell more than another set, these are bisected, but not where
        it came further in the test than the bad version.
        """
        for followed in range(SEARCH.followed):
            clash = self._noted_clash(trial)
            if not clash:
                break
            if halved and followed and not self._trials.came_further(trial):
                self._halve_rather(telling_share(self._attempts.seen))
            if trial.asked | clash in self._attempts.seen:
                break
            trial = self._attempts.make(trial.asked | clash)
        return trial

    def _followed_on(self, trial: Trial) -> Trial:
        """A trial; where its test fails further on than the bad version's, or as that does by another line, without
        what the failure there speaks of as well: what one change did wrong another did in a second place.
        """
        if trial.outcome.verdict is Verdict.FAIL or self._trials.came_further(trial):
            return self._followed(trial, halved=False)
        self._noted_clash(trial)
        return trial

    def _noted_clash(self, trial: Trial) -> ChangeSet:
        """What a trial's other failure says must be undone as well, which later trials are chosen by."""
        clash = self._trials.clash(trial) & self._changes.keys()
        if clash:
            self._attempts.clashes[trial.asked] = clash
        return clash

    def _informed(self, field: Field) -> Field:
        """With what clashed, whose changes are suspects now."""
        known = {suspect.change for suspect in field.suspects}
        new = tuple(
            Suspect(change, Tier.CAUSE, home=home(self._changes[change]))
            for change in in_order(NOTHING.union(*self._attempts.clashes.values()) - known)
        )
        return replace(
            field, suspects=field.suspects + new, clashes=tuple(self._attempts.clashes.items())
        )

    def _linked(self, reverted: ChangeSet, field: Field) -> ChangeSet:
        """Without what keeps it from being linked; where the rest is known to fail, maybe with more undone, one of it
        that was not tried alone, or what is not linked by itself.

        A rest was run eight times with ever less in it, as two changes that did not link stayed likely.
        """
        unlinked = self._trials.unlinked(reverted) if len(reverted) > 1 else NOTHING
        if not unlinked or unlinked == reverted:
            return reverted
        self._spoilt.append(unlinked)
        self._attempts.seen[reverted] = None
        rest = reverted - unlinked
        if not self._attempts.failed_as_ever(rest):
            return rest
        return next(self._loose(rest, field), unlinked)

    def _loose(self, reverted: ChangeSet, field: Field) -> Iterator[ChangeSet]:
        """Each of several alone, the likeliest first, that was not tried and that names and compilers take as it is."""
        likely = in_suspicion_order(reverted, [suspect.change for suspect in field.suspects])
        alone = (frozenset([change]) for change in likely)
        untried = (each for each in alone if each not in self._attempts.seen)
        return filter(self._trials.stands_alone, untried)

    def _waits(self, reverted: ChangeSet) -> bool:
        """Whether a single change is seen only now not to be built though names and compilers take it: to look for what
        it lacks is dear, and others may come first.
        """
        if len(reverted) > 1 or reverted <= self._refused or not self._trials.is_dear(reverted):
            return False
        self._refused |= reverted
        return True

    def _unlinked(self) -> ChangeSet:
        """What is not linked by itself, and what a linker spoke of beside none of these."""
        return self._refused.union(*(each for each in self._spoilt if not each & self._refused))


def _costlier(field: Field, unlinked: ChangeSet) -> Field:
    """What was seen not to be built or linked needs others, nobody knows how many."""
    suspects = tuple(replace(s, along=MANY) if s.change in unlinked else s for s in field.suspects)
    return replace(field, suspects=suspects)


def _taking_along(field: Field, trial: Trial) -> ChangeSet:
    """Of what was not built those with which others were known to go along: that was not all that they need."""
    asked = NOTHING if trial.outcome.built else trial.asked
    return frozenset(each.change for each in field.suspects if each.change in asked and each.along)


def _speculated_runs(field: Field, first: ChangeSet, width: int) -> list[ChangeSet]:
    """The run to make, and those that are likeliest to be called for after it, whichever way it ends: so
    many as are made at the same time. The search goes on as if it made them one by one.
    """
    found: list[ChangeSet] = []
    waiting = [(-1.0, 0, field, first)]  # the likeliest to be needed first
    number = 0
    while waiting and len(found) < width:
        likely, _, before, reverted = heapq.heappop(waiting)
        if reverted not in found:
            found.append(reverted)
        chance = Belief(before).chance(reverted)
        failed = replace(before, seen={**before.seen, reverted: Verdict.FAIL})
        passed = replace(before.within(reverted), seen={**before.seen, reverted: Verdict.PASS})
        for share, after in ((1 - chance, failed), (chance, passed)):
            following = next_reversion(after)
            if following is not None:
                number += 1
                heapq.heappush(waiting, (likely * share, number, after, following))
    return found
