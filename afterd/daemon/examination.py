"""The job of one commit: its tests are run, and each that fails gets a verdict.

Every stage ends in one transaction that holds all it found, and every run is in the job's journal:
killed at any moment, the next daemon goes on where this one was, and repeats the run under way.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import pygit2

from afterd.config import Settings, command_line
from afterd.daemon.arrivals import Wanted, wanted_of
from afterd.daemon.baseline import Base, TestRecord
from afterd.daemon.flakiness import record_runs
from afterd.daemon.judgement import Case, Judged, judge, last_word
from afterd.daemon.shared_root import ROUNDS, SharedRoot
from afterd.daemon.spending import left_of
from afterd.daemon.tested import failing_of, tested_at
from afterd.daemon.unheld import chosen_settings
from afterd.errors import LostRunError
from afterd.localization.ranker import Ranker
from afterd.model.explanation import THE_SUITE, Explanation
from afterd.model.outcome import FailureKind, FailureSignature
from afterd.model.progress import Progress
from afterd.pipeline.kept import keep
from afterd.report.verdicts import VerdictKind
from afterd.store import Store
from afterd.store.explanations import load
from afterd.store.jobs import Job, JobQueue
from afterd.store.journal import StoredJournal
from afterd.store.verdicts import StoredVerdict, keep_verdict, verdicts_at
from afterd.vcs.repository import common_directory, open_repository, resolve
from afterd.workspace import FailingTest, opened_workspace, range_between, suite_of


@dataclass(frozen=True, slots=True)
class Examined:
    """What came of a commit's job."""

    wanted: Wanted
    verdicts: tuple[StoredVerdict, ...]
    explanations: tuple[Explanation, ...]


def examine(settings: Settings, store: Store, job: Job, progress: Progress) -> Examined:
    """Test the job's commit and judge what fails; ends with everything kept but the job's end.

    Raises the AfterdError leaf that stands in the way of any answer, LostRunError among them while the job has
    attempts left.
    """
    wanted = wanted_of(job)
    try:
        return _examined_commit(settings, store, job, wanted, progress)
    except LostRunError as error:
        name = str(common_directory(open_repository(settings.repository)))
        test = command_line(settings.test) if settings.test else THE_SUITE
        reason = last_word(job, error)
        unknown = StoredVerdict(
            wanted.commit, "", test, VerdictKind.UNDETERMINED.value, None, 1, None, reason
        )
        with store.transaction():
            keep_verdict(store, name, unknown)
        return Examined(wanted, tuple(verdicts_at(store, name, wanted.commit)), ())


def _examined_commit(
    settings: Settings, store: Store, job: Job, wanted: Wanted, progress: Progress
) -> Examined:
    chosen = chosen_settings(settings, store, job, wanted, progress)
    settings = chosen.settings
    journal = StoredJournal(store, job.id)
    with opened_workspace(settings, journal, doing=_doing(wanted.commit)) as workspace:
        commit = resolve(workspace.repository, wanted.commit)  # it may have been amended and pruned
        tree = str(workspace.repository[commit].peel(pygit2.Tree).id)
        suite = suite_of(workspace, settings, tree, progress).to_the_end()
        tested = tested_at(workspace, job, wanted, suite, tree, progress)
        record = TestRecord(workspace.store, workspace.repository, workspace.name, suite.recipe)
        judged = {each.test for each in verdicts_at(workspace.store, workspace.name, wanted.commit)}
        budgeted = replace(settings, budget=settings.job_budget)
        ranker = Ranker(workspace, budgeted, tree, suite, progress)
        shared = SharedRoot(workspace, settings, job, suite, wanted.commit, tree)
        failing = list(failing_of(settings, suite, tested))
        bases = {each.recipe.test_id: record.base(wanted.commit, how) for each, how in failing}
        for test, failure in failing:
            name = test.recipe.test_id
            if name in judged:
                continue
            base = bases[name]
            before = _explanations(workspace.store, workspace.name, wanted.commit)
            left = left_of(settings.job_budget, workspace.store, job, test.recipe.test_id)
            case = Case(workspace, settings, job, wanted, tree, test, base, left, chosen.kept_in)
            broken = tested.broken or _too_short(case, failure)
            said = _noted_verdict(judge(case, broken, before, progress), chosen.note)
            also = shared.repaired(
                said, test, base, _beside(name, failing, bases, judged), progress
            )
            _keep(case, _ranked_verdict(said, ranker), also)
            judged |= {name, *also}
        verdicts = tuple(verdicts_at(workspace.store, workspace.name, wanted.commit))
        return Examined(
            wanted, verdicts, _explanations(workspace.store, workspace.name, wanted.commit)
        )


def _beside(
    name: str,
    failing: Sequence[tuple[FailingTest, FailureSignature]],
    bases: Mapping[str, Base],
    judged: Collection[str],
) -> dict[str, FailureSignature]:
    """The failing tests that are not judged yet and broke between the same two commits as the one of that name."""
    others = {each.recipe.test_id: how for each, how in failing}
    return {
        other: how
        for other, how in others.items()
        if other != name and other not in judged and bases[other] == bases[name]
    }


def _too_short(case: Case, failure: FailureSignature) -> str:
    """That a limit may be wrong, where no commit is known at which the test ended within it."""
    if failure.kind is not FailureKind.HANG or case.base.green is not None:
        return ""
    limit = case.settings.test_timeout
    return f"It does not end within its limit of {limit:g} s, nor is a commit known where it did; raise test_timeout."


def _doing(commit: str) -> str:
    """What others hear who wait."""
    return f"is the daemon and tests {commit[:12]}"


def _noted_verdict(judged: Judged, note: str) -> Judged:
    """The verdict, whose explanation says what there is to say of the sandbox."""
    if judged.explanation is None or not note:
        return judged
    remarks = (note, *judged.explanation.remarks)
    return replace(judged, explanation=replace(judged.explanation, remarks=remarks))


def _ranked_verdict(judged: Judged, ranker: Ranker) -> Judged:
    """The verdict, its explanation with a ranking of lines where one can be had."""
    if judged.explanation is None:
        return judged
    wanted = range_between(ranker.workspace, judged.explanation.range)
    return replace(judged, explanation=ranker.ranked(judged.explanation, wanted))


def _keep(case: Case, judged: Judged, also: Sequence[str] = ()) -> None:
    """Explanation, verdict, runs and the job's progress, together or not at all; ``also`` are the tests whose
    answer it is as well.
    """
    store = case.workspace.store
    with store.transaction():
        identifier = None
        if judged.explanation is not None:
            explanation = replace(judged.explanation, also=tuple(also))
            identifier = keep(case.workspace, explanation).id
        recipe = case.test.recipe
        if judged.kind is not VerdictKind.BROKEN:
            shown = judged.recipe or recipe
            record_runs(case.workspace, case.job.id, case.wanted.commit, case.tree, shown)
        verdict = StoredVerdict(
            case.wanted.commit,
            judged.since or case.base.commit,
            recipe.test_id,
            judged.kind.value,
            judged.rate,
            judged.runs,
            identifier,
            judged.reason,
        )
        keep_verdict(store, case.workspace.name, verdict)
        for name in also:
            keep_verdict(store, case.workspace.name, replace(verdict, test=name, runs=ROUNDS))
        JobQueue(store).advance(case.job)


def _explanations(store: Store, name: str, commit: str) -> tuple[Explanation, ...]:
    """The explanations behind a commit's verdicts, each once."""
    found = dict.fromkeys(verdict.explanation_id for verdict in verdicts_at(store, name, commit))
    return tuple(load(store, identifier) for identifier in found if identifier is not None)
