"""Commits first: where two recorded runs are dearer to read than the commits are to bisect.

What the commits changed in which the test turned red is undone in the bad version. Where that passes, no other change
needs to be looked at, and the failing run is read beside that version, from which it differs by these changes alone. A
run of millions of steps is so read once the commit is known, or not at all where few changes are left: these are tried.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Set as AbstractSet
from dataclasses import replace

from afterd.causality.auxiliary import Needed, nothing_needed
from afterd.causality.deltas.history import commit_guilt, commit_to_undo
from afterd.errors import ToolchainError, TraceError
from afterd.execution.oracle import Oracle
from afterd.limits import REPORT, SEARCH
from afterd.model.change import NO_GUILT, NOTHING, ChangeSet, CommitGuilt
from afterd.model.outcome import Verdict
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
    """The live changes made by the commits in which the test turned red, and what is ``needed`` for them to build, by
    their names; none where undoing them all repairs nothing, or spares nothing, where they are more than ``most``, or
    of lines that other commits wrote as well, where the red commit's version is known: its own part is undone there,
    and with others' work it fails otherwise (pyhocon, pydal, zipp). The commits of most ``guilt`` are asked first.
    """
    with case.workspace.clock.during(Phase.RUN):
        red = bisection.red_commits(guilt)
        if bisection.within is not None and _is_shared(red, wanted):
            return NOTHING
        made = _made_by(red, wanted, most, needed)
        return made if made and oracle.outcome(made).passed else NOTHING


def likely_commit(
    case: Case,
    wanted: Range,
    oracle: Oracle,
    bisection: Bisection,
    guilt: CommitGuilt,
    needed: Needed = nothing_needed,
) -> str:
    """A commit of much ``guilt`` and few changes without which the bad version passes, whose own version is red, and
    the one before it green; empty where none is found before it is cheaper to bisect all. What only hides what came
    later is not taken for guilty: the test was green with it; nor what hides what came earlier: it was red without it
    (mutagen). Where the commits have told already, or cannot, nothing is run.
    """
    if bisection.told or bisection.commits < 2:
        return bisection.undone
    sizes = Counter(name for change in wanted.changes.live for name in set(change.commits))
    small = {name for name, count in sizes.items() if count <= SEARCH.all_sets}
    tried: set[str] = set()
    with case.workspace.clock.during(Phase.RUN):
        while commit := commit_to_undo(guilt, small, tried):
            made = _made_by({commit}, wanted, SEARCH.all_sets, needed)
            if not made:
                small.remove(commit)
                continue
            case.progress.stage("undoing a likely commit", f"{commit[: REPORT.commit]} as a whole")
            if oracle.outcome(made).passed:
                red = bisection.verdict_at(commit) is Verdict.FAIL
                return commit if red and bisection.verdict_before(commit) is Verdict.PASS else ""
            tried.add(commit)
    return ""


def _is_shared(commits: AbstractSet[str], wanted: Range) -> bool:
    """Whether other commits wrote of the lines that some did."""
    theirs = (set(change.commits) for change in wanted.changes.live)
    return any(commits & names and not names <= commits for names in theirs)


def _made_by(
    commits: AbstractSet[str], wanted: Range, most: int, needed: Needed = nothing_needed
) -> ChangeSet:
    """The live changes that commits made, with what is ``needed`` for them to build; none where these are more than
    ``most``, or all there are, or where lines that other commits had written before would have these undone along: of
    what was rewritten twice a commit's own part is undone in its own version alone.
    """
    live = wanted.changes.live
    own = [change for change in live if commits & set(change.commits)]
    made = frozenset(change.id for change in own)
    made |= needed(made)
    if len(made) > len(own) and _is_shared(commits, wanted):
        return NOTHING
    return made if len(made) <= min(most, len(live) - 1) else NOTHING


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
