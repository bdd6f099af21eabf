"""Where the ends of a range show nothing to explain: no failure, a flaky one, or none that was confirmed in time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pygit2.enums import FileStatus

from afterd.execution.confirmation import Confirmation, Ends
from afterd.execution.oracle import Oracle
from afterd.limits import REPORT
from afterd.model.explanation import Explanation, Failure, Status
from afterd.model.outcome import FailureKind, Outcome
from afterd.model.wording import first_names
from afterd.pipeline.answer import unanswered_explanation
from afterd.pipeline.case import Case, told_by_test
from afterd.pipeline.installed_copy import untested_import
from afterd.workspace import Range, Workspace


def not_to_explain(
    case: Case, wanted: Range, confirmation: Confirmation, oracle: Oracle
) -> Explanation:
    """The explanation that says what was seen instead: the test is green, flaky, or the budget was spent."""
    spent = confirmation.ends is Ends.UNCONFIRMED
    settled = Status.GREEN if confirmation.ends is Ends.GREEN else Status.FLAKY
    status = Status.INCONCLUSIVE if spent else settled
    seen = confirmation.ends.value
    copy = "" if settled is not Status.GREEN else untested_import(case, wanted.variants.bad)
    reason = (
        f"{seen[:1].upper()}{seen[1:]}; raise it."
        if spent
        else f"In {_runs(confirmation.repeats.runs)}, {seen}. {copy}".rstrip()
    )
    if settled is Status.GREEN and not spent:
        reason = " ".join(filter(None, [reason, uncommitted_sentence(case.workspace, wanted)]))
    found = unanswered(case, wanted, oracle, confirmation)(status, reason)
    return replace(found, out_of_budget=spent)


def _runs(count: int) -> str:
    return "one run" if count == 1 else f"{count} runs"


def unanswered(
    case: Case, wanted: Range, oracle: Oracle, confirmation: Confirmation
) -> Callable[[Status, str], Explanation]:
    """Makes explanations that name no change: with a reason, what the test said, and the runs that it took."""

    def explanation(status: Status, reason: str) -> Explanation:
        found = unanswered_explanation(case.test.recipe.test_id, status, wanted.revisions, reason)
        if told := told_by_test(confirmation.bad):
            told = with_last_lines(told, confirmation.bad)
        return replace(found, failure=told, runs=oracle.counts())

    return explanation


def with_last_lines(told: Failure, outcome: Outcome) -> Failure:
    """A failure of which nothing is known but a status, with what the test printed last: that may be all there is to
    go by.
    """
    if told.kind is not FailureKind.EXIT or told.file or told.message == outcome.detail:
        return told
    left = REPORT.terminal_message - len(told.message)
    lines: list[str] = []
    for line in filter(str.strip, reversed(outcome.detail.splitlines())):
        left -= len(line) + 1
        if left < 0:
            break
        lines.insert(0, line)
    return replace(told, message="\n".join([told.message, *lines]))


def uncommitted_sentence(workspace: Workspace, wanted: Range) -> str:
    """What the user changed and did not commit, where what is checked out is what passes, as a sentence; else empty."""
    repository = workspace.repository
    if not repository.workdir or wanted.revisions.bad != str(repository.head.target):
        return ""
    untracked = FileStatus.WT_NEW | FileStatus.IGNORED
    status = repository.status(untracked_files="no")
    changed = sorted(file for file, flags in status.items() if flags & ~untracked)
    if not changed:
        return ""
    return (
        f"What is not committed is not in it ({first_names(changed, REPORT.named)}):"
        " `git diff HEAD >my.patch && afterd explain --good HEAD --diff my.patch` asks about that."
    )
