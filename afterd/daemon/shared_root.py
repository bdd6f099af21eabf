"""The answer of one test that is the answer of others: asked of all of them together, and not of each.

A commit that breaks twenty tests has one defect as a rule. With the root of the first answer undone the others are
run in one process; those that pass have the same one, where repeated runs of both versions show that chance is next
to impossible, and where each change of the answer is needed for them as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean

from afterd.config import Settings
from afterd.daemon.baseline import Base
from afterd.daemon.flakiness import outcomes_of, prior_of
from afterd.daemon.judgement import Judged
from afterd.daemon.spending import left_of
from afterd.execution.executors.protocol import Attempt
from afterd.execution.executors.protocol import Job as Run
from afterd.execution.flakiness import Prior, runs_of_both_ends
from afterd.execution.losses import refuse_lost
from afterd.execution.recipe import Recipe
from afterd.execution.signature import same_failure
from afterd.model.change import ChangeSet
from afterd.model.explanation import Explanation, RevisionRange
from afterd.model.outcome import FailureKind, FailureSignature, Unresolved, Verdict
from afterd.model.progress import Progress
from afterd.pipeline.same_root import reverted_changes
from afterd.report.verdicts import VerdictKind
from afterd.store.jobs import Job
from afterd.workspace import FailingTest, Suite, Workspace, range_between

ROUNDS = runs_of_both_ends(Prior(), likely=True)
"""Runs of each version that speak for an answer which another test proved, and on which each such verdict rests."""


class SharedRoot:
    """Asks which of a commit's other failing tests an answer is the answer to. ``tree`` is that of the ``commit``."""

    def __init__(
        self,
        workspace: Workspace,
        settings: Settings,
        job: Job,
        suite: Suite,
        commit: str,
        tree: str,
    ) -> None:
        self._workspace = workspace
        self._commit = commit
        self._settings = settings
        self._job = job
        self._suite = suite
        self._tree = tree

    def repaired(
        self,
        judged: Judged,
        test: FailingTest,
        base: Base,
        others: Mapping[str, FailureSignature],
        progress: Progress,
    ) -> tuple[str, ...]:
        """The names among ``others``, which are compared with the same ``base``, that the answer of ``test`` repairs.

        None where the runner does not tell tests apart, or a run of what it can be asked for takes longer than
        each test by itself. Raises LostRunError where a run is killed each time it is made.
        """
        found = judged.explanation
        caused = judged.kind is VerdictKind.CAUSED and base.green
        if not caused or found is None or not found.minimal or found.range != self._compared(base):
            return ()
        names = [name for name, how in others.items() if self._can_be_asked(name, how)]
        if not names or self._has_spent(test):
            return ()
        recipe = self._suite.some(names)
        if recipe.test == self._suite.recipe.test and self._is_dear(test, len(names)):
            return ()
        progress.stage("trying the answer on the other failing tests", f"{len(names)} of them")
        return tuple(self._confirmed(recipe, found, {name: others[name] for name in names}))

    def _confirmed(
        self, recipe: Recipe, found: Explanation, others: Mapping[str, FailureSignature]
    ) -> Sequence[str]:
        """The tests that pass with the answer undone, fail with any part of it put back, and fail as it is."""
        tree_of = range_between(self._workspace, found.range).variants.tree
        undone = reverted_changes(found)
        left = self._passing(recipe, tree_of(undone), list(others))
        for change in sorted(undone) if len(undone) > 1 else ():
            put_back: ChangeSet = undone - {change}
            left = self._failing(recipe, tree_of(put_back), left) if left else left
        for _ in range(1, ROUNDS):
            left = self._passing(recipe, tree_of(undone), left) if left else left
        for _ in range(1, ROUNDS):  # the first was the suite's own run
            red = (_red_tests(self._run(recipe, self._tree)) if left else None) or {}
            left = [name for name in left if name in red and same_failure(others[name], red[name])]
        return left

    def _passing(self, recipe: Recipe, tree: str, names: Sequence[str]) -> list[str]:
        red = _red_tests(self._run(recipe, tree))
        return [] if red is None else [name for name in names if name not in red]

    def _failing(self, recipe: Recipe, tree: str, names: Sequence[str]) -> list[str]:
        """Those that do not pass: none does in a version that does not build."""
        attempt = self._run(recipe, tree)
        if attempt.outcome.reason is Unresolved.BUILD:
            return list(names)
        red = _red_tests(attempt) or {}
        return [name for name in names if name in red]

    def _run(self, recipe: Recipe, tree: str) -> Attempt:
        attempt = self._workspace.executor.submit(Run(tree, recipe)).result()
        refuse_lost(attempt.outcome, "The run of the tests", recipe.limits.test)
        return attempt

    def _can_be_asked(self, name: str, how: FailureSignature) -> bool:
        """Whether it ends, and no more runs are asked for than of a test of which nothing is known."""
        if how.kind is FailureKind.HANG:
            return False
        prior = prior_of(self._workspace.store, self._workspace.name, name)
        return runs_of_both_ends(prior, likely=True) <= ROUNDS

    def _compared(self, base: Base) -> RevisionRange:
        return RevisionRange(base.commit, self._commit)

    def _has_spent(self, test: FailingTest) -> bool:
        """Whether nothing is left of what the commit may cost."""
        budget, name = self._settings.job_budget, test.recipe.test_id
        return left_of(budget, self._workspace.store, self._job, name) is None

    def _is_dear(self, test: FailingTest, others: int) -> bool:
        """Whether a run of the whole suite takes longer than one of each of the others, as ``test`` was run."""
        return self._seconds(self._suite.recipe) > others * self._seconds(test.recipe)

    def _seconds(self, recipe: Recipe) -> float:
        """What this job's runs of it at the commit took, in the mean."""
        seen = outcomes_of(self._workspace, self._job.id, self._tree, recipe)
        return mean(outcome.test_seconds for outcome in seen) if seen else 0.0


def _red_tests(attempt: Attempt) -> Mapping[str, FailureSignature] | None:
    """How tests failed in a run, by name; None where it says nothing of single tests."""
    if attempt.outcome.passed:
        return {}
    if attempt.outcome.verdict is Verdict.UNRESOLVED or attempt.unrunnable:
        return None
    return {failure.test: failure for failure in attempt.failures} or None
