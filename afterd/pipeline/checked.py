"""A search whose answer does not rest on warm processes alone."""

from __future__ import annotations

from dataclasses import replace

from afterd.config import Settings
from afterd.execution.oracle import Oracle
from afterd.model.outcome import Unresolved
from afterd.model.progress import Progress
from afterd.pipeline.search import Found, search
from afterd.pipeline.tracing import Tracing
from afterd.workspace import Phase, Range, Workspace

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
