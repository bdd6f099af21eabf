"""An answer that nothing but the outcomes of runs speaks for may be chance: a test that fails now and then can have
ended so.

What was recorded speaks for an answer where a chain of dependences leads from each guilty change to the failed
assertion, of steps that the passing run had otherwise: a test that fails at random shows none. A compiler that refuses
a text speaks too, as it does so each time. Where neither does, the bad version and the answer are run until that they
agree by chance is next to impossible. Whatever was run twice and ended alike counts: the ends, which are confirmed and
recorded; the answer, which is run in a process of its own and recorded, and each of several causes that was. The first
run of any other version does not count: which outcome an answer has to agree with was not known before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from afterd.causality.complaint import complaint, symbols
from afterd.execution.flakiness import Prior, further_runs
from afterd.execution.losses import refuse_lost
from afterd.execution.oracle import Oracle
from afterd.execution.signature import runs_are_alike
from afterd.model.change import NOTHING, Change, ChangeSet, FileKind
from afterd.model.explanation import Explanation, Failure, Status
from afterd.model.outcome import Outcome, Verdict
from afterd.pipeline.answer import unanswered_explanation
from afterd.pipeline.case import Case, told_by_test
from afterd.pipeline.languages import TRACED, language_of
from afterd.workspace import Range

_DATA = frozenset({FileKind.DATA, FileKind.DOCS})


@dataclass(frozen=True, slots=True)
class Recorded:
    """What recorded runs say: the changes that dependences lead to from the failure, and outcomes by their trees."""

    followed: ChangeSet
    outcomes: Mapping[str, Outcome]


def unless_by_chance(
    case: Case,
    wanted: Range,
    oracle: Oracle,
    bad: Outcome,
    found: Explanation,
    recorded: Recorded,
    *,
    proved_elsewhere: bool = False,
) -> Explanation:
    """The answer to a failure of the range, the ``bad`` version's; where more runs of its own trees end otherwise, that
    the test is flaky.

    ``proved_elsewhere``: the root is the answer to another test of the range. Raises LostRunError where such a run is
    killed each time it is made.
    """
    root = frozenset(change.id for change in found.root)
    explained = found.status is Status.EXPLAINED and bool(root)
    if not explained or root <= recorded.followed or _is_a_compilers(bad):
        return found
    reverted = root | {change.id for change in found.auxiliary}
    likely = proved_elsewhere or _is_untraced(case, found.root)
    red, green = _runs_that_agree(wanted, oracle, recorded.outcomes)
    reds, greens = further_runs(case.prior or Prior(), red, green, likely=likely)
    if not reds + greens:
        return found
    more_runs = f"{reds + greens} more run{'' if reds + greens == 1 else 's'}"
    stage = f"no recorded step leads to the failure, so chance is ruled out by {more_runs}"
    oracle.progress.stage("confirming the answer", stage)
    before = oracle.counts().confirmation
    seen = _run_that_differs(case, oracle, {NOTHING: reds, reverted: greens})
    more = oracle.counts().confirmation - before
    runs = replace(found.runs, confirmation=found.runs.confirmation + more)
    answer = found if seen is None else _flaky(found, told_by_test(bad), seen)
    return replace(answer, runs=runs)


def _is_untraced(case: Case, root: Sequence[Change]) -> bool:
    """Whether what is guilty is a program that no tracer looked at: that none spoke for it tells nothing."""
    data = all(change.kind in _DATA for change in root)
    traced = any(language_of(change.file) in TRACED for change in root)
    return not data and (bool(case.test.recipe.container) or not traced)


def _runs_that_agree(
    wanted: Range, oracle: Oracle, recorded: Mapping[str, Outcome]
) -> tuple[int, int]:
    """How many red and green runs agree with what was seen before: all of both ends, and of other versions all but the
    first. What records a run may change it: one that ends otherwise says nothing.
    """
    ends = {oracle.tree_of(NOTHING), oracle.tree_of(wanted.everything)}
    agreeing = {Verdict.FAIL: 0, Verdict.PASS: 0, Verdict.UNRESOLVED: 0}
    for tree, known, runs in oracle.repeated():
        seen = recorded.get(tree)
        again = seen is not None and runs_are_alike(known, seen)
        agreeing[known.verdict] += runs + again - (tree not in ends)
    return agreeing[Verdict.FAIL], agreeing[Verdict.PASS]


def _run_that_differs(
    case: Case, oracle: Oracle, wanted: Mapping[ChangeSet, int]
) -> Outcome | None:
    """The first of so many more runs of each version that ends otherwise than known; None where all agree, or the
    budget allows no more. One version after the other: each is built once.
    """
    for each, runs in wanted.items():
        tree, known = oracle.tree_of(each), oracle.outcome(each)
        for _ in range(runs):
            outcome = oracle.attempt(tree).outcome
            refuse_lost(outcome, "The test", case.test.recipe.limits.test)
            if outcome.verdict is Verdict.UNRESOLVED:
                break  # it says neither
            if outcome.verdict is not known.verdict:
                return outcome
    return None


def _is_a_compilers(bad: Outcome) -> bool:
    """Whether a compiler, a linker or a parser refused the bad version."""
    said = complaint(bad.detail)
    return said.unparsed or bool(said.lines) or bool(symbols(bad.detail))


def _flaky(found: Explanation, failure: Failure | None, seen: Outcome) -> Explanation:
    ended = "passed" if seen.passed else "failed"
    names = ", ".join(dict.fromkeys(change.file for change in found.root))
    reason = (
        f"The test is flaky: with {names} undone it passed, with it it failed, but when one of the two"
        f" versions was run again it {ended} instead."
    )
    flaky = unanswered_explanation(found.test, Status.FLAKY, found.range, reason)
    return replace(flaky, failure=failure)
