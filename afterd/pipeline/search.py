"""Running the strategy that was asked for, over the oracle."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from afterd.causality.analysis import not_told
from afterd.causality.deltas.add import add
from afterd.causality.deltas.dd import dd
from afterd.causality.halving import Halving
from afterd.causality.loop import Analysis, LedBack, Loop, Oracles
from afterd.causality.named import NamedByFailure
from afterd.causality.shrinking import Root
from afterd.causality.story import Story, story
from afterd.causality.watch import Watch
from afterd.causality.worth import Worth, question_units, run_work
from afterd.compare import UntracedExecution
from afterd.config import Strategy
from afterd.execution.failures.values import shown_lines
from afterd.execution.meanwhile import told_meanwhile
from afterd.execution.oracle import Oracle
from afterd.limits import REPORT, SEARCH, WORK, SolverLimits, StoryLimits
from afterd.logic import Solver
from afterd.model.change import (
    NOTHING,
    Change,
    ChangeForm,
    ChangeId,
    ChangeSet,
    CommitGuilt,
    FileKind,
    in_order,
)
from afterd.model.explanation import CauseNode, Failure
from afterd.model.outcome import FailureKind, Outcome, Unresolved
from afterd.model.trace import Execution, Predicate, TwinExecution
from afterd.pipeline.bisected import Bisection
from afterd.pipeline.by_commits import likely_commit
from afterd.pipeline.case import Case
from afterd.pipeline.older_tests import own_changes
from afterd.pipeline.promises import (
    OutcomeOf,
    ToldByText,
    kept_promises,
    those_without_which_it_fails_as_ever,
)
from afterd.pipeline.runs_as_builds import RunsAsBuilds
from afterd.pipeline.text_of_test import similarity_to_test
from afterd.pipeline.tracing import Tracing, Unread
from afterd.pipeline.undone_tests import Repair, UndoneTests
from afterd.weights import RUNS
from afterd.workspace import Phase, Range

_READING = "seconds' worth of work done to compare the two runs"
_TWIN, _TELLING = "tracing the twin", "putting the story together"
STORY_STAGES = (_TWIN, _TELLING)
"""What the causal tree costs once the root is known."""
_SILENT = (
    "With only {} undone the test passes too, but prints nothing, where both versions print something: that may be"
    " a test that was not run."
)
_WHOLE = "{} is all of a file of {} lines: nothing smaller could be undone, and which line is at fault is not told."
_NO_TWIN = "The bad version without {} left no trace that can be read, so {}. {}"
_BESIDE_GREEN, _UNTOLD = (
    "the story holds the failing run against the good version's",
    "no story is told",
)
_TOO_DEAR = (
    "with most parts of them put back nothing is built or the test fails in another way, and to see which of them are"
    " needed takes more runs than the answer is worth"
)


@dataclass(frozen=True, slots=True)
class Found:
    """The answer of a strategy, before it is put into an explanation.

    ``followed``: the guilty changes that recorded dependences lead to from the failure. ``suspected``: whom evidence
    speaks for, the most suspicious first. ``out_of_budget``: the budget ended it before there was an answer.
    """

    root: ChangeSet = frozenset()
    auxiliary: ChangeSet = frozenset()
    minimal: bool | None = None
    verified: bool = False
    tree: CauseNode | None = None
    failure: Failure | None = None
    executed: int = 0
    strategy: str = "after"
    smt_calls: int = 0
    solve_seconds: float = 0.0
    story_seconds: float = 0.0
    interventions: int = 0
    followed: ChangeSet = NOTHING
    suspected: tuple[ChangeId, ...] = ()
    notes: tuple[str, ...] = ()
    reason: str = ""
    out_of_budget: bool = False


def search(
    case: Case,
    wanted: Range,
    oracle: Oracle,
    tracing: Tracing,
    bisection: Bisection | None,
    proved: Root | None = None,
) -> Found:
    """Find the root with the strategy of the settings; AFTER's gives up where the ``bisection`` of the
    commits tells a shorter range (None: they are known already), and takes the root that is ``proved``.
    """
    strategy = case.settings.strategy
    if strategy is not Strategy.AFTER:
        return _delta_debugging(strategy, wanted, oracle, tracing)
    limits, clock = case.workspace.limits, case.workspace.clock
    run = run_work(oracle.cpu)
    with Solver(_worthwhile_limits(limits.solver, run)) as solver:
        bad = oracle.tree_outcome(oracle.tree_of(NOTHING))
        variants = RunsAsBuilds(
            oracle,
            tracing.missing,
            lambda reverted, outcome: tracing.clashing(reverted, outcome, bad),
            lambda outcome: tracing.further(outcome, bad),
            ends_on_warnings=case.ends_on_warnings,
        )
        execution = tracing.execution or UntracedExecution(in_order(tracing.executed))
        live = {change.id: change for change in wanted.changes.live}
        worth = Worth(
            lambda: execution.work() + solver.units * WORK.unit + tracing.standing.work(),
            run,
            len(wanted.everything),
        )
        oracles = Oracles(
            clock.over(Phase.RUN, variants.outcome),
            clock.over(Phase.RUN, variants.builds),
            clock.over(Phase.SOLVE, solver.core),
            clock.over(Phase.RUN, variants.outcomes) if oracle.width > 1 else None,
            tracing.standing.asked_by(partial(clock.over, Phase.CHECK)),
            worth=worth,
            named=named_by_failure(oracle, live.values(), tracing),
            similarity=clock.over(Phase.COMPARE, similarity_to_test)(
                case, wanted, oracle, tracing.lines
            ),
            traced=clock.over(Phase.TRACE, partial(_recorded_variant, oracle, tracing)),
            clashing=variants.clashing,
            closure=tracing.closure,
            commits=wanted.changes.commits,
            verdict_at=bisection.verdict_at if bisection is not None else not_told,
            verdict_before=bisection.verdict_before if bisection is not None else not_told,
            halving=_halving(case, wanted, oracle, tracing, bisection),
            width=oracle.width,
            watch=Watch(lambda: oracle.ledger.exhausted),
            refused=variants.refused,
            came_further=variants.came_further,
        )
        loop = Loop(execution, live, wanted.everything, oracles, case.progress)
        if tracing.execution is not None:
            case.progress.stage("reading the two runs")
        with told_meanwhile(case.progress, lambda: execution.work() // WORK.second, _READING):
            analysis = loop.concluded(proved) if proved else loop.explain()
        with clock.during(Phase.RUN):
            analysis = _promised_analysis(analysis, oracle, tracing, worth)
            repair = _repair(case, wanted, analysis, bad, variants.outcome)
            analysis = replace(analysis, root=repair.root, auxiliary=repair.auxiliary)
        if repair.reason:
            return _no_repair(repair, analysis, execution, solver)
        late = oracle.ledger.seconds_left == 0.0
        began = time.monotonic()
        within = _tested_within(limits.story, oracle, len(analysis.root))
        told = None if late else _story(case, wanted, tracing, analysis, solver, within)
        if isinstance(told, Story):
            led = LedBack(told.tree)
        else:
            led = loop.led_back(analysis.root)
        if isinstance(told, Unread):
            instead = _BESIDE_GREEN if led.tree else _UNTOLD
            remark = _NO_TWIN.format(", ".join(in_order(analysis.root)), instead, told.reason)
            led = replace(led, remarks=(*led.remarks, remark))
        whole = _whole_files(map(live.get, in_order(analysis.root | analysis.auxiliary)))
        led = replace(led, remarks=(*led.remarks, *whole))
        found = _found_answer(analysis, led, frozenset(live), oracle, execution, solver)
        found = found if tracing.counted else replace(found, executed=0)
        seconds = time.monotonic() - began
        if not isinstance(told, Story):
            return replace(found, story_seconds=seconds)
        tested, followed = told.interventions, told.followed
        return replace(found, story_seconds=seconds, interventions=tested, followed=followed)


def _recorded_variant(oracle: Oracle, tracing: Tracing, reverted: ChangeSet) -> Execution | None:
    """The run of a variant, which counts as one of the search's; None where it is not recorded, or no run is left."""
    found = None if oracle.ledger.spent else tracing.variant(reverted)
    if found is not None:
        oracle.ledger.record_traced()
    return found


