"""Dynamic analysis: which changes must be reverted for the test to pass? (AFTER, section II-B)

The paper's Algorithm 2 halves a set blindly. Here it is what is left to do when evidence gives out:
first come the runs that the hypotheses about the suspects call for, then Algorithm 2 shrinks what
passed, if that is still many, and at last every change of the answer is put back once.

Asymmetric as in the paper: only a passing run decides. A failing one makes hypotheses less likely,
it never clears a change. Of n suspects at most n² + 3n reversions are tried, as by ddmin.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from afterd.causality.belief import Belief, Field, Predict
from afterd.causality.deltas.dependencies import Changes, by_file, home, partition
from afterd.causality.deltas.history import commit_guilt
from afterd.causality.halving import Halving
from afterd.causality.hypotheses import Proposal, next_reversion, proposed_reversion, telling_share
from afterd.causality.suspicion import MANY, Suspect, Tier
from afterd.causality.trials import BudgetSpentError, Trial, Trials
from afterd.limits import SEARCH
from afterd.model.change import NO_GUILT, NOTHING, ChangeId, ChangeSet, CommitGuilt, in_order
from afterd.model.outcome import Unresolved, Verdict
from afterd.weights import RUNS


@dataclass(frozen=True, slots=True)
class Root:
    """Changes whose reversal passed, with those that went along for the program to build.

    ``minimal``: putting back any one change was seen not to pass; None where the budget ended
    before that was seen.
    """

    changes: ChangeSet
    auxiliary: ChangeSet
    minimal: bool | None


class Reversion:
    """Dynamic analysis; it remembers the verdicts of earlier calls. ``commits``: those of the range, oldest first."""

    def __init__(
        self,
        trials: Trials,
        changes: Changes,
        executed: ChangeSet = NOTHING,
        halving: Halving | None = None,
        commits: Sequence[str] = (),
    ) -> None:
        self._executed = executed
        self._commits = commits
        self._field = Field((), {})
        self._halving = halving or Halving()
        self._trials = trials
        self._changes = changes
        self._seen: dict[ChangeSet, Verdict | None] = {}
        self._otherwise: dict[ChangeSet, None] = {}
        self._unlinked: ChangeSet = NOTHING
        self._needs: dict[ChangeId, ChangeSet] = {}
        self._clashes: dict[ChangeSet, ChangeSet] = {}

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
        budget ends before any run passed.
        """
        found = passing
        self._needs.update({suspect.change: suspect.needs for suspect in suspects})
        try:
            field = Field(
                tuple(suspects), {}, None, outside, predict, self._trials.stands,
                neighbours=tuple(neighbours),
            )  # fmt: skip
            for trial in self._guided(field, passing, thorough=thorough):
                found = trial
        except BudgetSpentError:
            if found is None:
                raise
            return Root(found.asked, found.auxiliary, None)
        order = dict.fromkeys(c for clash in self._clashes.values() for c in in_order(clash))
        order.update(dict.fromkeys(suspect.change for suspect in suspects))
        return None if found is None else self._settled(found, list(order))

    def leading(self, first: Sequence[ChangeId]) -> Root | None:
        """A root out of one of ``first`` that was not yet undone alone; None where none passes.

        Raises BudgetSpentError.
        """
        for change in first:
            alone = frozenset([change])
            if alone not in self._seen and self._trials.stands(alone):
                trial = self._try(alone)
                if trial.passed:
                    return self._settled(trial, first)
        return None

    def failed_otherwise(self) -> list[ChangeSet]:
        """Few changes each, of those that were tried, without which the test fails, but not as the bad
        version does.
        """
        return sorted(self._otherwise, key=lambda reverted: (len(reverted), in_order(reverted)))

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
        passing = self._trials.without_more(reverted) if alone else self._try(reverted)
        if not passing.passed or passing.reverted & without:
            return None
        found = self._settled(passing, order)
        return None if (found.changes | found.auxiliary) & without else found

    def halve(self) -> None:
        """Bisect the commits, by what is thought of their changes. Raises ShorterRangeError."""
        self._halving.make(self._commit_guilt())

    def _commit_guilt(self, belief: Belief | None = None) -> CommitGuilt:
        """How likely each commit is to have turned the test red, by what is thought of its changes: a ``belief`` that
        knows all runs, or a new one.
        """
        if not self._commits:
            return NO_GUILT
        suspects = self._field.suspects
        guilt = dict.fromkeys((suspect.change for suspect in suspects), 0.0)
        if suspects:
            belief = belief or Belief(replace(self._field, seen=self._seen))
            several = belief.guilt()
            inside = belief.chance(frozenset(guilt)) / (sum(several) or 1.0)
            guilt.update(zip(guilt, (chance * inside for chance in several), strict=True))
        return commit_guilt(self._commits, self._changes, guilt, self._executed)

    def _guided(self, field: Field, passing: Trial | None, *, thorough: bool) -> Iterator[Trial]:
        """Ever smaller passing reversions, as the hypotheses lead; the commits first where these tell more."""
        whole = frozenset(suspect.change for suspect in field.suspects)
        left = SEARCH.guided
        while left > 0:
            inside = field if passing is None else field.within(passing.asked)
            left -= len(inside.suspects) > SEARCH.all_sets or passing is None
            inside = replace(inside, seen=self._seen)
            proposal = proposed_reversion(inside)
            if passing is None:
                self._field = field
                self._halve_first(proposal, thorough=thorough)
            reverted = None if proposal is None else proposal.reverted
            untried = thorough and passing is None and whole not in self._seen
            if untried and (reverted is None or not left):
                reverted = whole
            if reverted is None:
                return
            if self._trials.width > 1 and reverted not in self._seen:
                self._trials.side_by_side(_speculated_runs(inside, reverted, self._trials.width))
            linked = self._linked(reverted)
            field = _costlier(field, self._unlinked)
            if linked in self._seen:
                continue
            first = self._try_standing(linked, field)
            trial = self._followed(first, halved=passing is None)
            field = self._informed(field)
            if trial.passed:
                if passing is None or len(trial.asked) <= RUNS.shrunk * len(passing.asked):
                    left = SEARCH.guided
                passing = trial
                yield trial
                if trial is not first and len(trial.asked) <= SEARCH.put_back:
                    return  # it hangs together: what is not needed shows when it is put back

    def _try_standing(self, reverted: ChangeSet, field: Field) -> Trial:
        """A trial; where the text of the variant already tells that it does not stand, of as many of the changes as
        stand together, the most suspicious first. Of 61 suspects two that parted a docstring spoilt ten sets, each
        with one change less than the one before.
        """
        trial = self._try(reverted)
        if trial.outcome.built or self._trials.stands(reverted):
            return trial
        kept = NOTHING
        for change in _sorted_changes(reverted, [suspect.change for suspect in field.suspects]):
            more = kept | {change} | self._needs.get(change, NOTHING)
            if self._trials.stands(more):
                kept = more
        return self._try(kept) if kept and kept not in self._seen else trial

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
        where the commits tell more than a set that may fail otherwise again, these are bisected.
        """
        for _ in range(SEARCH.followed):
            clash = self._trials.clash(trial) & self._changes.keys()
            if not clash:
                break
            self._clashes[trial.asked] = clash
            if halved:
                self._halve_rather(telling_share(self._seen))
            if trial.asked | clash in self._seen:
                break
            trial = self._try(trial.asked | clash)
        return trial

    def _informed(self, field: Field) -> Field:
        """With what clashed, whose changes are suspects now."""
        known = {suspect.change for suspect in field.suspects}
        new = tuple(
            Suspect(change, Tier.CAUSE, home=home(self._changes[change]))
            for change in in_order(NOTHING.union(*self._clashes.values()) - known)
        )
        return replace(field, suspects=field.suspects + new, clashes=tuple(self._clashes.items()))

    def _linked(self, reverted: ChangeSet) -> ChangeSet:
        """Without what keeps it from being linked; where the rest is known to fail, that by itself.

        A rest was run eight times with ever less in it, as two changes that did not link stayed likely.
        """
        unlinked = self._trials.unlinked(reverted) if len(reverted) > 1 else NOTHING
        if not unlinked or unlinked == reverted:
            return reverted
        self._unlinked |= unlinked
        self._seen[reverted] = None
        rest = reverted - unlinked
        return unlinked if self._failed_as_ever(rest) else rest

    def _settled(self, passing: Trial, order: Sequence[ChangeId]) -> Root:
        """The passing reversion, as small as the budget allows to make it."""
        best = passing
        try:
            for trial in self._smaller(passing, order):
                best = trial
        except BudgetSpentError:
            return Root(best.asked, best.auxiliary, None)
        return Root(best.asked, best.auxiliary, minimal=True)

    def _smaller(self, passing: Trial, order: Sequence[ChangeId]) -> Iterator[Trial]:
        """Ever smaller passing reversions; the last is 1-minimal, and needs what went along."""
        ways = (
            self._lean, self._standing, self._shortest_prefix, self._algorithm_2, self._one_less,
            self._leanest,
        )  # fmt: skip
        alone: set[ChangeSet] = set()
        while True:
            for smaller in ways:
                for trial in smaller(passing, order):
                    passing = trial
                    yield trial
            if passing.auxiliary in alone or not self._auxiliary_alone(passing):
                return
            alone.add(passing.auxiliary)
            passing = self._trials.without_more(passing.auxiliary)
            self._note(passing)
            yield passing

    def _lean(self, passing: Trial, order: Sequence[ChangeId]) -> Iterator[Trial]:  # noqa: ARG002 - as its like
        """Without the many that the test does not execute: each run to come is clearer."""
        if len(passing.auxiliary) > SEARCH.put_back:
            yield from self._trials.executed_alone(passing, self._executed)

    def _standing(self, passing: Trial, order: Sequence[ChangeId]) -> Iterator[Trial]:
        """Without one change and all that need it, where that is not the one alone: what is left needs
        nothing that is not undone, as far as the text tells.
        """
        untried = True
        while untried:
            untried = False
            for change in reversed(_sorted_changes(passing.asked, order)):
                needing = {
                    each for each in passing.asked if change in self._needs.get(each, NOTHING)
                }
                left = passing.asked - needing - {change}
                idle = self._failed_within(left) or self._left_over(left)
                if left and needing and not idle:
                    untried = True
                    trial = self._try(left)
                    if trial.passed:
                        passing = trial
                        yield trial
                        break

    def _failed_within(self, reverted: ChangeSet) -> bool:
        """Whether it was tried in vain, or more was reverted and it failed as ever."""
        if reverted in self._seen:
            return self._seen[reverted] is not Verdict.PASS
        return self._failed_as_ever(reverted)

    def _failed_as_ever(self, reverted: ChangeSet) -> bool:
        """Whether the bad version's failure was seen without these changes, and maybe more."""
        failed = (seen for seen, verdict in self._seen.items() if verdict is Verdict.FAIL)
        return any(reverted <= seen for seen in failed)

    def _left_over(self, reverted: ChangeSet) -> bool:
        """Whether something in it was undone only because others were, which are not all in it."""
        return any(
            clash & reverted and not clashed <= reverted for clashed, clash in self._clashes.items()
        )

    def _leanest(self, passing: Trial, order: Sequence[ChangeId]) -> Iterator[Trial]:  # noqa: ARG002 - as its like
        known = [change for change in in_order(passing.auxiliary) if change in self._changes]
        groups = by_file(known, self._changes)
        yield from self._trials.leaner(passing, self._executed, groups)

    def _shortest_prefix(self, passing: Trial, order: Sequence[ChangeId]) -> Iterator[Trial]:
        """Bisection over the order of suspicion, on sets that are not small.

        The last change of the shortest prefix that passes is needed; then the same before it. Where
        passing is monotone that finds k changes of n in k · log2 n runs, and fewer if they come
        early. Where it is not, what passes is still smaller than before.
        """
        needed: ChangeSet = frozenset()
        ordered = (
            _sorted_changes(passing.asked, order) if len(passing.asked) > SEARCH.put_back else []
        )
        while ordered:
            low, high = 0, len(ordered)  # with the first ``high`` it passes, with ``low`` unknown
            while low < high:
                middle = (low + high) // 2
                trial = self._try(needed.union(ordered[:middle]))
                if trial.passed:
                    passing, high = trial, middle
                    yield trial
                else:
                    low = middle + 1
            needed = needed.union(ordered[high - 1 : high])
            ordered = ordered[: max(high - 1, 0)]

    def _algorithm_2(self, passing: Trial, order: Sequence[ChangeId]) -> Iterator[Trial]:
        """Algorithm 2, on sets that are not small; parts follow suspicion and the program."""
        n = 2
        while len(passing.asked) > SEARCH.put_back and n <= len(passing.asked):
            smaller = self._part_or_complement(_sorted_changes(passing.asked, order), n)
            if smaller is not None:
                passing, n = smaller
                yield passing
            elif n < len(passing.asked):
                n = min(2 * n, len(passing.asked))
            else:
                return

    def _part_or_complement(self, ordered: list[ChangeId], n: int) -> tuple[Trial, int] | None:
        """A half that passes, or what is left without a smaller part; and into how many to split it.

        A small part by itself is not tried, unlike in the paper: where it were enough, one of the halves, or
        what is left without another part, most often is so too (ProbDD, Wang and others, FSE 2021, never
        tries a part).
        """
        for part in partition(ordered, self._changes, n):
            left = frozenset(part) if n == 2 else frozenset(ordered).difference(part)
            if (trial := self._try(left)).passed:
                return trial, 2 if n == 2 else max(n - 1, 2)
        return None

    def _one_less(self, passing: Trial, order: Sequence[ChangeId]) -> Iterator[Trial]:
        """Puts back one change at a time, the least suspicious first, until each is needed.

        With all that went along before, which may have been needed for more than to build, or
        with what the rest needs. After one that is not needed the next are asked, and those before it
        again at last: they were seen to be needed beside it.
        """
        waiting = _sorted_changes(passing.asked, order)[::-1]
        while len(waiting) > 1:
            candidates = [passing.asked - {change} for change in waiting]
            for number, trial in enumerate(self._put_back(candidates, passing.auxiliary)):
                if trial.passed:
                    waiting = [*waiting[number + 1 :], *waiting[:number]]
                    passing = trial
                    yield trial
                    break
            else:
                return

    def _put_back(self, candidates: Sequence[ChangeSet], along: ChangeSet) -> Iterator[Trial]:
        """A trial of each of them; the second way only where the first told nothing."""
        if not along:
            for trial in self._trials.revert_each(candidates):
                self._note(trial)
                yield trial
            return
        for asked in candidates:
            trial = self._trials.beside(asked, along)
            if trial.outcome.verdict is Verdict.UNRESOLVED:
                trial = self._try(asked)
            yield trial

    def _auxiliary_alone(self, passing: Trial) -> bool:
        """Whether not the changes asked for but what went along with them made the test pass."""
        along = passing.auxiliary
        return bool(along) and not self._failed_within(along) and self._trials.plain(along).passed

    def _try(self, reverted: ChangeSet) -> Trial:
        if not self._few_pass() and self._halving.is_due(self._spent_trials()):
            self.halve()
        trial = self._trials.revert(reverted)
        self._note(trial)
        return trial

    def _spent_trials(self) -> int:
        """How many trials there were; those that told nothing count for more."""
        untold = sum(verdict is Verdict.UNRESOLVED for verdict in self._seen.values())
        return len(self._seen) + (RUNS.untold - 1) * untold

    def _few_pass(self) -> bool:
        """Whether so few changes were seen to pass that each is put back at once."""
        return any(
            verdict is Verdict.PASS and len(asked) <= SEARCH.put_back
            for asked, verdict in self._seen.items()
        )

    def _note(self, trial: Trial) -> None:
        """A variant that was not built says nothing of its parts."""
        self._seen[trial.asked] = trial.outcome.verdict if trial.outcome.built else None
        if (
            trial.outcome.reason is Unresolved.DIFFERENT_FAILURE
            and len(trial.reverted) <= SEARCH.put_back
        ):
            self._otherwise[trial.reverted] = None


def _costlier(field: Field, unlinked: ChangeSet) -> Field:
    """What was seen not to be linked alone needs others, nobody knows how many."""
    suspects = tuple(replace(s, along=MANY) if s.change in unlinked else s for s in field.suspects)
    return replace(field, suspects=suspects)


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


def _sorted_changes(changes: ChangeSet, order: Sequence[ChangeId]) -> list[ChangeId]:
    """As in ``order``; what is not in it comes last."""
    known = [change for change in order if change in changes]
    return [*known, *sorted(changes.difference(known))]
