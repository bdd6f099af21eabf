"""The answer of another test of the same run that answers this one too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from afterd.causality.shrinking import Root
from afterd.execution.confirmation import Confirmation
from afterd.execution.oracle import Oracle
from afterd.limits import REPORT
from afterd.model.change import NOTHING, ChangeSet, in_order
from afterd.model.explanation import Explanation, RevisionRange, Status
from afterd.model.outcome import Verdict
from afterd.model.wording import first_names
from afterd.pipeline.bisected import Bisection
from afterd.pipeline.by_commits import range_of_changes
from afterd.pipeline.case import Case
from afterd.pipeline.promises import kept_promises
from afterd.workspace import Range


def same_root(
    case: Case,
    wanted: Range,
    oracle: Oracle,
    confirmation: Confirmation,
    before: Sequence[Explanation],
) -> Explanation | None:
    """The answer of an earlier test of this run, if its root repairs this one too: one run, and the two recorded ones
    of which this test's own story is read.

    Where there are several, all of them are undone together first: most often none repairs it.
    """
    answers = {
        reverted_changes(other): other
        for other in reversed(before)
        if other.status is Status.EXPLAINED and other.range == wanted.revisions
    }
    answers.pop(NOTHING, None)
    if len(answers) > 1 and not oracle.outcome(NOTHING.union(*answers)).passed:
        return None
    for reverted, other in answers.items():
        if oracle.outcome(reverted).passed and _is_minimal(oracle, other):
            return _its_own(case, wanted, oracle, confirmation, other)
    return None


def repaired_part(
    case: Case, wanted: Range, oracle: Oracle, before: Sequence[Explanation]
) -> Range | None:
    """The part of a range that an earlier answer is of, where a bisection left it, in which the test fails as it does
    at the range's end, and passes with that answer undone; None where there is none. Two runs each.
    """
    tried: set[tuple[RevisionRange, ChangeSet]] = set()
    for other in reversed(before):
        undone = reverted_changes(other)
        if other.status is not Status.EXPLAINED or not undone or (other.range, undone) in tried:
            continue
        tried.add((other.range, undone))
        part = Bisection(case.workspace, wanted, oracle).part_of(other)
        if part is None:
            continue
        case.progress.stage("trying an earlier answer", f"explanation {other.id} ({other.test})")
        if oracle.tree_outcome(part.variants.bad).verdict is not Verdict.FAIL:
            continue
        if oracle.tree_outcome(part.variants.tree(undone)).passed:
            return part
    return None


def repaired_too(wanted: Range, oracle: Oracle, before: Sequence[Explanation]) -> str:
    """That an earlier answer repairs a test that has no green to be compared with, as a sentence that comes after
    another; empty where none does. A run each.
    """
    for other in before:
        undone = reverted_changes(other)
        if other.status is not Status.EXPLAINED or other.range != wanted.revisions or not undone:
            continue
        if oracle.outcome(undone).passed:
            names = first_names([change.id for change in other.root], REPORT.named)
            return f" With {names} undone, as for {other.test} (explanation {other.id}), it passes."
    return ""


def _its_own(
    case: Case, wanted: Range, oracle: Oracle, confirmation: Confirmation, other: Explanation
) -> Explanation | None:
    """The answer as this test's: recorded beside the version with nothing but the root undone. None where it is not
    seen to be minimal so.
    """
    from afterd.pipeline.searched import searched_explanation  # noqa: PLC0415 - imported while both ends were confirmed

    root = range_of_changes(wanted, reverted_changes(other))
    known = Bisection(case.workspace, root, oracle, halved=True)
    guilty = frozenset(change.id for change in other.root)
    proved = Root(guilty, reverted_changes(other) - guilty, minimal=True)
    found = searched_explanation(case, root, oracle, confirmation, known, proved)
    if found.status is Status.INCONCLUSIVE:
        return None
    note = f"The root of explanation {other.id} ({other.test}) repairs this test too."
    if found.tree is None and other.tree is not None and found.status is Status.EXPLAINED:
        note += " Of this test no story is told; that one's may be read for it."
    return replace(found, changes=other.changes, remarks=(note, *found.remarks))


def _is_minimal(oracle: Oracle, other: Explanation) -> bool:
    """Whether all of another test's answer is needed for this test: each is put back once, as likely all are."""
    root = frozenset(change.id for change in other.root)
    along = frozenset(change.id for change in other.auxiliary)
    whole = root | along if len(root | along) > 1 else NOTHING
    if any(oracle.outcome(whole - {change}).passed for change in in_order(whole)):
        return False
    kept = kept_promises(root, along, oracle.outcome, lambda _: "", known=oracle.is_known)
    return bool(kept.minimal) and (kept.root, kept.auxiliary) == (root, along)


def reverted_changes(explanation: Explanation) -> ChangeSet:
    """What an answer undoes."""
    return frozenset(change.id for change in (*explanation.root, *explanation.auxiliary))