def _whole_files(undone: Iterable[Change | None]) -> Iterator[str]:
    """What is undone as a whole file that is longer than an answer shows."""
    for change in undone:
        if change is None or change.form not in (ChangeForm.ADDED, ChangeForm.DELETED):
            continue
        count = max(change.old.count, change.new.count)
        if count > REPORT.terminal_patch:
            yield _WHOLE.format(change.id, count)


def _halving(
    case: Case, wanted: Range, oracle: Oracle, tracing: Tracing, bisection: Bisection | None
) -> Halving:
    """The bisection of the commits, before which likely ones are undone."""
    if bisection is None:
        return Halving()

    def shorter(guilt: CommitGuilt) -> bool:
        needed = tracing.closure.needed
        bisection.undone = likely_commit(case, wanted, oracle, bisection, guilt, needed)
        return bisection.narrows(guilt)

    return Halving(bisection.commits, case.workspace.clock.over(Phase.RUN, shorter))


def named_by_failure(oracle: Oracle, changes: Iterable[Change], tracing: Tracing) -> NamedByFailure:
    """What the bad version's failure names, by its report and its message."""
    signature, detail = oracle.reference, oracle.tree_outcome(oracle.tree_of(NOTHING)).detail
    said = f"{signature.message} {signature.symbol}" if signature else ""
    places = shown_lines(detail, {change.file for change in changes})
    words = frozenset(re.findall(r"[^\W\d]\w+", said))
    return NamedByFailure(tuple(places), words, tuple(tracing.took(said)))


