"""What the commits' own versions say of a root: whether the test was red once its changes were made."""

from __future__ import annotations

from afterd.causality.analysis import Oracles
from afterd.causality.deltas.dependencies import Changes
from afterd.causality.deltas.history import newest_commit
from afterd.causality.shrinking import Root
from afterd.model.outcome import Verdict


def verdict_with(root: Root, oracles: Oracles, changes: Changes) -> Verdict:
    """What the test says of the version with which all of a root was there, and nothing that came later; where that
    one cannot be tested, of one a little later, in leaps: it tells as much where it is green (flask-admin).
    """
    commits = oracles.commits
    commit = newest_commit(commits, changes, root.changes)
    place, leap = commits.index(commit) if commit else len(commits), 1
    while place < len(commits):
        verdict = oracles.verdict_at(commits[place])
        if verdict is not Verdict.UNRESOLVED:
            return verdict
        place, leap = place + leap, 2 * leap
    return Verdict.UNRESOLVED
