"""Explaining every failing test of a range: confirm, find the baseline, trace, search, keep."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from afterd.config import Settings, Strategy
from afterd.execution.confirmation import Confirmation, Ends, confirm
from afterd.execution.flakiness import Prior
from afterd.execution.oracle import Oracle
from afterd.model.change import NOTHING, ChangeSet
from afterd.model.explanation import Explanation, Failure, Status
from afterd.model.outcome import FailureKind, Outcome
from afterd.model.progress import Progress, Silent
from afterd.model.revision import RevisionRange
from afterd.pipeline.answer import answered, unanswered
from afterd.pipeline.checked import checked_search
from afterd.pipeline.failing import FailingTest, failing_tests
from afterd.pipeline.ranking.explained import Ranker
from afterd.pipeline.tracing import Tracing, traced
from afterd.pipeline.workspace import Range, Workspace, opened, range_between, wanted_range
from afterd.report.json import contract
from afterd.report.masking import Masker, secrets_of
from afterd.store.explanations import save
from afterd.vcs.history import find_baseline


@dataclass(frozen=True, slots=True)
class _Case:
    """One failing test under explanation."""

    workspace: Workspace
    settings: Settings
    test: FailingTest
    progress: Progress
    began: float
    prior: Prior | None


def explain(settings: Settings, progress: Progress | None = None) -> tuple[Explanation, ...]:
    """Explain each failing test of the range, in order; a green explanation when nothing fails.

    Every explanation is stored and carries its id. Raises the AfterdError leaf that says what
    stands in the way of any answer.
    """
    heard = progress or Silent()
    with opened(settings) as workspace:
        wanted = wanted_range(workspace, settings)
        tests = failing_tests(workspace, settings, wanted, heard)
        if not tests:
            return (
                keep(
                    workspace,
                    unanswered(
                        "the test suite",
                        Status.GREEN,
                        wanted.revisions,
                        "Every test passes at the bad version.",
                    ),
                ),
            )
        found: list[Explanation] = []
        ranker = Ranker(workspace, settings, wanted.variants.bad, heard)
        for test in tests:
            answer = explain_test(workspace, settings, wanted, test, heard, before=found)
            found.append(keep(workspace, ranker.ranked(answer, wanted)))
        return tuple(found)


def explain_test(
    workspace: Workspace,
    settings: Settings,
    wanted: Range,
    test: FailingTest,
    progress: Progress,
    *,
    before: Sequence[Explanation] = (),
    prior: Prior | None = None,
) -> Explanation:
    """Explain one failing test of a range; the explanation is not stored yet (``keep`` does it).

    Explanations ``before`` are of other tests of the range: a root of theirs is tried first.
    ``prior`` is what is known of the test's flakiness.
    """
    case = _Case(workspace, settings, test, progress, time.monotonic(), prior)
    recipe = test.recipe
    return replace(
        _explained(case, wanted, before), build_command=recipe.build, test_command=recipe.test
    )


def keep(workspace: Workspace, explanation: Explanation) -> Explanation:
    """Store an explanation, without the secrets of afterd's environment; it has its id then."""
    masked = _masker().value(explanation)
    return save(workspace.store, workspace.name, masked, _contract)


def _masker() -> Masker:
    """Takes the secrets of afterd's own environment out of whatever is kept or shown."""
    return Masker(secrets_of(os.environ))


def _contract(explanation: Explanation) -> str:
    return json.dumps(contract(explanation))


def _explained(case: _Case, wanted: Range, before: Sequence[Explanation]) -> Explanation:
    """Both ends first; then the search, over an older range where the left end is red."""
    oracle = _oracle(case, wanted)
    confirmation = confirm(oracle, wanted.everything, case.settings.confirmations, case.prior)
    if confirmation.ends is Ends.ALREADY_RED:
        return _from_last_green(case, wanted, oracle, confirmation)
    if confirmation.ends is not Ends.CONFIRMED:
        return _not_to_explain(case, wanted, confirmation, oracle)
    return _same_root(case, wanted, oracle, confirmation, before) or _searched(
        case, wanted, oracle, confirmation
    )


def _oracle(case: _Case, wanted: Range) -> Oracle:
    return Oracle(
        wanted.variants.tree,
        case.test.recipe,
        case.workspace.executor,
        cache=case.workspace.remembered(_masker().text),
        budget=case.settings.budget,
        progress=case.progress,
    )