def _worthwhile_limits(limits: SolverLimits, run: int) -> SolverLimits:
    """The solver's limits, where one question costs no more than the runs that its answer may save."""
    units = question_units(run)
    return replace(limits, rlimit=min(limits.rlimit, units) if limits.rlimit else units)


def _promised_analysis(
    analysis: Analysis, oracle: Oracle, tracing: Tracing, worth: Worth
) -> Analysis:
    """The analysis with what was really seen of its root, and only what was seen to be needed."""
    if not analysis.verified:
        return analysis
    if analysis.minimal is None:
        seen = oracle.outcome(analysis.root | analysis.auxiliary)
        return replace(analysis, verified=seen.passed)
    compiled = tracing.standing.compiled
    likeliest = [suspect.change for suspect in analysis.suspects]
    kept = kept_promises(
        analysis.root,
        analysis.auxiliary,
        oracle.outcome,
        compiled,
        likeliest,
        ToldByText(tracing.closure.needed, lambda reverted: not tracing.standing.against(reverted)),
        RUNS.searches * worth.blind_runs,
        oracle.is_known,
    )
    if kept.verified:
        kept = those_without_which_it_fails_as_ever(
            kept, oracle.outcome, tracing.missing, compiled, oracle.is_known
        )
    notes = analysis.notes
    if kept.silent:
        notes += (_SILENT.format(", ".join(in_order(kept.silent))),)
    return replace(
        analysis,
        notes=notes,
        root=kept.root,
        auxiliary=kept.auxiliary,
        verified=kept.verified,
        minimal=kept.minimal,
    )


def _repair(
    case: Case, wanted: Range, analysis: Analysis, bad: Outcome, outcome: OutcomeOf
) -> Repair:
    """What was found as a repair of the program, where test files take part in the search and nobody asked for that."""
    recipe = case.test.recipe
    if not analysis.verified or recipe.is_a_build or not case.workspace.rules.keep_tests:
        return Repair(analysis.root, analysis.auxiliary)
    tests = [change for change in wanted.changes.live if change.kind is FileKind.TEST]
    own = own_changes(case.test, bad, tests) if tests else None
    return UndoneTests(wanted.changes.by_id(), own, outcome).repair(
        analysis.root, analysis.auxiliary
    )


def _no_repair(repair: Repair, analysis: Analysis, execution: Execution, solver: Solver) -> Found:
    """What is told where all that was seen to pass may have passed for want of the failing test."""
    return Found(
        failure=_failure(analysis.failure, execution),
        executed=analysis.executed,
        smt_calls=solver.calls,
        solve_seconds=solver.seconds,
        suspected=tuple(suspect.change for suspect in analysis.suspects),
        notes=analysis.notes,
        reason=repair.reason,
    )


