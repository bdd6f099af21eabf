"""The synergistic loop (AFTER, Algorithm 1), with what the paper lacks.

Semantic analysis gives the cause of a predicate from P; dynamic analysis reverts the changes that
the causes so far speak of; if no root is among them, the cause's critical predicates go into P.
Solving costs no test run, so two things differ from the paper. Predicates are taken level by level,
the infected ones first, and before all others a branch that alone can have infected something. And
nothing is run while an infected step of a cause is still unexplained, for as long as there is
somewhere to look, or when no plausible change was added.

Where undoing a change leaves another failure, that one is explained in the same way, by the run of
the variant: what must be undone together shows one after the other. When P runs dry in a range of
several commits, their own versions tell a shorter one; in what is left the search goes on over all
other changes, nearest to the trace first: the answer is never worse than delta debugging's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from afterd.causality.analysis import Analysis, LedBack, Oracles
from afterd.causality.around import Around
from afterd.causality.auxiliary import AuxiliarySearch
from afterd.causality.causes import Causes
from afterd.causality.counterfactual import Counterfactual
from afterd.causality.deltas.dependencies import Changes, structural_order
from afterd.causality.deltas.history import (
    commit_guilt,
    made_after,
    made_before,
    oldest_commit,
)
from afterd.causality.further import Further
from afterd.causality.halving import Halving, ShorterRangeError
from afterd.causality.infection import Green
from afterd.causality.kinship import kinship
from afterd.causality.leading import lead_by_names, lead_by_text
from afterd.causality.led_back import led_back
from afterd.causality.needs import Needs
from afterd.causality.own_versions import verdict_with
from afterd.causality.reversion import Reversion, TrialsSpentError
from afterd.causality.shrinking import Root
from afterd.causality.signs import Sign, odds_of
from afterd.causality.suspicion import (
    PARTED,
    Suspect,
    Tier,
    ranked_suspects,
    suspects_of,
)
from afterd.causality.textual_similarity import similarity_among
from afterd.causality.trials import BudgetSpentError, Trials
from afterd.causality.watch import WatchedExecution
from afterd.limits import SEARCH
from afterd.model.change import NOTHING, ChangeId, ChangeSet, in_order
from afterd.model.outcome import Verdict
from afterd.model.progress import Progress
from afterd.model.trace import Conduct, Execution
from afterd.weights import ODDS, RUNS

__all__ = ["Analysis", "LedBack", "Loop", "Oracles"]

_OTHERWISE_HERE = frozenset([Conduct.PASSED])
"""Statements that did otherwise than their old text would have, where nothing else leads on: an
omission (yara: a rule that did not match) leaves no wrong value to walk back from.
"""


class Loop:
    """One run of Algorithm 1.

    ``changes`` are those that may matter; ``everything`` is all that can be reverted, and reverting
    it gives the good version.
    """

    def __init__(
        self,
        execution: Execution,
        changes: Changes,
        everything: ChangeSet,
        oracles: Oracles,
        progress: Progress,
    ) -> None:
        watch = oracles.watch
        execution = WatchedExecution(execution, watch)
        self._execution = execution
        self._changes = changes
        self._everything = everything
        self._progress = progress
        self._oracles = oracles
        self._standing = oracles.standing
        self._unmet = PARTED | _OTHERWISE_HERE if self._standing.proves else PARTED
        self._auxiliary = AuxiliarySearch(
            watch.over(oracles.builds),
            changes,
            everything,
            oracles.standing.asked_by(watch.over),
            oracles.closure.needed,
            oracles.worth,
            oracles.refused,
            oracles.closure.bringing,
        )
        self._needs = Needs(changes, self._auxiliary, oracles.closure)
        self._further = Further(oracles.clashing, self._worth_recording, self._led_to_without)
        self._trials = Trials(
            oracles.outcome,
            self._auxiliary,
            oracles.outcomes,
            clashing=self._further.clashing,
            kin=self._needs.together,
            came_further=oracles.came_further,
            width=oracles.width,
        )
        executed = frozenset(execution.executed_changes())
        many = len(changes) > SEARCH.all_sets
        self._halving = oracles.halving if many else Halving()
        of_commits = partial(
            commit_guilt, oracles.commits, changes, executed=executed, similarity=oracles.similarity
        )
        self._reversion = Reversion(
            self._trials,
            changes,
            executed,
            self._halving,
            of_commits if oracles.commits else None,
            oracles.worth,
        )
        self._green = Green(execution)
        self._causes = Causes(
            execution,
            watch.over(oracles.core),
            progress,
            self._green,
            worth=oracles.worth,
        )
        self._worth = oracles.worth
        self._around = Around(self._reversion, changes, oracles.worth, self._standing)
        self._notes: list[str] = []

    def explain(self) -> Analysis:
        """Run until a root is found, a shorter range is, or nothing is left to try."""
        root: Root | None = None
        try:
            root = self._by_evidence() or self._anywhere()
            root = root and self._that_broke_it(root)
            root = root and self._led(root)
        except BudgetSpentError:
            self._notes.append("The budget was spent before any reversion passed.")
        except ShorterRangeError:
            root = None
        return self.concluded(root)

    def _by_evidence(self) -> Root | None:
        """A root among what the evidence speaks of; None once trials of it cost more than a search without any."""
        try:
            root = self._only_one() or self._where_shown() or self._along_causes()
            if root is not None:
                return root
            leading = self._leading()
            root = self._around.each_with_its_function(leading)
            if root is None:
                self._reversion.halve()
            root = root or self._through_other_failures(leading, 0, 1)
            root = root or self._around.whole_places(leading)
            return root or self._through_other_failures(leading)
        except TrialsSpentError:
            return None

    def _only_one(self) -> Root | None:
        """The change, where no other can matter: evidence could not choose better."""
        return self._reversion.leading([*self._changes]) if len(self._changes) == 1 else None

    def _where_shown(self) -> Root | None:
        """A change that wrote a line which the failure's report shows: a run settles it before anything is
        explained. Of several, causes say which; where no run was recorded, the report's order does.
        """
        shown = [suspect.change for suspect in self._shown(())]
        if len(shown) > 1 and self._causes.failure is not None:
            return None
        return self._reversion.leading(shown[: SEARCH.leaders])

    def _along_causes(self) -> Root | None:
        """The while loop of Algorithm 1: semantic analysis, then dynamic analysis where it pays."""
        tried = known = NOTHING
        before = self._worth.spent()
        while self._causes.open_level():
            plausible = self._plausible(unmet=not self._causes.promising)
            now = frozenset(suspect.change for suspect in plausible)
            cost = self._worth.spent() - before
            if not now <= known:
                known, before = now, self._worth.spent()
            if now <= tried or self._worth_waiting(plausible, cost):
                continue
            tried = now
            root = self._dynamic(plausible)
            if root is not None:
                return root
        plausible = self._plausible()
        added = sum(suspect.weight for suspect in plausible if suspect.change not in tried)
        if added <= RUNS.too_little * sum(suspect.weight for suspect in plausible):
            return None
        return self._dynamic(plausible)

    def _leading(self) -> list[ChangeId]:
        """The suspects once causes lead no further, the likeliest first."""
        return [suspect.change for suspect in self._plausible()]

    def _through_other_failures(
        self, leading: Sequence[ChangeId], deep: int = 1, variants: int = SEARCH.otherwise
    ) -> Root | None:
        """What else must be undone, read from how the test fails without one of the suspects.

        First the suspects that lead are undone alone. Then such a variant takes the bad version's
        place: its failed assertion is explained, and what is found goes along. So many ``variants`` are looked at,
        and variants of them so ``deep``.
        """
        root = self._reversion.leading(leading[: SEARCH.leaders])
        if root is not None:
            return root
        for reverted in self._reversion.failed_otherwise()[:variants]:
            without = self._without(reverted)
            further = NOTHING if without is None else without.further(deep)
            root = self._reversion.settle(reverted | further, leading) if further else None
            if root is not None:
                names = ", ".join(in_order(reverted))
                self._notes.append(f"Without {names} the test fails otherwise, for the rest.")
                return root
        return None

    def _without(self, reverted: ChangeSet) -> Loop | None:
        """The search in which the variant without some changes takes the bad version's place; None where it is not
        recorded.
        """
        names = ", ".join(in_order(reverted))
        self._progress.stage("tracing another failure", f"as the test fails without {names}")
        execution = self._oracles.traced(reverted)
        left = {key: each for key, each in self._changes.items() if key not in reverted}
        of = self._everything - reverted, self._oracles.without(reverted), self._progress
        return None if execution is None else Loop(execution, left, *of)

    def _worth_recording(self, reverted: ChangeSet) -> bool:
        """Whether the own run of a variant that fails otherwise is recorded for what it lacks. Where it must be built
        for that, or there are commits to bisect, which tell more, only one that came further in the test; none where
        few changes pass, as what a part of them lacks is among these.
        """
        if self._reversion.few_pass():
            return False
        if self._oracles.came_further(reverted):
            return True
        dear = self._standing.proves or self._halving.waits
        return not dear and self._trials.failed_otherwise(reverted)

    def _led_to_without(self, reverted: ChangeSet) -> ChangeSet:
        """What the causes of a variant's own failure lead to, without a run; nothing where they lead to several."""
        without = self._without(reverted)
        return NOTHING if without is None else without.leading_suspect()

    def leading_suspect(self) -> ChangeSet:
        """The suspect that weighs more than all others, with what it needs, once the causes have come to one, or lead
        no further; nothing where none does. No run is made.
        """
        while self._causes.open_level():
            plausible = self._plausible(unmet=False)
            if plausible and self._explained(plausible):
                break
        plausible = self._plausible()
        whole = sum(suspect.weight for suspect in plausible)
        if not plausible or 2 * plausible[0].weight <= whole:
            return NOTHING
        return frozenset({plausible[0].change}) | self._needs.alone(plausible[0]).needs

    def _that_broke_it(self, root: Root) -> Root:
        """The root, or where the test passes without what was changed later, what is guilty there: a change
        with which the test was still green may repair it, but did not break it. The commit's own version says
        whether it was; where nothing later does it, and it was, the commits are bisected.
        """
        try:
            while later := made_after(self._oracles.commits, self._changes, root.changes):
                verdict = verdict_with(root, self._oracles, self._changes)
                if verdict is Verdict.FAIL:
                    break
                own = root.changes | root.auxiliary
                suspects = [each for each in self._plausible() if each.change in later]
                led = [suspect.change for suspect in suspects]
                found = self._leads_later(led, own) if verdict is Verdict.PASS else None
                if found is None and verdict is Verdict.PASS:
                    self._reversion.halve_later(later, suspects)
                # of thousands that do not build nobody can tell what they lack
                alone = self._standing.proves
                order = [*led, *structural_order(self._changes[c] for c in later.difference(led))]
                found = found or self._reversion.settle(later, order, own, alone=alone)
                if found is None:
                    if verdict is Verdict.PASS:
                        self._reversion.halve()
                    break
                names = ", ".join(in_order(root.changes))
                self._notes.append(
                    f"Undoing {names} makes the test pass too, but the test still passed with it:"
                    " what broke it was changed later."
                )
                root = found
            self._doubt_if_red_before(root)
        except BudgetSpentError:
            pass
        return root

    def _doubt_if_red_before(self, root: Root) -> None:
        """Where suspects came earlier than the root, see whether the test was red before it: then what broke it is
        among these, and the commits are bisected.
        """
        of_root = self._oracles.commits, self._changes, root.changes
        earlier = made_before(*of_root)
        suspects = self._plausible() if earlier else []
        before = sum(suspect.weight for suspect in suspects if suspect.change in earlier)
        if before <= RUNS.too_little * sum(suspect.weight for suspect in suspects):
            return
        if self._oracles.verdict_before(oldest_commit(*of_root)) is Verdict.FAIL:
            self._reversion.halve()
            names = ", ".join(in_order(root.changes))
            self._notes.append(
                f"Undoing {names} makes the test pass, but the test failed before it was made:"
                " what broke it came earlier."
            )

    def _leads_later(self, led: Sequence[ChangeId], own: ChangeSet) -> Root | None:
        """A root out of the suspects that came later, where it takes nothing of what repairs the test as well along."""
        found = self._reversion.leading(led[: SEARCH.leaders])
        return None if found is None or (found.changes | found.auxiliary) & own else found

    def further(self, deep: int) -> ChangeSet:
        """What the causes, or those of further failures, lead to; nothing where they lead nowhere."""
        try:
            root = self._along_causes()
            if root is None and deep > 0:
                root = self._through_other_failures(self._leading(), deep - 1)
        except TrialsSpentError:
            return NOTHING
        return NOTHING if root is None else root.changes | root.auxiliary

    def _worth_waiting(self, suspects: Sequence[Suspect], cost: int) -> bool:
        """Whether the next level is opened without a run: what is infected has no origin yet, and the
        next suspect will cost less than runs do if it costs what was spent since one was found. (An
        interpreter's guilty branch was the one suspect of the first level, and ten more found none.)
        """
        more = self._causes.promising and self._worth.beats_running(cost, len(suspects))
        return more and not self._explained(suspects)

    def _explained(self, suspects: Sequence[Suspect]) -> bool:
        """Whether what is infected has its origin in the causes, by a statement that is known to do
        otherwise than its old text: of an interpreter's program counter every step was rewritten.
        """
        return any(odds_of(suspect.signs) > 1 for suspect in suspects) and self._causes.explained()

    def _plausible(self, *, unmet: bool = True) -> list[Suspect]:
        """The suspects whose statements are not as in green.

        ``unmet``: also where the runs part and no cause has come to; that is for when none can.
        """
        conduct = self._unmet if unmet else frozenset[Conduct]()
        found = suspects_of(self._execution, self._green, self._causes.links, unmet=conduct)
        met = [s for s in found if s.tier <= Tier.CAUSE and s.change in self._changes]
        suspects = self._with_similarity([*met, *self._shown(met)])
        return sorted(suspects, key=lambda suspect: -suspect.weight)

    def _with_similarity(self, suspects: Sequence[Suspect]) -> Iterator[Suspect]:
        """Suspects with how similar their text is to the test's, beside each other's, and whether the message speaks of
        what a cause met.
        """
        among = similarity_among([each.change for each in suspects], self._oracles.similarity)
        for suspect in suspects:
            met = suspect.tier <= Tier.CAUSE and Sign.SHOWN not in suspect.signs
            spoken = met and suspect.change in self._oracles.named.took
            signs = (*suspect.signs, Sign.SPOKEN) if spoken else suspect.signs
            yield replace(suspect, signs=signs, similarity=among[suspect.change])

    def _shown(self, met: Sequence[Suspect]) -> list[Suspect]:
        """The changes that the failure's own report shows, or that took away what it says is missing, and no cause has
        met.
        """
        known = {suspect.change for suspect in met}
        named = self._oracles.named.shown(self._changes.values())
        return [Suspect(c, Tier.CAUSE, signs=(Sign.SHOWN,)) for c in named if c not in known]

    def _dynamic(self, suspects: list[Suspect]) -> Root | None:
        closed = self._explained(suspects) or not self._causes.promising
        outside = ODDS.outside_explained if closed else ODDS.outside_open
        predict = Counterfactual(self._execution, self._green, self._causes.links).passes
        before = self._worth.spent()
        suspects = [
            self._needs.alone(suspect)
            if rank < SEARCH.looked_at and self._worth.beats_running(self._worth.spent() - before)
            else self._needs.named(suspect)
            for rank, suspect in enumerate(suspects)
        ]
        suspects.sort(key=lambda suspect: -suspect.weight)
        self._tell(suspects)
        last = not self._causes.promising
        return self._reversion.find_root(suspects, outside, predict, thorough=last)

    def _tell(self, suspects: Sequence[Suspect]) -> None:
        """Say what the next runs are chosen by."""
        self._progress.suspects({each.change: each.counted_signs() for each in suspects})

    def _anywhere(self) -> Root | None:
        """Delta debugging over everything, with what is known of each change as its weight."""
        self._progress.stage("searching all changes", "nearest to the trace first")
        root = self._few_that_ran()
        if root is not None:
            return root
        suspects = self._all_suspects()
        if self._standing.proves:
            suspects = [self._needs.with_names(each) for each in suspects]
        else:  # the text tells in milliseconds
            suspects.sort(key=lambda each: -each.weight)
            suspects = [
                *map(self._needs.loose, suspects[: SEARCH.asked]),
                *suspects[SEARCH.asked :],
            ]
            suspects.sort(key=lambda each: -each.weight)
        self._tell(suspects)
        whole = self._trials.revert(frozenset(self._changes))
        if not whole.passed:
            self._notes.append(
                "Reverting every change that may matter does not make the test pass."
            )
            return None
        in_code = structural_order(self._changes.values())
        return self._reversion.find_root(suspects, 0.0, passing=whole, neighbours=in_code)

    def _few_that_ran(self) -> Root | None:
        """One of the changes that ran, where they are few, unless trials cost as much as all of this already."""
        ran = [each for each in self._execution.executed_changes() if each in self._changes]
        try:
            return self._reversion.leading(ran) if len(ran) <= SEARCH.leaders else None
        except TrialsSpentError:
            return None

    def _all_suspects(self) -> list[Suspect]:
        tiers = (
            (Tier.SLICE, self._causes.slice_changes()),
            (Tier.EXECUTED, self._execution.executed_changes()),
            (Tier.OTHER, structural_order(self._changes.values())),
        )
        known = ranked_suspects(
            suspects_of(self._execution, self._green, self._causes.links, unmet=self._unmet),
            tiers,
            self._execution.conduct(),
        )
        leaders = [suspect.change for suspect in known if suspect.tier <= Tier.CAUSE][
            : SEARCH.leaders
        ]
        shared = kinship(self._changes, leaders)
        return [
            suspect if suspect.tier <= Tier.CAUSE else self._kin(suspect, shared)
            for suspect in self._with_similarity(known)
            if suspect.change in self._changes
        ]

    def _kin(self, suspect: Suspect, shared: Mapping[ChangeId, float]) -> Suspect:
        """A change is likelier guilty for what it shares with the leaders and the failure's words."""
        spoken = self._oracles.named.speaks_of(self._changes[suspect.change])
        signs = (*suspect.signs, Sign.SPOKEN) if spoken else suspect.signs
        return replace(suspect, signs=signs, kinship=shared[suspect.change])

    def _led(self, root: Root) -> Root:
        """The root with the change in its lead that evidence speaks for, where no run tells which leads."""
        if len(root.changes) != 1 or not root.auxiliary:
            return root
        (asked,), whole = root.changes, root.changes | root.auxiliary
        of = asked, whole, self._plausible(), self._changes
        proves = self._standing.proves
        lead = lead_by_names(*of, self._oracles.closure) if proves else lead_by_text(*of)
        return replace(root, changes=frozenset({lead}), auxiliary=whole - {lead})

    def concluded(self, root: Root | None) -> Analysis:
        """What is said of a root that was found, by this search or before it; None: there is none."""
        found = root or Root(NOTHING, NOTHING, None)
        self._oracles.watch.stop()
        links = self._causes.links
        further = self._further.notes(found.changes | found.auxiliary)
        notes = (*self._notes, *further, *self._execution.notes())
        return Analysis(
            root=found.changes,
            auxiliary=found.auxiliary,
            minimal=found.minimal,
            verified=root is not None,
            executed=len(self._execution.executed_changes()),
            notes=tuple(dict.fromkeys(notes)),
            failure=self._causes.failure,
            suspects=suspects_of(self._execution, self._green, links),
            runs=self._trials.runs,
        )

    def led_back(self, root: ChangeSet) -> LedBack:
        """The causes from the failure to a root, for when no twin tells its story."""
        return led_back(self._causes, root)
