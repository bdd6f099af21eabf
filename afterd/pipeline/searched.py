"""A confirmed failure is traced, searched for its root, and the answer put together.

An answer does not rest on warm processes alone.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from afterd.causality.shrinking import Root
from afterd.causality.worth import bisection_work, run_work
from afterd.compare import UntracedExecution
from afterd.config import Strategy
from afterd.execution.confirmation import Confirmation, Ends
from afterd.execution.oracle import Oracle
from afterd.execution.second_runs import with_last_runs
from afterd.limits import SEARCH
from afterd.model.change import NOTHING, Change, ChangeId, ChangeSet, in_order
from afterd.model.explanation import ChangeCounts, Explanation, Failure, Status
from afterd.model.outcome import FailureKind, Unresolved
from afterd.pipeline.bisected import Bisection
from afterd.pipeline.by_chance import Recorded, unless_by_chance
from afterd.pipeline.by_commits import (
    guilt_before_reading,
    likely_commit,
    of_red_commits,
    range_of_changes,
    traced_beside,
)
from afterd.pipeline.case import Case, told_by_test
from afterd.pipeline.search import Found, named_by_failure, search
from afterd.pipeline.tracing import Tracing, traced_failure
from afterd.pipeline.unconfirmed import not_to_explain
from afterd.workspace import FailingTest, Phase, Range, Workspace

_UNCHECKED = (
    "The answer was seen to pass in a warm process alone: the budget was spent before it was run in a"
    " process of its own."
)
_UNSEARCHED = "The budget was spent once the commits' own versions had told a shorter range: that was not searched."
"""Said only where nothing of the budget is left: else what is found there is the answer."""


def searched_explanation(
    case: Case,
    wanted: Range,
    oracle: Oracle,
    confirmation: Confirmation,
    bisection: Bisection,
    proved: Root | None = None,
) -> Explanation:
    """The answer to a failure that was seen at both ends, as the case's strategy finds it; none where the
    ``bisection`` of its commits tells a shorter range to search. ``proved``: all that the range has, which is the
    answer to another test, and of which each change was seen to be needed for this one: nothing is searched.
    """
    clock, hangs = case.workspace.clock, confirmation.bad.hangs
    test = _bounded_test(case.test, oracle.ledger.seconds_left)
    if hangs or confirmation.beside_endless:
        test = _patient(test)
    tracing = _traced(case, wanted, oracle, test, bisection, hangs=hangs)
    with clock.during(Phase.CONFIRM):
        confirmation = _confirmed_to_the_last(case, oracle, confirmation, tracing)
    if confirmation.ends is not Ends.CONFIRMED:
        return not_to_explain(case, wanted, confirmation, oracle)
    with clock.during(Phase.COMPARE):
        found = None if proved else _where_shown(case, wanted, oracle, tracing, bisection)
    if found is None:
        found, tracing = _found_by_evidence(case, wanted, oracle, tracing, bisection, proved)
    answer = _answered_explanation(
        case, wanted, oracle, found, tracing, told_by_test(confirmation.bad)
    )
    with clock.during(Phase.CONFIRM):
        recorded = Recorded(found.followed, tracing.outcomes())
        return unless_by_chance(
            case,
            wanted,
            oracle,
            confirmation.bad,
            answer,
            recorded,
            proved_elsewhere=bool(proved),
        )


def _found_by_evidence(
    case: Case,
    wanted: Range,
    oracle: Oracle,
    tracing: Tracing,
    bisection: Bisection,
    proved: Root | None,
) -> tuple[Found, Tracing]:
    """What the recorded runs lead to, with what was read of them: where they are dearer to read than the commits are to
    bisect, that comes after it.
    """
    clock, made, searched = case.workspace.clock, NOTHING, wanted
    if tracing.beside is not None and proved is None:
        with clock.during(Phase.COMPARE):
            guilt = guilt_before_reading(case, wanted, oracle, tracing)
        bisection.undone = likely_commit(case, wanted, oracle, bisection, guilt)
        made = of_red_commits(case, wanted, oracle, bisection, guilt)
        if bisection.within is not None and not made:
            return Found(reason=_UNSEARCHED, out_of_budget=True), tracing
        searched = range_of_changes(wanted, made) if made else wanted
    if tracing.beside is not None:
        with clock.during(Phase.TRACE):
            tracing = traced_beside(tracing, searched)
    with clock.during(Phase.COMPARE):
        within = None if made else bisection
        found = _checked_search(case, searched, oracle, tracing, within, proved)
        if not made and bisection.told and not found.verified:
            few = _of_few(case, wanted, oracle, tracing, bisection, found.suspected)
            found = replace(few, failure=few.failure or found.failure) if few else found
    return found, tracing


def _where_shown(
    case: Case, wanted: Range, oracle: Oracle, tracing: Tracing, bisection: Bisection
) -> Found | None:
    """What is found by undoing one of few changes that the failure's report shows, where two recorded
    runs are dear to read: such a run tells more than a commit's. None where none passes.
    """
    if tracing.beside is None:
        return None
    named = named_by_failure(oracle, wanted.changes.live, tracing)
    shown = named.shown(wanted.changes.live)
    for change in shown if len(shown) <= SEARCH.leaders else ():
        alone = frozenset({change})
        if tracing.standing.against(alone) or not oracle.outcome(alone).passed:
            continue
        found = _checked_search(case, wanted, oracle, tracing, bisection)
        return found if found.verified else None
    return None


def _confirmed_to_the_last(
    case: Case, oracle: Oracle, confirmation: Confirmation, tracing: Tracing
) -> Confirmation:
    """With the last run of each end: the recorded one, unless a plain one tells whether warm processes are to be
    trusted. What they were trusted for died with its daemon, so a job that may go on after a kill makes none for that:
    it would be a run more than without the kill.
    """
    workspace, recorded = case.workspace, tracing.outcomes()
    if not workspace.work:
        compares = partial(workspace.reruns.compares, oracle.recipe)
        recorded = {tree: o for tree, o in recorded.items() if not compares(tree, o.verdict)}
    return with_last_runs(oracle, confirmation, recorded)


def _of_few(
    case: Case,
    wanted: Range,
    oracle: Oracle,
    tracing: Tracing,
    bisection: Bisection,
    suspected: Sequence[ChangeId],
) -> Found | None:
    """What is found among the few changes that the red commits made, undone in the bad version; None where these are
    many, or undone repair nothing: then the commits' own part of the range is searched. Of very few each is put back at
    once; those that were ``suspected`` are tried alone first, and then what ran.
    """
    made = of_red_commits(
        case, wanted, oracle, bisection, most=SEARCH.all_sets, needed=tracing.closure.needed
    )
    if not made:
        return None
    if len(made) <= SEARCH.put_back:
        ran = tracing.execution.executed_changes() if tracing.execution is not None else ()
        likeliest = tuple(dict.fromkeys([*suspected, *ran]))
        tracing = replace(tracing, execution=UntracedExecution(likeliest))
    found = _checked_search(case, range_of_changes(wanted, made), oracle, tracing, None)
    return found if found.verified else None


def _traced(
    case: Case,
    wanted: Range,
    oracle: Oracle,
    test: FailingTest,
    bisection: Bisection,
    *,
    hangs: bool,
) -> Tracing:
    """What is recorded for the case's strategy: delta debugging looks at no execution, and pays for none."""
    strategy = case.settings.strategy
    if strategy is Strategy.DD:
        return Tracing(None)
    run, changes = run_work(oracle.cpu), len(wanted.changes.live)
    each_alone = changes * run if changes <= SEARCH.put_back else 0
    unread = max(bisection_work(bisection.commits, run), each_alone)
    with case.workspace.clock.during(Phase.TRACE):
        return traced_failure(
            case.workspace,
            wanted,
            test,
            case.progress,
            hangs=hangs,
            unread=unread if strategy is Strategy.AFTER else 0,
            reference=oracle.reference,
        )


