"""The part of a range that is left when what is on record of its versions is counted in.

The daemon tested commits between the two ends, and earlier explanations had ends there: the failure came in
between the last of them that is green and the first red one after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

import pygit2
from pygit2.enums import ObjectType

from afterd.limits import REPORT
from afterd.model.explanation import RevisionRange
from afterd.store.explanations import explained_ranges
from afterd.store.history import suite_record
from afterd.vcs.history import first_parents
from afterd.workspace import Suite, Workspace


def narrowed_range(
    workspace: Workspace, revisions: RevisionRange, suite: Suite, test: str
) -> tuple[RevisionRange, str] | None:
    """The shorter range, and the sentence that says what it rests on; None where nothing is on record.

    Only along first parents, and only what was said then: the test may have been another one, so both ends
    are to be run again.
    """
    commits = _commits_between(workspace.repository, revisions)
    recipe = suite.recipe
    record = suite_record(workspace.store, workspace.name, recipe.command_digest, recipe.test_id)
    explained = explained_ranges(workspace.store, workspace.name, test)
    greens, reds = ({range_.good for range_ in explained}, {range_.bad for range_ in explained})
    good, bad = revisions.good, revisions.bad
    for commit in commits:
        if commit in greens or record.is_green(commit, test):
            good = commit
            break
        if commit in reds or record.is_red(commit, test):
            bad = commit
    if RevisionRange(good, bad) == revisions:
        return None
    return RevisionRange(good, bad), _note(revisions, good[: REPORT.commit], bad[: REPORT.commit])


def _note(whole: RevisionRange, good: str, bad: str) -> str:
    if whole.bad.startswith(bad):
        return f"On record the test is green at {good}: only what came after that was searched."
    if whole.good.startswith(good):
        return (
            f"On record the test is red at {bad} already: only what came up to that was searched."
        )
    return f"On record the test is green at {good} and red at {bad}: only what lies between was searched."


def _commits_between(repository: pygit2.Repository, revisions: RevisionRange) -> Sequence[str]:
    """The first parents between both ends, newest first; none where the good end is not one of them."""
    for end in (revisions.good, revisions.bad):
        if end not in repository or repository[end].type != ObjectType.COMMIT:
            return ()  # a patch that is tried is a tree
    if not repository.descendant_of(revisions.bad, revisions.good):
        return ()
    chain = list(
        takewhile(lambda each: each != revisions.good, first_parents(repository, revisions.bad))
    )
    first = repository[chain[-1]].peel(pygit2.Commit).parent_ids[:1]
    return chain[1:] if list(map(str, first)) == [revisions.good] else ()
