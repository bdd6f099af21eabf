"""The verdict a team needs on a failing test: caused, flaky, already red, broken, undetermined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from afterd.config import Budget, Settings
from afterd.daemon.arrivals import Wanted
from afterd.daemon.baseline import Base
from afterd.daemon.flakiness import measure, prior_beside, prior_of, rate_of, seen_at
from afterd.errors import (
    BuildError,
    LostRunError,
    SandboxError,
    TestError,
    ToolchainError,
    UntestableError,
)
from afterd.execution.flakiness import Prior
from afterd.execution.recipe import Recipe
from afterd.limits import JOB
from afterd.model.explanation import Explanation, RevisionRange, Status
from afterd.model.progress import Progress
from afterd.pipeline.one_test import explain_test
from afterd.report.verdicts import VerdictKind
from afterd.store.jobs import Job
from afterd.workspace import FailingTest, Workspace, range_between

_KINDS = {
    Status.EXPLAINED: VerdictKind.CAUSED,
    Status.ALREADY_RED: VerdictKind.ALREADY_RED,
    Status.BROKEN: VerdictKind.BROKEN,
    Status.FLAKY: VerdictKind.FLAKY,
    Status.GREEN: VerdictKind.FLAKY,  # it failed when the suite was run
}


_ONLY_HELD = (
    "In the sandbox it fails at %s too, where it passes without one. This commit came from elsewhere and is"
    " not run without; set writable or network to what the test needs."
)


@dataclass(frozen=True, slots=True)
class Case:
    """A failing test of a commit; ``left`` is what the job may still spend (None: nothing).

    ``kept_in``: it is not run without the sandbox, where commits before it may have been.
    """

    workspace: Workspace
    settings: Settings
    job: Job
    wanted: Wanted
    tree: str
    test: FailingTest
    base: Base
    left: Budget | None
    kept_in: bool = False


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict with its reason, as a sentence; ``rate`` and ``runs`` as in StoredVerdict.

    ``recipe`` is how the test was run, where it was, ``since`` the commit since which it is red.
    """

    kind: VerdictKind
    reason: str
    explanation: Explanation | None = None
    rate: float | None = None
    runs: int = 1
    recipe: Recipe | None = None
    since: str = ""


def judge(case: Case, broken: str, before: Sequence[Explanation], progress: Progress) -> Judged:
    """The verdict on one failing test; ``broken`` is the sentence where nothing could be run.

    What is on record decides where it can: a test that was red before is not explained again. Raises
    LostRunError where its run was killed each time and the job may be taken up again.
    """
    if broken:
        return Judged(VerdictKind.BROKEN, broken)
    if case.base.green is False:
        reason = f"It has failed since {case.base.commit[:12]}."
        return Judged(VerdictKind.ALREADY_RED, reason)
    if case.wanted.first or not case.base.commit:
        reason = "It fails at the first commit that was tested; nothing older is on record."
        return Judged(VerdictKind.ALREADY_RED, reason)
    if case.left is None:
        reason = f"The budget of one commit ({case.settings.job_budget}) was spent before."
        return Judged(VerdictKind.UNDETERMINED, reason)
    try:
        case, found = _explained_test(case, case.left, before, progress)
    except UntestableError as error:
        return Judged(VerdictKind.UNDETERMINED, str(error))
    except LostRunError as error:
        return Judged(VerdictKind.UNDETERMINED, last_word(case.job, error))
    except (BuildError, TestError, ToolchainError, SandboxError) as error:
        return Judged(VerdictKind.BROKEN, str(error))
    return replace(_judged_failure(case, found), recipe=case.test.recipe)


def last_word(job: Job, error: LostRunError) -> str:
    """What is said of a commit whose runs were killed at every attempt; raises ``error`` where there are some left."""
    if job.stalls < JOB.attempts:
        raise error
    return (
        f"{error} That happened at each of {job.stalls} attempts, so the commit is not tried again."
    )


def _explained_test(
    case: Case, left: Budget, before: Sequence[Explanation], progress: Progress
) -> tuple[Case, Explanation]:
    """The test's explanation, run alone; or beside the others, where it does not fail alone or its
    runner was not asked for it in the right words.
    """
    name = case.test.recipe.test_id
    prior = prior_of(case.workspace.store, case.workspace.name, name)
    if case.test.beside is None:
        return case, _since_green(case, left, before, progress, prior)
    whole = replace(case, test=FailingTest(case.test.beside, case.test.runner))
    try:
        found = _explanation(case, left, before, progress, prior)
    except TestError:
        return whole, _since_green(whole, left, before, progress, prior)
    contradicted = found.status is Status.ALREADY_RED and case.base.green
    if found.status is Status.GREEN or contradicted:
        prior = prior_beside(case.workspace, case.job.id, case.tree, case.test.recipe, prior)
        return whole, _since_green(whole, left, before, progress, prior)
    return case, found


