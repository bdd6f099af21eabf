"""The job of one commit: its tests are run, and each that fails gets a verdict.

Every stage ends in one transaction that holds all it found, and every run is in the job's journal:
killed at any moment, the next daemon goes on where this one was, and repeats the run under way.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pygit2

from afterd.config import Settings
from afterd.daemon.arrivals import Wanted, wanted_of
from afterd.daemon.baseline import TestRecord
from afterd.daemon.flakiness import record_runs
from afterd.daemon.judgement import Case, Judged, judge
from afterd.daemon.spending import left_of
from afterd.execution.executors.protocol import Job as Run
from afterd.execution.recipe import Recipe
from afterd.model.explanation import Explanation
from afterd.model.outcome import Unresolved, Verdict
from afterd.model.progress import Progress
from afterd.pipeline.explain import keep
from afterd.pipeline.failing import FailingTest, Suite, SuiteRun, run_suite, suite_of
from afterd.pipeline.workspace import Workspace, opened
from afterd.report.verdicts import VerdictKind
from afterd.store import Store
from afterd.store.explanations import load
from afterd.store.history import Observation, observe
from afterd.store.jobs import Job, JobQueue
from afterd.store.journal import StoredJournal
from afterd.store.verdicts import StoredVerdict, keep_verdict, verdicts_at

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


@dataclass(frozen=True, slots=True)
class Examined:
    """What came of a commit's job."""

    wanted: Wanted
    verdicts: tuple[StoredVerdict, ...]
    explanations: tuple[Explanation, ...]


def examine(settings: Settings, store: Store, job: Job, progress: Progress) -> Examined:
    """Test the job's commit and judge what fails; ends with everything kept but the job's end.

    Raises the AfterdError leaf that stands in the way of any answer.
    """
    wanted = wanted_of(job)
    journal = StoredJournal(store, job.id)
    with opened(settings, journal) as workspace:
        tree = str(workspace.repository[wanted.commit].peel(pygit2.Tree).id)
        suite = suite_of(workspace, settings, tree, progress)
        tested = _tested(workspace, job, wanted, suite, tree, progress)
        record = TestRecord(
            workspace.store, workspace.repository, workspace.name, suite.recipe.command_digest
        )
        judged = {each.test for each in verdicts_at(workspace.store, workspace.name, wanted.commit)}
        for test in _failing(suite, tested):
            if test.recipe.test_id in judged:
                continue
            base = record.base(wanted.commit, test.recipe.test_id)
            before = _explanations(workspace.store, workspace.name, wanted.commit)
            left = left_of(settings.job_budget, workspace.store, job)
            case = Case(workspace, settings, job, wanted, tree, test, base, left)
            _keep(case, judge(case, tested.broken, before, progress))
        verdicts = tuple(verdicts_at(workspace.store, workspace.name, wanted.commit))
        return Examined(
            wanted, verdicts, _explanations(workspace.store, workspace.name, wanted.commit)
        )


def _tested(
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


def _failing(suite: Suite, tested: Tested) -> Iterator[FailingTest]:
    for name in tested.names:
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


def _keep(case: Case, judged: Judged) -> None:
    """Explanation, verdict, runs and the job's progress, together or not at all."""
    store = case.workspace.store
    with store.transaction():
        identifier = None
        if judged.explanation is not None:
            identifier = keep(case.workspace, judged.explanation).id
        recipe = case.test.recipe
        if judged.kind is not VerdictKind.BROKEN:
            record_runs(case.workspace, case.job.id, case.wanted.commit, case.tree, recipe)
        verdict = StoredVerdict(
            case.wanted.commit,
            case.base.commit,
            recipe.test_id,
            judged.kind.value,
            judged.rate,
            judged.runs,
            identifier,
            judged.reason,
        )
        keep_verdict(store, case.workspace.name, verdict)
        JobQueue(store).advance(case.job)


def _explanations(store: Store, name: str, commit: str) -> tuple[Explanation, ...]:
    """The explanations behind a commit's verdicts."""
    found = (verdict.explanation_id for verdict in verdicts_at(store, name, commit))
    return tuple(load(store, identifier) for identifier in found if identifier is not None)
