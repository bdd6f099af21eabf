"""Is it flaky, and how often? From every run on record, and from some more where it is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from afterd.execution.cache import key_of_test
from afterd.execution.executors.protocol import Job as Run
from afterd.execution.flakiness import (
    Prior,
    Repeats,
    prior_after_both,
    prior_from_history,
    rate,
    repeats,
)
from afterd.execution.recipe import Recipe, Scope
from afterd.execution.signature import telling_signature
from afterd.model.outcome import Outcome, Verdict
from afterd.store.database import Reader
from afterd.store.history import Observation, observations, observe
from afterd.store.journal import attempts_of
from afterd.store.marks import flaky_marks
from afterd.workspace import Workspace

MEASURED = 10
"""Runs of a flaky test that its rate rests on, at least, where the budget allows."""


def prior_of(reader: Reader, repository: str, test: str) -> Prior:
    """What is believed of a test before it is run: from its runs on other commits, and from people.

    A mark "flaky" counts as a commit on which it was seen to be.
    """
    runs: dict[str, list[Verdict]] = defaultdict(list)
    for seen in observations(reader, repository, test):
        if seen.verdict is not Verdict.UNRESOLVED:
            runs[seen.commit_id].append(seen.verdict)
    told = [Repeats(2, 1)] * flaky_marks(reader, test)
    return prior_from_history([*map(repeats, runs.values()), *told])


def prior_beside(workspace: Workspace, job: int, tree: str, recipe: Recipe, before: Prior) -> Prior:
    """What is believed of a test that failed in its suite, and passed each time this job ran it alone."""
    passed = sum(outcome.passed for outcome in outcomes_of(workspace, job, tree, recipe))
    return prior_after_both(before, passed, 1) if passed else before


def seen_at(workspace: Workspace, job: int, commit: str, tree: str, recipe: Recipe) -> Repeats:
    """How a test ended in all its runs at a commit: those on record and those of this job."""
    verdicts = [
        seen.verdict
        for seen in observations(workspace.store, workspace.name, recipe.test_id)
        if seen.commit_id == commit
    ]
    verdicts += [outcome.verdict for outcome in outcomes_of(workspace, job, tree, recipe)]
    return repeats([verdict for verdict in verdicts if verdict is not Verdict.UNRESOLVED])


def record_runs(workspace: Workspace, job: int, commit: str, tree: str, recipe: Recipe) -> None:
    """Put this job's runs of a test at its commit on record; inside the verdict's transaction."""
    whole = recipe.scope is Scope.WHOLE  # a test among others has its failure from the suite's run
    for outcome in outcomes_of(workspace, job, tree, recipe):
        fails = whole and outcome.verdict is Verdict.FAIL
        signature = telling_signature(outcome, recipe.test_id) if fails else None
        seen = (recipe.test_id, recipe.command_digest, outcome.verdict)
        row = Observation(commit, *seen, signature=signature)
        observe(workspace.store, workspace.name, row)


def measure(workspace: Workspace, tree: str, recipe: Recipe, known: Repeats) -> None:
    """Run a flaky test until it was run often enough to say how flaky it is."""
    for _ in range(known.runs, MEASURED):
        workspace.executor.submit(Run(tree, recipe)).result()


def rate_of(seen: Repeats) -> float:
    """How often the test shows its other outcome: the posterior mean, nothing assumed before."""
    return rate(Prior(), seen)


def outcomes_of(workspace: Workspace, job: int, tree: str, recipe: Recipe) -> Sequence[Outcome]:
    """How a job's runs of a test on a tree ended, in their order."""
    attempts = attempts_of(workspace.store, job, key_of_test(recipe, tree))
    return [attempt.outcome for attempt in attempts]
