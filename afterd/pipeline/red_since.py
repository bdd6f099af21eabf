"""Since which commit a test is red, where it did not always fail as it does now.

One fault may show in other ways while a program is rewritten: one commit's version called None, where the later ones
ask for an attribute that is not there. A bisection by the failure that is explained passes over such commits, which
are then most of a range. Where the test failed in the program, come to by the same line of its own, or by the same
assertion, which found something else there, a commit counts as red. That is no proof: something else may have been
broken there for a while. So where it is such a commit in which the test turned red, the commits are halved once more
for the one in which the failure took its present shape: where the test is red on both sides of that one, and green in
none that was run between, it was red all along. Of a failure whose code only moved that is not asked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pygit2

from afterd.model.change import NO_GUILT, CommitGuilt
from afterd.model.outcome import Outcome, Unresolved, Verdict
from afterd.vcs.history import Baseline, Passes, first_red, newest_of, oldest_of

_GREEN = Outcome(Verdict.PASS)
_UNTOLD = Outcome(Verdict.UNRESOLVED, Unresolved.DIFFERENT_FAILURE)


def red_since(
    repository: pygit2.Repository,
    good: str,
    bad: str,
    passes: Passes,
    otherwise: Callable[[Outcome], bool],
    guilt: CommitGuilt = NO_GUILT,
    moved: Callable[[Outcome], bool] = lambda _: False,
) -> Baseline:
    """Where between a green commit and a red one the test turned red; ``otherwise`` says of an outcome that is not the
    failure under explanation whether it was come to in the same way, ``moved`` whether it is the same but for where its
    code stood. Raises RepositoryError for unknown commits.
    """
    seen: dict[str, Outcome] = {}

    def is_red(commit: str) -> Outcome:
        seen[commit] = passes(commit)
        if otherwise(seen[commit]):
            return replace(seen[commit], verdict=Verdict.FAIL, reason=None)
        return seen[commit]

    found = first_red(repository, good, bad, is_red, guilt)
    others = {each for each, outcome in seen.items() if otherwise(outcome) and not moved(outcome)}
    if not found.good or found.bad not in others:
        return found
    failed = {commit for commit, outcome in seen.items() if outcome.verdict is Verdict.FAIL} | {bad}
    newest = newest_of(repository, sorted(others))
    oldest = oldest_of(repository, sorted(failed))
    if _was_green(repository, newest, oldest, passes, otherwise):
        return first_red(repository, good, bad, passes, guilt)
    return found


def _was_green(
    repository: pygit2.Repository,
    other: str,
    failing: str,
    passes: Passes,
    otherwise: Callable[[Outcome], bool],
) -> bool:
    """Whether the test was green in a commit that is met where those are halved between one in which it failed
    otherwise and one in which it fails as it does now.
    """
    green: list[str] = []

    def has_other_shape(commit: str) -> Outcome:
        outcome = passes(commit)
        if outcome.passed:
            green.append(commit)
        if green:
            return _UNTOLD
        return _GREEN if otherwise(outcome) else outcome

    first_red(repository, other, failing, has_other_shape)
    return bool(green)
