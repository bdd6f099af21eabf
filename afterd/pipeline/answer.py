"""What a search found, put together as an Explanation.

A search whose answer does not rest on warm processes alone.

What others answered while this process waited for its turn, where it is what was asked here.
"""

from __future__ import annotations

from dataclasses import replace

from afterd.config import Settings, command_line
from afterd.execution.oracle import Oracle
from afterd.model.change import Change, ChangeSet, in_order
from afterd.model.explanation import ChangeCounts, Explanation, Failure, RevisionRange, Status
from afterd.model.outcome import Unresolved, Verdict
from afterd.model.progress import Progress, Silent
from afterd.pipeline.search import Found, search
from afterd.pipeline.tracing import Tracing
from afterd.store.explanations import explained_since, load
from afterd.store.history import tested_commits
from afterd.store.verdicts import verdicts_at
from afterd.workspace import Phase, Range, Workspace, suite_of, typed_command


def unanswered(test: str, status: Status, revisions: RevisionRange, reason: str) -> Explanation:
    """An explanation that names no change, with the sentence that says why."""
    return Explanation(id=0, test=test, status=status, range=revisions, reason=reason)


def answered(
    test: str,
    wanted: Range,
    oracle: Oracle,
    found: Found,
    tracing: Tracing,
    failure: Failure | None,
    total: float,
) -> Explanation:
    """The explanation of a confirmed failure; inconclusive where no root was seen to repair it."""
    counts = oracle.counts()
    seconds = replace(
        counts.seconds,
        total=total,
        trace=tracing.seconds,
        solve=found.solve_seconds,
        story=found.story_seconds,
    )
    pruned = sum(1 for change in wanted.changes.changes if change.pruned)
    return Explanation(
        id=0,
        test=test,
        status=Status.EXPLAINED if found.verified and not found.reason else Status.INCONCLUSIVE,
        range=wanted.revisions,
        failure=found.failure or failure,
        root=_listed(wanted, found.root),
        auxiliary=_listed(wanted, found.auxiliary),
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
    )


def _listed(wanted: Range, chosen: ChangeSet) -> tuple[Change, ...]:
    known = wanted.changes.by_id()
    return tuple(known[identifier] for identifier in in_order(chosen))


_UNCHECKED = (
    "The answer was seen to pass in a warm process alone: the budget was spent before it was run in a"
    " process of its own."
)


def checked_search(
    settings: Settings,
    workspace: Workspace,
    wanted: Range,
    oracle: Oracle,
    tracing: Tracing,
    progress: Progress,
) -> Found:
    """Search; an answer that only warm processes saw is run once more, in a process of its own.

    That run counts among those that confirm. Where it does not pass, nothing that was seen in warm
    processes counts, and the search is made again without them.
    """
    found = search(settings, workspace, wanted, oracle, tracing, progress)
    reverted = found.root | found.auxiliary
    if not found.verified or not oracle.is_warm(reverted):
        return _told(found, workspace, oracle)
    progress.stage("confirming the answer", "in a process of its own")
    with workspace.clock.during(Phase.CONFIRM):
        outcome = oracle.afresh(reverted)
    if outcome.reason is Unresolved.NOT_RUN:
        return replace(found, notes=(*found.notes, _UNCHECKED))
    if not outcome.passed:
        workspace.reruns.distrust(oracle.recipe, "the answer did not pass outside a warm process")
        oracle.distrust_warm()
        found = search(settings, workspace, wanted, oracle, tracing, progress)
    return _told(found, workspace, oracle)


def _told(found: Found, workspace: Workspace, oracle: Oracle) -> Found:
    """With the reason why the test was not run in warm processes, where there is one."""
    why = workspace.reruns.why_fresh(oracle.recipe)
    return replace(found, notes=(*found.notes, why)) if why else found


_USUAL = Settings()


def answered_meanwhile(
    workspace: Workspace, settings: Settings, wanted: Range, progress: Progress
) -> tuple[Explanation, ...]:
    """The answers of the daemon, or of another process, to this very question; () where there are none,
    or this process had its turn at once.
    """
    given = (settings.strategy, settings.budget, settings.diff, settings.tests)
    if workspace.asked is None or given != (_USUAL.strategy, _USUAL.budget, None, ()):
        return ()
    found = _of_another(workspace, settings, wanted) or _of_the_daemon(workspace, settings, wanted)
    if found:
        progress.stage("answered meanwhile", "the explanation that was waited for is shown")
    return found


def _of_another(workspace: Workspace, settings: Settings, wanted: Range) -> tuple[Explanation, ...]:
    """The newest answer for the whole command that was given."""
    assert workspace.asked is not None
    question = (command_line(typed_command(settings.test)), settings.build)
    for each in explained_since(workspace.store, workspace.name, wanted.revisions, workspace.asked):
        if (each.test, each.build_command) == question and each.status is Status.EXPLAINED:
            return (each,)
    return ()


def _of_the_daemon(
    workspace: Workspace, settings: Settings, wanted: Range
) -> tuple[Explanation, ...]:
    """The daemon's answers for every test that fails at the commit, as it tests it."""
    verdicts = verdicts_at(workspace.store, workspace.name, wanted.revisions.bad)
    identifiers = [verdict.explanation_id for verdict in verdicts]
    answers = [load(workspace.store, each) for each in identifiers if each is not None]
    if not answers or len(answers) < len(verdicts):
        return ()
    if any(each.range != wanted.revisions or not each.root for each in answers):
        return ()
    suite = suite_of(workspace, settings, wanted.variants.bad, Silent())
    tested = tested_commits(workspace.store, workspace.name, suite.recipe.command_digest)
    is_same = tested.get(wanted.revisions.bad, Verdict.PASS) is not Verdict.PASS
    return tuple(answers) if is_same else ()