def _not_to_explain(
    case: _Case, wanted: Range, confirmation: Confirmation, oracle: Oracle
) -> Explanation:
    spent = confirmation.ends is Ends.UNCONFIRMED
    settled = Status.GREEN if confirmation.ends is Ends.GREEN else Status.FLAKY
    status = Status.INCONCLUSIVE if spent else settled
    seen = confirmation.ends.value
    reason = (
        f"{seen[:1].upper()}{seen[1:]}; raise it."
        if spent
        else f"In {confirmation.repeats.runs} runs, {seen}."
    )
    found = unanswered(case.test.recipe.test_id, status, wanted.revisions, reason)
    return replace(found, failure=_failure(confirmation.bad), runs=oracle.counts())


def _from_last_green(
    case: _Case, wanted: Range, oracle: Oracle, confirmation: Confirmation
) -> Explanation:
    """The left end is red as well: look for the last green commit before it."""
    case.progress.stage("the good version is red too", "looking for the last green commit")

    def passes(commit: str) -> Outcome:
        older = range_between(case.workspace, RevisionRange(commit, wanted.revisions.bad))
        return oracle.tree_outcome(older.variants.tree(older.everything))

    baseline = find_baseline(case.workspace.repository, wanted.revisions.good, passes)
    if not baseline.good:
        why = baseline.reason or "no older commit passes"
        reason = (
            f"The test, as the bad version has it, fails at the good version as well, and {why}."
        )
        found = unanswered(case.test.recipe.test_id, Status.ALREADY_RED, wanted.revisions, reason)
        return replace(found, failure=_failure(confirmation.bad), runs=oracle.counts())
    shorter = range_between(case.workspace, RevisionRange(baseline.good, baseline.bad))
    again = _oracle(case, shorter)
    confirmed = confirm(again, shorter.everything, case.settings.confirmations, case.prior)
    if confirmed.ends is not Ends.CONFIRMED:
        return _not_to_explain(case, shorter, confirmed, again)
    found = _searched(case, shorter, again, confirmed)
    red, green = wanted.revisions.good[:12], baseline.good[:12]
    note = f"The test already failed at {red}; the last green commit is {green}."
    return replace(found, notes=(note, *found.notes))


def _same_root(
    case: _Case,
    wanted: Range,
    oracle: Oracle,
    confirmation: Confirmation,
    before: Sequence[Explanation],
) -> Explanation | None:
    """The answer of an earlier test of this run, if its root repairs this one too: one run.

    Where there are several, all of them are undone together first: most often none repairs it.
    """
    answers = {
        _reverted(other): other
        for other in reversed(before)
        if other.status is Status.EXPLAINED and other.range == wanted.revisions
    }
    answers.pop(NOTHING, None)
    if len(answers) > 1 and not oracle.outcome(NOTHING.union(*answers)).passed:
        return None
    for reverted, other in answers.items():
        if _passes(oracle, reverted):
            note = f"The root of explanation {other.id} ({other.test}) repairs this test too."
            return replace(
                other,
                id=0,
                test=case.test.recipe.test_id,
                failure=_failure(confirmation.bad),
                tree=None,
                minimal=other.minimal if len(other.root) == 1 else None,
                runs=oracle.counts(),
                notes=(note,),
            )
    return None


def _passes(oracle: Oracle, reverted: ChangeSet) -> bool:
    """Seen in a process of the test's own: it is an answer."""
    outcome = oracle.outcome(reverted)
    if outcome.passed and oracle.is_warm(reverted):
        outcome = oracle.afresh(reverted)
    return outcome.passed


def _reverted(explanation: Explanation) -> ChangeSet:
    return frozenset(change.id for change in (*explanation.root, *explanation.auxiliary))


def _searched(
    case: _Case, wanted: Range, oracle: Oracle, confirmation: Confirmation
) -> Explanation:
    blind = case.settings.strategy is Strategy.DD  # it looks at no execution: none is paid for
    tracing = Tracing(None) if blind else traced(case.workspace, wanted, case.test, case.progress)
    found = checked_search(case.settings, case.workspace, wanted, oracle, tracing, case.progress)
    total = time.monotonic() - case.began
    return answered(
        case.test.recipe.test_id, wanted, oracle, found, tracing, _failure(confirmation.bad), total
    )


def _failure(outcome: Outcome) -> Failure | None:
    """What the test itself said, until a trace knows more."""
    signature = outcome.signature
    if signature is None:
        return Failure(FailureKind.EXIT, outcome.detail) if outcome.detail else None
    return Failure(signature.kind, signature.message or outcome.detail, signature.file)