def _bounded_test(test: FailingTest, seconds: float | None) -> FailingTest:
    """The test, whose traced builds and runs take no longer than what is left of the budget."""
    if seconds is None:
        return test
    limits = test.recipe.limits
    build = replace(limits.build, timeout=min(limits.build.timeout, seconds + 1))
    slowdown = min(limits.trace.slowdown, (seconds + 1) / limits.test.timeout)
    limits = replace(limits, build=build, trace=replace(limits.trace, slowdown=slowdown))
    return replace(test, recipe=replace(test.recipe, limits=limits))


def _patient(test: FailingTest) -> FailingTest:
    """A test that hangs, or is run with one that does: what waits for ever, and is traced, is not waited for as long
    as what works.
    """
    limits = test.recipe.limits
    slowdown = min(limits.trace.slowdown, limits.trace.waiting)
    limits = replace(limits, trace=replace(limits.trace, slowdown=slowdown))
    return replace(test, recipe=replace(test.recipe, limits=limits))


def _checked_search(
    case: Case,
    wanted: Range,
    oracle: Oracle,
    tracing: Tracing,
    bisection: Bisection | None,
    proved: Root | None = None,
) -> Found:
    """Search; an answer that only warm processes saw is run once more, in a process of its own.

    That run counts among those that confirm. Where it does not pass, nothing that was seen in warm
    processes counts, and the search is made again without them.
    """
    workspace = case.workspace
    found = search(case, wanted, oracle, tracing, bisection, proved)
    reverted = found.root | found.auxiliary
    if not found.verified or not oracle.is_warm(reverted):
        return _with_cold_reason(found, workspace, oracle)
    case.progress.stage("confirming the answer", "in a process of its own")
    with workspace.clock.during(Phase.CONFIRM):
        outcome = oracle.afresh(reverted)
    if outcome.reason is Unresolved.NOT_RUN:
        return replace(found, notes=(*found.notes, _UNCHECKED))
    if not outcome.passed:
        workspace.reruns.distrust(oracle.recipe, "the answer did not pass outside a warm process")
        oracle.distrust_warm()
        found = search(case, wanted, oracle, tracing, bisection)
    return _with_cold_reason(found, workspace, oracle)


