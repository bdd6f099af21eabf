"""The first stage of a commit's job: its tests are run once, and what they showed goes on record."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from afterd.config import Settings
from afterd.daemon.arrivals import Wanted
from afterd.execution.executors.protocol import Job as Run
from afterd.execution.signature import refused_build
from afterd.model.explanation import THE_BUILD
from afterd.model.outcome import FailureSignature, Outcome, Unresolved, Verdict
from afterd.model.progress import Progress
from afterd.store.history import Observation, observe
from afterd.store.jobs import Job, JobQueue
from afterd.workspace import (
    FailingTest,
    Suite,
    SuiteRun,
    Workspace,
    build_of,
    is_asked_for,
    run_suite,
)

TESTED = "tested"


@dataclass(frozen=True, slots=True)
class Tested:
    """What running a commit's tests showed: the verdict on the whole, how each failed, by name, and
    where nothing could be run, the sentence that says why.
    """

    verdict: Verdict
    failures: tuple[FailureSignature, ...] = ()
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
        failures = tuple(FailureSignature(**each) for each in known["failures"])
        return Tested(Verdict(known["verdict"]), failures, known["broken"])
    ran = run_suite(workspace, suite, tree, progress)
    tested = _read(ran)
    with workspace.store.transaction():
        _put_on_record(workspace, wanted, suite, tested, ran)
        JobQueue(workspace.store).reach(job, TESTED, json.dumps(asdict(tested)))
    return tested


def _read(ran: SuiteRun) -> Tested:
    """What a suite's run says: which tests fail, or that it says nothing of any test."""
    attempt, outcome = ran.attempt, ran.attempt.outcome
    if outcome.hangs and outcome.signature is not None:
        # What would have run after it is not known.
        return Tested(Verdict.UNRESOLVED, ran.failures or (outcome.signature,))
    if outcome.verdict is not Verdict.UNRESOLVED and not attempt.unrunnable:
        return Tested(outcome.verdict, ran.failures)
    if attempt.missing:
        why = f"It cannot be built: {attempt.missing} is missing on this machine."
        return Tested(Verdict.UNRESOLVED, ran.failures, why)
    if outcome.reason is Unresolved.BUILD:
        return Tested(Verdict.UNRESOLVED, (refused_build(outcome.detail, THE_BUILD),))
    if outcome.reason is Unresolved.UNTESTABLE:
        return Tested(
            Verdict.UNRESOLVED, ran.failures
        )  # the test's own word, and no fault of the machine
    said = attempt.unrunnable or f"The tests give no verdict: {_ending_sentence(outcome)}."
    return Tested(Verdict.UNRESOLVED, ran.failures, said)


def _ending_sentence(outcome: Outcome) -> str:
    """How a run without a verdict ended; where it was ended, its detail says by what and names the limit."""
    ended = outcome.reason in (Unresolved.TIMEOUT, Unresolved.KILLED, Unresolved.OUTPUT)
    return outcome.detail if ended and outcome.detail else outcome.reason or outcome.detail


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
            Observation(wanted.commit, failure.test, digest, Verdict.FAIL, signature=failure)
            for failure in tested.failures
            if failure.test != suite.recipe.test_id
        ]
    for row in rows:
        observe(workspace.store, workspace.name, row)


def failing_of(
    settings: Settings, suite: Suite, tested: Tested
) -> Iterator[tuple[FailingTest, FailureSignature]]:
    """The failing tests that are asked for, each with its recipe, and how it failed."""
    always = (THE_BUILD, suite.recipe.test_id)
    for failure in tested.failures:
        names = suite.named or settings.tests
        if names and failure.test not in always and not is_asked_for(failure.test, names):
            continue
        if failure.test == THE_BUILD:
            yield build_of(suite.recipe), failure
        else:
            yield suite.test(failure.test), failure