def _since_green(
    case: Case, left: Budget, before: Sequence[Explanation], progress: Progress, prior: Prior
) -> Explanation:
    """The explanation; from where all tests passed, if the test is not come to at a commit where others failed."""
    try:
        return _explanation(case, left, before, progress, prior)
    except TestError:
        if case.base.all_green in ("", case.base.commit):
            raise
    older = replace(case, base=Base(case.base.all_green, green=True))
    return _explanation(older, left, before, progress, prior)


def _explanation(
    case: Case, left: Budget, before: Sequence[Explanation], progress: Progress, prior: Prior
) -> Explanation:
    revisions = RevisionRange(case.base.commit, case.wanted.commit)
    settings = replace(case.settings, budget=left)
    return explain_test(
        case.workspace,
        settings,
        range_between(case.workspace, revisions),
        case.test,
        progress,
        before=before,
        prior=prior,
    )


def _known_since(case: Case, found: Explanation) -> str:
    """The oldest red commit, where all that is guilty was there when the test failed before.

    It failed in other words then: what they change says whether it is another failure.
    """
    guilty = {commit for change in found.root for commit in change.commits}
    failing = case.base.otherwise
    if not failing or not guilty or not all(_was_there(case, c, failing[0]) for c in guilty):
        return ""
    return failing[-1]


def _was_there(case: Case, commit: str, at: str) -> bool:
    """Whether a version has a commit."""
    return commit == at or case.workspace.repository.descendant_of(at, commit)


def _is_red_before(case: Case, found: Explanation) -> bool:
    """Whether the test was seen to fail at the commit before, however that passed when it was tested."""
    return found.status is Status.ALREADY_RED or found.range.good != case.base.commit


def _red_before_it(case: Case, found: Explanation) -> str:
    """The newest guilty commit, where the test was red at the commit it is compared with as well, by what was there
    then: nobody saw that, as it was not run behind another one that failed.
    """
    base, repository = case.base.commit, case.workspace.repository
    unseen = case.base.green and case.base.all_green != base
    guilty = list(dict.fromkeys(commit for change in found.root for commit in change.commits))
    if not unseen or found.range.good == base or not guilty:
        return ""
    newest = guilty[0]
    for commit in guilty:
        newest = commit if repository.descendant_of(commit, newest) else newest
    return newest if _was_there(case, newest, base) else ""


def _judged_failure(case: Case, found: Explanation) -> Judged:
    kind = _KINDS.get(found.status, VerdictKind.UNDETERMINED)
    recipe = case.test.recipe
    if case.kept_in and case.base.green and _is_red_before(case, found):
        return Judged(VerdictKind.UNDETERMINED, _ONLY_HELD % case.base.commit[:12])
    seen = seen_at(case.workspace, case.job.id, case.wanted.commit, case.tree, recipe)
    if kind is VerdictKind.CAUSED and (since := _known_since(case, found)):
        reason = f"It has failed since {since[:12]}."
        return Judged(VerdictKind.ALREADY_RED, reason, runs=seen.runs, since=since)
    if kind is VerdictKind.CAUSED and (red := _red_before_it(case, found)):
        reason = (
            f"It has failed since {red[:12]}, where it was not run: another test failed before it."
        )
        return Judged(VerdictKind.ALREADY_RED, reason, found, runs=seen.runs, since=red)
    if kind is not VerdictKind.FLAKY:
        return Judged(kind, found.reason, found, runs=seen.runs)
    measure(case.workspace, case.tree, recipe, seen)
    seen = seen_at(case.workspace, case.job.id, case.wanted.commit, case.tree, recipe)
    if found.status is Status.FLAKY and not seen.other:
        # What it is compared with ends now so, now so: that says nothing of a commit at which it fails each time.
        reason = f"It failed in all {seen.runs} runs at this commit. {found.reason}"
        return Judged(VerdictKind.UNDETERMINED, reason, runs=seen.runs)
    reason = f"Of {seen.runs} runs at this commit {seen.other} ended unlike the others."
    explained = replace(found, status=Status.FLAKY, reason=reason)
    return Judged(kind, reason, explained, rate_of(seen), seen.runs)