def _tested_within(limits: StoryLimits, oracle: Oracle, causes: int) -> StoryLimits:
    """As many runs to test steps of the story as the runs before them are worth, those whose outcomes were
    remembered too: the same question has the same story. One recording is about one run.

    The twin of each of several causes comes first: it tells of every step.
    """
    counts = oracle.counts()
    recorded = 2
    runs = counts.tests + oracle.ledger.remembered + counts.confirmation + recorded
    alone = causes if 1 < causes <= min(runs // limits.runs_a_twin, limits.alone) else 0
    tests = max(1, runs // limits.runs_a_test - alone)
    return replace(limits, alone=alone, interventions=min(limits.interventions, tests))


def _story(
    case: Case,
    wanted: Range,
    tracing: Tracing,
    analysis: Analysis,
    solver: Solver,
    limits: StoryLimits,
) -> Story | Unread | None:
    """What the root did, read from the failing run beside the one with only the root undone; why that could not be
    read, and None where nothing is traced or no failed assertion was recognised.
    """
    if not analysis.verified:
        return None
    case.progress.stage(_TWIN, "the bad version with only the guilty changes undone")
    with case.workspace.clock.during(Phase.TRACE):
        twin = tracing.twin(analysis.root | analysis.auxiliary)
    if twin is None or isinstance(twin, Unread):
        return twin
    changes = wanted.changes.by_id()

    def alone(change: ChangeId) -> TwinExecution | None:
        case.progress.stage(_TWIN, f"the bad version with only {change} undone")
        with case.workspace.clock.during(Phase.TRACE):
            twin = tracing.twin(frozenset({change}) | analysis.auxiliary)
        return None if isinstance(twin, Unread) else twin

    case.progress.stage(_TELLING, "steps on its way are set to what the twin had")
    with case.workspace.clock.during(Phase.STORY):
        return story(twin, analysis.root, changes, solver.core, limits, alone)


def _delta_debugging(strategy: Strategy, wanted: Range, oracle: Oracle, tracing: Tracing) -> Found:
    """Zeller's delta debugging, or the augmented one, on the same changes and the same oracle."""
    live = {change.id: change for change in wanted.changes.live}
    executed = (
        [c for c in tracing.execution.executed_changes() if c in live] if tracing.execution else []
    )
    if strategy is Strategy.DD:
        isolated = dd([frozenset({change}) for change in live], oracle.outcome)
    else:
        isolated = add(live, executed, oracle.outcome)
    root = isolated.difference
    outcome = oracle.outcome(root) if root else None
    passes = outcome is not None and outcome.passed
    if passes:
        reason = ""
    elif outcome is not None and outcome.reason is Unresolved.NOT_RUN:
        reason = "The budget was spent before what delta debugging isolated was reverted."
    else:
        reason = "Reverting what delta debugging isolated does not make the test pass."
    return Found(
        root=root,
        verified=passes,
        executed=len(executed),
        strategy=strategy.value,
        reason=reason,
        out_of_budget=bool(reason) and oracle.spent,
        notes=() if isolated.complete else ("The budget ended the search before it was minimal.",),
    )


def _found_answer(
    analysis: Analysis,
    led: LedBack,
    everything: ChangeSet,
    oracle: Oracle,
    execution: Execution,
    solver: Solver,
) -> Found:
    """The analysis as an answer; all changes, left when the budget ended the search, are none."""
    whole = analysis.root == everything and analysis.minimal is None and oracle.spent
    reason = ""
    if whole:
        reason = "The budget was spent before fewer than all changes were seen to be enough."
    elif analysis.verified and analysis.minimal is None:
        reason = narrowed_reason(analysis, len(everything), spent=oracle.spent)
    elif not analysis.root:
        reason = (
            "The budget was spent before a set of changes was seen to make the test pass."
            if oracle.spent
            else "No set of changes that was tried makes the test pass."
        )
    return Found(
        root=frozenset() if whole else analysis.root,
        auxiliary=analysis.auxiliary,
        minimal=analysis.minimal,
        verified=analysis.verified and not whole,
        tree=led.tree,
        failure=_failure(analysis.failure, execution),
        executed=analysis.executed,
        smt_calls=solver.calls,
        solve_seconds=solver.seconds,
        suspected=tuple(suspect.change for suspect in analysis.suspects),
        notes=(*led.remarks, *analysis.notes),
        reason=reason,
        out_of_budget=bool(reason) and oracle.spent,
    )


def narrowed_reason(analysis: Analysis, of: int, *, spent: bool) -> str:
    """How far the search came down, of so many changes, why no further, and whom evidence speaks for there."""
    left = analysis.root | analysis.auxiliary
    why = "the budget was spent before it was seen that no fewer will do" if spent else _TOO_DEAR
    likeliest = [each.change for each in analysis.suspects if each.change in left]
    reason = f"The search came down to {len(left)} of {of} changes; {why}."
    if likeliest:
        reason += f" Evidence speaks most for {', '.join(likeliest[: SEARCH.leaders])}."
    return reason


def _failure(predicate: Predicate | None, execution: Execution) -> Failure | None:
    """The failed assertion as the trace knows it."""
    if predicate is None:
        return None
    place = predicate.failed_at or execution.step(predicate.step).location
    kind = predicate.kind or FailureKind.ASSERTION
    return Failure(
        kind,
        predicate.message or predicate.text,
        place.file,
        place.line,
        predicate.observed,
        predicate.expected,
    )
