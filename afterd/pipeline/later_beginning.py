"""A commit of the range at which the test is green, where the range's good version fails otherwise than the bad one.

A test of today may call what the good version has under another name, or has not at all, or that version may not run
here any more. Where it fails otherwise than the bad version does, it shows nothing of what broke the test; but
somewhere between lies the commit since which the test fails as it does now, and a green one just before that is as
good a beginning as the one that was named. If it is not green there, the test was never green as far as was seen, and
the commit that gave the failure its present shape is what can be told.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import pygit2

from afterd.errors import RepositoryError
from afterd.execution.failures.text import normalised
from afterd.limits import REPORT
from afterd.model.change import NOTHING
from afterd.model.explanation import RevisionRange
from afterd.model.outcome import Outcome, Unresolved, Verdict
from afterd.pipeline.asking import oracle_of
from afterd.pipeline.bisected import Bisection
from afterd.pipeline.case import Case, told_by_test
from afterd.vcs.history import Baseline, Passes, first_red, newest_of
from afterd.workspace import Range

_BEFORE = Outcome(Verdict.PASS)


@dataclass(frozen=True, slots=True)
class LaterBeginning:
    """The part of a range that begins with a green commit (``within``), and what was seen, as sentences; empty where
    nothing was.
    """

    within: Range | None = None
    note: str = ""


def later_beginning(case: Case, wanted: Range) -> LaterBeginning:
    """What the commits' own versions show of a test that the good version fails otherwise than the bad one."""
    oracle = oracle_of(case, wanted)
    failed = oracle.outcome(NOTHING)
    oracle.reference = failed.signature
    commits = Bisection(case.workspace, wanted, oracle)
    if failed.signature is None or commits.commits < 2:
        return LaterBeginning()
    ends = wanted.revisions
    stage = "looking for a version that can run the test"
    alike = commits.outcome(ends.good, stage).verdict is Verdict.FAIL

    def passes(commit: str) -> Outcome:
        seen = commits.outcome(commit, stage)
        if alike and seen.verdict is Verdict.FAIL and _said(seen) != _said(failed):
            # its values are all that tells one failure from the other
            return replace(seen, verdict=Verdict.UNRESOLVED, reason=Unresolved.DIFFERENT_FAILURE)
        return seen

    found = later_green(case.workspace.repository, ends.good, ends.bad, passes)
    if found is None:
        return LaterBeginning()
    good, bad = found.good[: REPORT.commit], found.bad[: REPORT.commit]
    if not found.green:
        since = f"it fails as now since {bad}, and otherwise at {good}"
        return LaterBeginning(note=f"No later commit that was run passes it: {since}.")
    said = told_by_test(commits.outcome(ends.good, stage))
    how = f" ({said.message})" if said and said.message else ""
    note = (
        f"The good version {ends.good[: REPORT.commit]} fails this test otherwise{how}; at {good}, a later commit of"
        " the range, it is green, so the range begins there."
    )
    return LaterBeginning(commits.part(RevisionRange(found.good, found.bad)), note)


def _said(outcome: Outcome) -> str:
    """What a failed test said, with its values, but for what is another in each run."""
    said = told_by_test(outcome)
    return normalised(f"{said.message} {said.observed} {said.expected}") if said else ""


@dataclass(frozen=True, slots=True)
class LaterGreen:
    """Between which commits the failure took its present shape; ``green``: the test passes at ``good``."""

    good: str
    bad: str
    green: bool


def later_green(
    repository: pygit2.Repository, good: str, bad: str, passes: Passes
) -> LaterGreen | None:
    """Where the failure came in behind a version that fails otherwise; None where the good version is green or fails
    as the bad one does, and where what lies between could not be run.
    """
    at_good = passes(good)
    if at_good.passed or at_good.verdict is Verdict.FAIL:
        return None
    seen: dict[str, Outcome] = {}

    def had_present_shape(commit: str) -> Outcome:
        seen[commit] = passes(commit)
        return seen[commit] if seen[commit].verdict is Verdict.FAIL else _BEFORE

    try:
        found = first_red(repository, good, bad, had_present_shape)
        if any(each.reason is Unresolved.NOT_RUN for each in seen.values()):
            return None
        green = [commit for commit, outcome in seen.items() if outcome.passed]
        if green and found.good not in green:  # what came between could not be run
            found = first_red(repository, newest_of(repository, green), bad, passes)
    except RepositoryError:
        return None  # a patch that is tried is no commit
    return _told(found, seen.get(found.good, at_good))


def _told(found: Baseline, before: Outcome) -> LaterGreen | None:
    if not found.good:
        return None
    otherwise = before.reason is Unresolved.DIFFERENT_FAILURE
    if not before.passed and not (otherwise and found.adjacent):
        return None
    return LaterGreen(found.good, found.bad, green=before.passed)
