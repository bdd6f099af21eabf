"""An answer that names data alone may be chance: a test that fails now and then can have ended so.

No compiler and no tracer reads such a file, so nothing but the outcomes of runs speaks for it. Both ends and the
answer are then run until that they agree by chance is next to impossible.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from afterd.execution.flakiness import Prior, runs_of_both_ends
from afterd.execution.oracle import Oracle
from afterd.model.change import NOTHING, FileKind
from afterd.model.explanation import Explanation, Status
from afterd.model.outcome import Outcome, Unresolved
from afterd.pipeline.answer import unanswered
from afterd.pipeline.case import Case

_DATA = frozenset({FileKind.DATA, FileKind.DOCS})


def unless_by_chance(case: Case, oracle: Oracle, found: Explanation) -> Explanation:
    """The answer; where more runs of its own trees end otherwise, that the test is flaky."""
    reverted = frozenset(change.id for change in (*found.root, *found.auxiliary))
    data = all(change.kind in _DATA for change in found.root)
    if found.status is not Status.EXPLAINED or not reverted or not data:
        return found
    times = case.settings.confirmations
    wanted = runs_of_both_ends(case.prior or Prior())
    oracle.progress.stage(
        "confirming the answer", f"only data is guilty: {wanted} runs of each end"
    )
    known = [(oracle.tree_of(each), oracle.outcome(each)) for each in (NOTHING, reverted)]
    made = 0
    for run, (tree, before) in product(range(times, wanted), known):
        outcome = oracle.attempt(tree).outcome
        if outcome.reason is Unresolved.NOT_RUN:
            break
        made += 1
        if outcome.verdict is not before.verdict:
            return _with_runs(_flaky(found, outcome, run + 1), found, made)
    return _with_runs(found, found, made)


def _with_runs(answer: Explanation, found: Explanation, made: int) -> Explanation:
    runs = replace(found.runs, confirmation=found.runs.confirmation + made)
    return replace(answer, runs=runs)


def _flaky(found: Explanation, seen: Outcome, run: int) -> Explanation:
    ended = "passed" if seen.passed else "failed"
    names = ", ".join(dict.fromkeys(change.file for change in found.root))
    reason = (
        f"The test is flaky: with {names} undone it passed, with it it failed, but in run {run} of one of the"
        f" two versions it {ended} instead."
    )
    flaky = unanswered(found.test, Status.FLAKY, found.range, reason)
    return replace(flaky, failure=found.failure)
