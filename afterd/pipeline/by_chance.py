"""An answer that nothing but the outcomes of runs speaks for may be chance: a test that fails now and then can have
ended so.

What was recorded speaks for an answer where a chain of dependences leads from each guilty change to the failed
assertion, of steps that the passing run had otherwise: a test that fails at random shows none. A compiler that refuses
a text speaks too, as it does so each time. Where neither does, the bad version and the answer are run until that they
agree by chance is next to impossible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from afterd.causality.complaint import complaint, symbols
from afterd.execution.confirmation import Confirmation
from afterd.execution.flakiness import Prior, runs_of_both_ends
from afterd.execution.losses import refuse_lost
from afterd.execution.oracle import Oracle
from afterd.model.change import NOTHING, Change, ChangeSet, FileKind
from afterd.model.explanation import Explanation, Failure, Status
from afterd.model.outcome import Outcome, Verdict
from afterd.pipeline.answer import unanswered_explanation
from afterd.pipeline.case import Case, told_by_test
from afterd.pipeline.languages import TRACED, language_of

_DATA = frozenset({FileKind.DATA, FileKind.DOCS})


def unless_by_chance(
    case: Case,
    oracle: Oracle,
    confirmation: Confirmation,
    found: Explanation,
    followed: ChangeSet = NOTHING,
    *,
    proved_elsewhere: bool = False,
) -> Explanation:
    """The answer, of the range that ``oracle`` and ``confirmation`` are for; where more runs of its own trees end
    otherwise, that the test is flaky.

    ``followed`` are the changes that recorded dependences lead to. ``proved_elsewhere``: the root is the answer to
    another test of the range. Raises LostRunError where such a run is killed each time it is made.
    """
    root = frozenset(change.id for change in found.root)
    explained = found.status is Status.EXPLAINED and bool(root)
    if not explained or root <= followed or _is_a_compilers(confirmation.bad):
        return found
    reverted = root | {change.id for change in found.auxiliary}
    likely = proved_elsewhere or _is_untraced(case, found.root)
    made = confirmation.repeats.runs
    wanted = runs_of_both_ends(case.prior or Prior(), likely=likely)
    if wanted <= made:
        return found
    stage = f"no recorded step speaks for it: {wanted} runs of each end"
    oracle.progress.stage("confirming the answer", stage)
    before = oracle.counts().confirmation
    seen = _run_that_differs(case, oracle, reverted, range(made, wanted))
    more = oracle.counts().confirmation - before
    runs = replace(found.runs, confirmation=found.runs.confirmation + more)
    answer = found if seen is None else _flaky(found, told_by_test(confirmation.bad), *seen)
    return replace(answer, runs=runs)


def _is_untraced(case: Case, root: Sequence[Change]) -> bool:
    """Whether what is guilty is a program that no tracer looked at: that none spoke for it tells nothing."""
    data = all(change.kind in _DATA for change in root)
    traced = any(language_of(change.file) in TRACED for change in root)
    return not data and (bool(case.test.recipe.container) or not traced)


def _run_that_differs(
    case: Case, oracle: Oracle, reverted: ChangeSet, runs: range
) -> tuple[Outcome, int] | None:
    """The first of more ``runs`` of both ends that ends otherwise than known, with its number; None where all agree, or
    the budget allows no more. One version after the other: each is built once.
    """
    for each in (NOTHING, reverted):
        tree, known = oracle.tree_of(each), oracle.outcome(each)
        for run in runs:
            outcome = oracle.attempt(tree).outcome
            refuse_lost(outcome, "The test", case.test.recipe.limits.test)
            if outcome.verdict is Verdict.UNRESOLVED:
                break  # it says neither
            if outcome.verdict is not known.verdict:
                return outcome, run + 1
    return None


def _is_a_compilers(bad: Outcome) -> bool:
    """Whether a compiler, a linker or a parser refused the bad version."""
    said = complaint(bad.detail)
    return said.unparsed or bool(said.lines) or bool(symbols(bad.detail))


def _flaky(found: Explanation, failure: Failure | None, seen: Outcome, run: int) -> Explanation:
    ended = "passed" if seen.passed else "failed"
    names = ", ".join(dict.fromkeys(change.file for change in found.root))
    reason = (
        f"The test is flaky: with {names} undone it passed, with it it failed, but in run {run} of one of the"
        f" two versions it {ended} instead."
    )
    flaky = unanswered_explanation(found.test, Status.FLAKY, found.range, reason)
    return replace(flaky, failure=failure)
