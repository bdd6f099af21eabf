"""The answer of another test of the same run that answers this one too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from afterd.execution.confirmation import Confirmation
from afterd.execution.oracle import Oracle
from afterd.model.change import NOTHING, ChangeSet
from afterd.model.explanation import Explanation, Status
from afterd.pipeline.by_chance import unless_by_chance
from afterd.pipeline.case import Case, told_by_test
from afterd.pipeline.promises import kept_promises
from afterd.workspace import Range


def same_root(
    case: Case,
    wanted: Range,
    oracle: Oracle,
    confirmation: Confirmation,
    before: Sequence[Explanation],
) -> Explanation | None:
    """The answer of an earlier test of this run, if its root repairs this one too: one run.

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
        if _passes(oracle, reverted) and _is_minimal(oracle, other):
            note = f"The root of explanation {other.id} ({other.test}) repairs this test too."
            found = replace(
                other,
                id=0,
                test=case.test.recipe.test_id,
                failure=told_by_test(confirmation.bad),
                tree=None,
                minimal=True,
                runs=oracle.counts(),
                notes=(),
                remarks=(note,),
                reason="",
            )
            return unless_by_chance(case, oracle, confirmation, found, proved_elsewhere=True)
    return None


def _is_minimal(oracle: Oracle, other: Explanation) -> bool:
    """Whether all of another test's answer is needed for this test: each is put back once."""
    root = frozenset(change.id for change in other.root)
    along = frozenset(change.id for change in other.auxiliary)
    kept = kept_promises(root, along, oracle.outcome, lambda _: "")
    return bool(kept.minimal) and (kept.root, kept.auxiliary) == (root, along)


def _passes(oracle: Oracle, reverted: ChangeSet) -> bool:
    """Seen in a process of the test's own: it is an answer."""
    outcome = oracle.outcome(reverted)
    if outcome.passed and oracle.is_warm(reverted):
        outcome = oracle.afresh(reverted)
    return outcome.passed


def reverted_changes(explanation: Explanation) -> ChangeSet:
    """What an answer undoes."""
    return frozenset(change.id for change in (*explanation.root, *explanation.auxiliary))
