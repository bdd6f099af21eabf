"""Is it flaky, and how often? From every run on record, and from some more where it is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from afterd.execution.executors.protocol import Job as Run
from afterd.execution.flakiness import Prior, Repeats, prior_from_history, rate, repeats
from afterd.execution.recipe import Recipe
from afterd.model.outcome import Verdict
from afterd.pipeline.workspace import Workspace
from afterd.store.database import Reader
from afterd.store.history import Observation, observations, observe
from afterd.store.journal import attempts_of
from afterd.store.marks import flaky_marks

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


def seen_at(workspace: Workspace, job: int, commit: str, tree: str, recipe: Recipe) -> Repeats:
    """How a test ended in all its runs at a commit: those on record and those of this job."""
    verdicts = [
        seen.verdict
        for seen in observations(workspace.store, workspace.name, recipe.test_id)
        if seen.commit_id == commit
    ]
    verdicts += _verdicts(workspace, job, tree, recipe)
    return repeats([verdict for verdict in verdicts if verdict is not Verdict.UNRESOLVED])


def record_runs(workspace: Workspace, job: int, commit: str, tree: str, recipe: Recipe) -> None:
    """Put this job's runs of a test at its commit on record; inside the verdict's transaction."""
    for verdict in _verdicts(workspace, job, tree, recipe):
        observe(
            workspace.store,
            workspace.name,
            Observation(commit, recipe.test_id, recipe.command_digest, verdict),
        )


def measure(workspace: Workspace, tree: str, recipe: Recipe, known: Repeats) -> None:
    """Run a flaky test until it was run often enough to say how flaky it is."""
    for _ in range(known.runs, MEASURED):
        workspace.executor.submit(Run(tree, recipe)).result()


def rate_of(seen: Repeats) -> float:
    """How often the test shows its other outcome: the posterior mean, nothing assumed before."""
    return rate(Prior(), seen)


def _verdicts(workspace: Workspace, job: int, tree: str, recipe: Recipe) -> Sequence[Verdict]:
    attempts = attempts_of(workspace.store, job, tree, recipe.test_id)
    return [attempt.outcome.verdict for attempt in attempts]
