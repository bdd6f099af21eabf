"""The first stage of a commit's job: its tests are run once, and what they showed goes on record."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from afterd.config import Settings
from afterd.daemon.arrivals import Wanted
from afterd.execution.executors.protocol import Job as Run
from afterd.execution.recipe import Recipe
from afterd.model.outcome import Unresolved, Verdict
from afterd.model.progress import Progress
from afterd.pipeline.failing import FailingTest, Suite, SuiteRun, run_suite
from afterd.pipeline.workspace import Workspace
from afterd.store.history import Observation, observe
from afterd.store.jobs import Job, JobQueue

TESTED = "tested"
THE_BUILD = "the build"


@dataclass(frozen=True, slots=True)
class Tested:
    """What running a commit's tests showed: the verdict on the whole, the names of what fails, and
    where nothing could be run, the sentence that says why.
    """

    verdict: Verdict
    names: tuple[str, ...] = ()
    broken: str = ""


def tested_at(
    workspace: Workspace, job: Job, wanted: Wanted, suite: Suite, tree: str, progress: Progress
) -> Tested:
    """Run the tests, or read off the checkpoint what running them showed."""
    if job.stage == TESTED:
        # The journal answers. Not asked, it would take the next run of the same for this one, and
        # a confirmation after a kill rested on a run less than one without.
        workspace.executor.submit(Run(tree, suite.recipe)).result()
        known = json.loads(job.checkpoint)
        return Tested(Verdict(known["verdict"]), tuple(known["names"]), known["broken"])
    ran = run_suite(workspace, suite, tree, progress)
    tested = _read(suite, ran)
    with workspace.store.transaction():
        _put_on_record(workspace, wanted, suite, tested, ran)
        checkpoint = {
            "verdict": tested.verdict.value,
            "names": tested.names,
            "broken": tested.broken,
        }
        JobQueue(workspace.store).reach(job, TESTED, json.dumps(checkpoint))
    return tested


def _read(suite: Suite, ran: SuiteRun) -> Tested:
    """What a suite's run says: which tests fail, or that it says nothing of any test."""
    attempt, outcome = ran.attempt, ran.attempt.outcome
    if outcome.verdict is not Verdict.UNRESOLVED and not attempt.unrunnable:
        return Tested(outcome.verdict, () if outcome.passed else ran.names)
    if attempt.missing:
        why = f"It cannot be built: {attempt.missing} is missing on this machine."
        return Tested(Verdict.UNRESOLVED, (suite.recipe.test_id,), why)
    if outcome.reason is Unresolved.BUILD:
        return Tested(Verdict.UNRESOLVED, (THE_BUILD,))
    said = attempt.unrunnable or f"The tests give no verdict: {outcome.reason or outcome.detail}."
    return Tested(Verdict.UNRESOLVED, (suite.recipe.test_id,), said)


def _put_on_record(
    workspace: Workspace, wanted: Wanted, suite: Suite, tested: Tested, ran: SuiteRun
) -> None:
    """The suite as a whole, and each failing test of it; a test that is the suite has runs of its
    own in the journal, which are put on record with its verdict.
    """
    outcome = ran.attempt.outcome
    seconds = outcome.build_seconds + outcome.test_seconds
    digest = suite.recipe.command_digest
    rows = [Observation(wanted.commit, "", digest, tested.verdict, seconds)]
    if not tested.broken:
        rows += [
            Observation(wanted.commit, name, digest, Verdict.FAIL)
            for name in tested.names
            if name != suite.recipe.test_id
        ]
    for row in rows:
        observe(workspace.store, workspace.name, row)


def failing_of(settings: Settings, suite: Suite, tested: Tested) -> Iterator[FailingTest]:
    """The failing tests that are asked for, each with its recipe."""
    for name in tested.names:
        if settings.tests and name not in (*settings.tests, THE_BUILD):
            continue
        if name == THE_BUILD:
            # a build that fails is a test that fails: the same loop finds the change that did it
            build = Recipe(
                suite.recipe.build,
                test_id=THE_BUILD,
                extra=suite.recipe.extra,
                limits=suite.recipe.limits,
            )
            yield FailingTest(build, "command")
        else:
            yield suite.test(name)
