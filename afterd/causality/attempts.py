"""The reversions that were tried, and their verdicts: what the search, and what makes an answer smaller, share."""

from __future__ import annotations

from collections.abc import Callable

from afterd.causality.trials import Trial, Trials
from afterd.limits import SEARCH
from afterd.model.change import NOTHING, ChangeId, ChangeSet, in_order
from afterd.model.outcome import Unresolved, Verdict
from afterd.weights import RUNS


class Attempts:
    """Trials with what came of them. ``needs``: what a change needs to be undone with it, as far as its text tells;
    ``clashes``: what a reversion's other failure said must be undone as well.
    """

    def __init__(self, trials: Trials, before: Callable[[], None]) -> None:
        """``before`` is called before each run, and may end the search by what it raises."""
        self.trials = trials
        self.seen: dict[ChangeSet, Verdict | None] = {}
        self.needs: dict[ChangeId, ChangeSet] = {}
        self.clashes: dict[ChangeSet, ChangeSet] = {}
        self._before = before
        self._otherwise: dict[ChangeSet, None] = {}
        self._failed: set[ChangeSet] = set()  # all that was undone where it failed as ever

    def make(self, reverted: ChangeSet) -> Trial:
        """The trial of a reversion, with what must go along. Raises BudgetSpentError."""
        self._before()
        trial = self.trials.revert(reverted)
        self.note(trial)
        return trial

    def alone(self, reverted: ChangeSet) -> Trial:
        """The trial of a reversion with nothing going along; one that is not built is as if it had not been tried.

        Raises BudgetSpentError.
        """
        self._before()
        trial = self.trials.without_more(reverted)
        if trial.outcome.built:
            self.note(trial)
        return trial

    def note(self, trial: Trial) -> None:
        """Keep its verdict. A variant that was not built says nothing of its parts."""
        self.seen[trial.asked] = trial.outcome.verdict if trial.outcome.built else None
        self.note_failed(trial)
        otherwise = trial.outcome.reason is Unresolved.DIFFERENT_FAILURE
        if otherwise and len(trial.reverted) <= SEARCH.put_back:
            self._otherwise[trial.reverted] = None

    def note_failed(self, trial: Trial) -> None:
        """Keep what was undone where it failed as ever."""
        if trial.outcome.verdict is Verdict.FAIL:
            self._failed.add(trial.reverted)

    def failed_otherwise(self) -> list[ChangeSet]:
        """Few changes each, of those that were tried, without which the test fails, but not as the bad
        version does.
        """
        return sorted(self._otherwise, key=lambda reverted: (len(reverted), in_order(reverted)))

    def failed_within(self, reverted: ChangeSet) -> bool:
        """Whether it was tried in vain, or more was reverted, by what went along too, and it failed as ever."""
        if reverted in self.seen:
            return self.seen[reverted] is not Verdict.PASS
        return any(reverted <= failed for failed in self._failed)

    def failed_as_ever(self, reverted: ChangeSet) -> bool:
        """Whether the bad version's failure was seen without these changes, and maybe more."""
        failed = (seen for seen, verdict in self.seen.items() if verdict is Verdict.FAIL)
        return any(reverted <= seen for seen in failed)

    def left_over(self, reverted: ChangeSet) -> bool:
        """Whether something in it was undone only because others were, which are not all in it."""
        return any(
            clash & reverted and not clashed <= reverted for clashed, clash in self.clashes.items()
        )

    def needing(self, change: ChangeId, among: ChangeSet) -> ChangeSet:
        """Those ``among`` some changes that need this one to be undone with them."""
        return frozenset(each for each in among if change in self.needs.get(each, NOTHING))

    def learn_needs(self, changes: ChangeSet) -> None:
        """What each of some changes needs, of those of which that is not known."""
        for change in in_order(changes - self.needs.keys()):
            self.needs[change] = self.trials.needs(change)

    def few_pass(self) -> bool:
        """Whether so few changes were seen to pass that each is put back at once."""
        return any(
            verdict is Verdict.PASS and len(asked) <= SEARCH.put_back
            for asked, verdict in self.seen.items()
        )

    def any_passes(self) -> bool:
        """Whether any reversion was seen to pass."""
        return Verdict.PASS in self.seen.values()

    def spent(self) -> float:
        """What the trials have cost, in runs: those that told nothing count for more, and so does what a compiler was
        asked for them.
        """
        untold = sum(verdict is Verdict.UNRESOLVED for verdict in self.seen.values())
        return len(self.seen) + (RUNS.untold - 1) * untold + self.trials.spent_along()
