"""Commits first: where two recorded runs are dearer to read than the commits are to bisect.

What the commits changed in which the test turned red is undone in the bad version. Where that passes, no other change
needs to be looked at, and the failing run is read beside that version, from which it differs by these changes alone. A
run of millions of steps is so read once the commit is known, or not at all where few changes are left: these are tried.
"""

from __future__ import annotations

import sys
from dataclasses import replace

from afterd.causality.auxiliary import Needed, nothing_needed
from afterd.causality.deltas.history import commit_guilt
from afterd.errors import ToolchainError, TraceError
from afterd.execution.oracle import Oracle
from afterd.limits import SEARCH
from afterd.model.change import NO_GUILT, NOTHING, ChangeSet, CommitGuilt
from afterd.pipeline.bisected import Bisection
from afterd.pipeline.case import Case
from afterd.pipeline.text_of_test import similarity_to_test
from afterd.pipeline.tracing import Tracing
from afterd.workspace import Phase, Range


def of_red_commits(
    case: Case,
    wanted: Range,
    oracle: Oracle,
    bisection: Bisection,
    guilt: CommitGuilt = NO_GUILT,
    most: int = sys.maxsize,
    needed: Needed = nothing_needed,
) -> ChangeSet:
    """The live changes that the commits made in which the test turned red, and what is ``needed`` for them to build, by
    their names; none where undoing them all repairs nothing, or spares nothing, or where they are more than ``most``.
    None either where lines that other commits had written before would have these undone along: of what was rewritten
    twice the commit's own part is undone in its own version alone. The commits of most ``guilt`` are asked first.
    """
    live = {change.id: change for change in wanted.changes.live}
    with case.workspace.clock.during(Phase.RUN):
        commits = bisection.red_commits(guilt)
        own = {name: change for name, change in live.items() if commits & set(change.commits)}
        made = frozenset(own) | needed(frozenset(own))
        if len(made) > len(own) and not all(commits >= set(each.commits) for each in own.values()):
            return NOTHING
        spares = 0 < len(made) <= min(most, len(live) - 1)
        return made if spares and oracle.outcome(made).passed else NOTHING


def guilt_before_reading(
    case: Case, wanted: Range, oracle: Oracle, tracing: Tracing
) -> CommitGuilt:
    """How likely each commit is guilty by what the failing run executed, and by the texts of changes and test."""
    live = {change.id: change for change in wanted.changes.live}
    similarity = similarity_to_test(case, wanted, oracle, tracing.lines)
    return commit_guilt(wanted.changes.commits, live, {}, tracing.executed, similarity)


def range_of_changes(wanted: Range, made: ChangeSet) -> Range:
    """The range in which no other changes can be undone, of commits that are known already."""
    changes = tuple(change for change in wanted.changes.changes if change.id in made)
    return replace(
        wanted, changes=replace(wanted.changes, changes=changes, commits=()), everything=made
    )


def traced_beside(tracing: Tracing, wanted: Range) -> Tracing:
    """The failing run beside the good version of a range; few changes are tried without it."""
    if tracing.beside is None or len(wanted.everything) <= SEARCH.put_back:
        return tracing
    try:
        return tracing.beside(wanted.everything)
    except (TraceError, ToolchainError) as error:
        return replace(tracing, reason=str(error))