def _with_cold_reason(found: Found, workspace: Workspace, oracle: Oracle) -> Found:
    """With the reason why the test was not run in warm processes, where there is one."""
    why = workspace.reruns.why_fresh(oracle.recipe)
    return replace(found, notes=(*found.notes, why)) if why else found


def _answered_explanation(
    case: Case,
    wanted: Range,
    oracle: Oracle,
    found: Found,
    tracing: Tracing,
    failure: Failure | None,
) -> Explanation:
    """The explanation of a confirmed failure; inconclusive where no root was seen to repair it."""
    counts = oracle.counts()
    seconds = replace(
        counts.seconds,
        total=time.monotonic() - case.began,
        trace=tracing.seconds,
        solve=found.solve_seconds,
        story=found.story_seconds,
    )
    pruned = sum(1 for change in wanted.changes.changes if change.pruned)
    return Explanation(
        id=0,
        test=case.test.recipe.test_id,
        status=Status.EXPLAINED if found.verified and not found.reason else Status.INCONCLUSIVE,
        range=wanted.revisions,
        failure=_more_telling(found.failure, failure),
        root=_listed(wanted, found.root, found.auxiliary),
        auxiliary=_listed(wanted, found.auxiliary, found.root),
        minimal=found.minimal,
        verified=found.verified,
        changes=ChangeCounts(len(wanted.changes.changes), pruned, found.executed),
        tree=found.tree,
        runs=replace(
            counts,
            smt_calls=found.smt_calls,
            interventions=found.interventions,
            seconds=seconds,
        ),
        strategy=found.strategy,
        notes=tuple(
            dict.fromkeys((*wanted.changes.notes, *filter(None, [tracing.reason]), *found.notes))
        ),
        reason=found.reason,
        out_of_budget=found.out_of_budget,
    )


def _more_telling(traced: Failure | None, told: Failure | None) -> Failure | None:
    """What the trace knows of the failure; what the test says where the trace only knows what the test was
    given, and it says more than how it ended.
    """
    says = told is not None and (told.kind is not FailureKind.EXIT or told.file)
    inferred = traced is not None and traced.kind is FailureKind.RESULT
    return told if says and inferred else traced or told


def _listed(wanted: Range, chosen: ChangeSet, beside: ChangeSet) -> tuple[Change, ...]:
    """Changes as they read in the variant in which they are undone with those ``beside`` them."""
    known, renamed = wanted.changes.by_id(), wanted.variants.renamed
    standing = renamed.standing(chosen | beside)
    return tuple(renamed.as_undone(known[identifier], standing) for identifier in in_order(chosen))
