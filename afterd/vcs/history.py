"""The last green revision: walk back along first parents in growing steps, then bisect; or bisect between
two ends that are known.

Merge-aware: where the first red commit is a merge whose first parent is green, the red side branch
is searched in the same way, so the range that is left is as small as the history allows.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice, takewhile
from typing import TYPE_CHECKING

import pygit2
from pygit2.enums import SortMode

from afterd.errors import RepositoryError
from afterd.limits import GIT, SearchLimits
from afterd.model.change import NO_GUILT, CommitGuilt
from afterd.model.explanation import ALWAYS_RED
from afterd.model.outcome import Outcome, Verdict
from afterd.vcs.repository import resolve

if TYPE_CHECKING:
    from afterd.vcs.ancestry import Ancestry

Passes = Callable[[str], Outcome]  # the outcome at a commit; stored ones are its business
DEFAULT_BUDGET = SearchLimits().revisions


@dataclass(frozen=True, slots=True)
class Baseline:
    """Where the regression came in: the last green commit and the first red one after it.

    ``good`` is '' when none was found. ``adjacent``: ``good`` is a parent of ``bad``; otherwise
    ``reason`` says what lies between (untestable commits, or the budget ran out) or, without
    ``good``, why none was found. ``spent``: older commits were left when the budget ran out.
    """

    good: str
    bad: str
    adjacent: bool
    reason: str = ""
    spent: bool = False


def find_baseline(
    repository: pygit2.Repository, bad: str, passes: Passes, budget: int = DEFAULT_BUDGET
) -> Baseline:
    """Where the failure that ``bad`` shows came in, asking at most ``budget`` commits.

    ``bad`` itself is taken to be red. Only PASS counts as green and only FAIL as red; UNRESOLVED
    commits are stepped over. Raises RepositoryError for an unknown ``bad``.
    """
    search = _Search(repository, passes, budget)
    return search.along(first_parents(repository, resolve(repository, bad)))


def first_red(
    repository: pygit2.Repository,
    good: str,
    bad: str,
    passes: Passes,
    guilt: CommitGuilt = NO_GUILT,
) -> Baseline:
    """Where between a green commit and a red one the failure came in.

    What is halved is the commits' ``guilt`` (``NO_GUILT``: their number), as of two commits that are likely, far
    apart, the one between them tells nothing. At most twice as many commits are asked as halving their number needs:
    some cannot be tested. Where ``good`` is no ancestor of ``bad``, the commit at which both parted takes its place,
    if it is green, and where that cannot be tested a green one behind it. Raises RepositoryError for unknown commits.
    """
    good, bad = resolve(repository, good), resolve(repository, bad)
    return _Search(repository, passes, guilt=guilt).between(good, bad)


class _Search:
    """One search: the questions it may still ask, and the answers it has."""

    def __init__(
        self,
        repository: pygit2.Repository,
        passes: Passes,
        budget: int = 0,
        guilt: CommitGuilt = NO_GUILT,
    ) -> None:
        self._repository = repository
        self._passes = passes
        self._left = budget
        self._guilt = guilt
        self._known: dict[str, Verdict] = {}

    def along(self, chain: Iterator[str]) -> Baseline:
        """Search a chain of first parents, newest first, whose first commit is red."""
        commits = [next(chain)]
        green = self._walk_back(commits, chain)
        if green is None:
            spent = self._left <= 0
            ran_out = "no older commit that was run passes, and the budget ran out"
            why = ran_out if spent else _end_of_history(self._repository)
            return Baseline("", commits[0], adjacent=False, reason=why, spent=spent)
        return self._into_merge(self._bisect(commits[: green + 1]))

    def between(self, good: str, bad: str) -> Baseline:
        """Search what came between a green commit and a red one: of all commits that come from the green one those that
        tell most, then the first parents in what is left.
        """
        from afterd.vcs.ancestry import ancestry  # noqa: PLC0415 - numpy, which only a bisection needs

        self._known.update({bad: Verdict.FAIL, good: Verdict.PASS})
        history = ancestry(self._repository, good, bad, self._guilt, GIT.blamed_commits)
        told = history is not None and bad in history.names
        if history is not None and told:
            self._left = 2 * len(history.names).bit_length()
            good, bad = self._narrowed(history, good, bad)
        base = self._repository.merge_base(good, bad)
        after = self._repository.descendant_of
        chain = first_parents(self._repository, bad) if base else iter(())
        commits = [*takewhile(lambda commit: after(commit, str(base)), chain), str(base)]
        self._left = self._left if told else 2 * len(commits).bit_length()
        if len(commits) > 1 and self._verdict(commits[-1]) is Verdict.UNRESOLVED:
            commits = commits[: self._green_behind(commits) + 1]
        if len(commits) == 1 or self._verdict(commits[-1]) is not Verdict.PASS:
            return Baseline("", bad, adjacent=False, reason="no green commit is where both parted")
        return self._into_merge(self._bisect(commits))

    def _green_behind(self, commits: Sequence[str]) -> int:
        """The place of a green commit between a red one (first) and one that cannot be tested (last); 0 where none is
        met. What cannot be tested is taken to be too old for the test as it is today.
        """
        red, untestable = 0, len(commits) - 1
        while untestable - red > 1:
            middle = (red + untestable) // 2
            match self._verdict(commits[middle]):
                case Verdict.PASS:
                    return middle
                case Verdict.FAIL:
                    red = middle
                case Verdict.UNRESOLVED:
                    untestable = middle
        return 0

    def _narrowed(self, history: Ancestry, good: str, bad: str) -> tuple[str, str]:
        """A green and a red commit between two such, as near as halving the commits of a history tells."""
        red, candidates = bad, history.all_of(bad)
        while (commit := self._telling(history.by_what_they_tell(candidates, red))) is not None:
            of_commit = history.all_of(commit)
            if self._known[commit] is Verdict.PASS:
                candidates &= ~of_commit
            else:
                red, candidates = commit, candidates & of_commit
        before = next(iter(_parents(self._repository, red)), good)
        untold = before in history.names and candidates[history.names.index(before)]
        green = good if untold else before
        return (green if self._verdict(green) is Verdict.PASS else good), red

    def _telling(self, commits: Iterator[str]) -> str | None:
        """The first that can be tested of some commits, the most telling first, in leaps past those that cannot."""
        in_order = list(commits)
        for place in _leaping(len(in_order)):
            if self._verdict(in_order[place]) is not Verdict.UNRESOLVED:
                return in_order[place]
            if self._left <= 0:
                return None
        return None

    def _verdict(self, commit: str) -> Verdict:
        """The answer for a commit; UNRESOLVED once the budget is spent."""
        if commit not in self._known:
            if self._left <= 0:
                return Verdict.UNRESOLVED
            self._left -= 1
            self._known[commit] = self._passes(commit).verdict
        return self._known[commit]

    def _walk_back(self, commits: list[str], chain: Iterator[str]) -> int | None:
        """Ask commits 1, 2, 4, 8, … back (the next older one after an untestable one) until one is
        green; its place in ``commits``, which grows as the walk does.
        """
        step, place, red = 1, 0, 0
        while self._left > 0:
            place += step
            commits += islice(chain, place + 1 - len(commits))
            if place >= len(commits):
                return self._oldest_green(commits, red)
            verdict = self._verdict(commits[place])
            if verdict is Verdict.PASS:
                return place
            if verdict is Verdict.FAIL:
                step, red = step * 2, place
            else:
                step = 1
        return None

    def _oldest_green(self, commits: Sequence[str], red: int) -> int | None:
        """The history ended inside a step: ask its oldest commit, and newer ones if untestable."""
        for place in range(len(commits) - 1, red, -1):
            verdict = self._verdict(commits[place])
            if verdict is Verdict.PASS:
                return place
            if verdict is Verdict.FAIL or self._left <= 0:
                return None
        return None

    def _bisect(self, commits: Sequence[str]) -> Baseline:
        """Between a red commit (first) and a green one (last)."""
        red, green = 0, len(commits) - 1
        red = max(
            (place for place in range(green) if self._known.get(commits[place]) is Verdict.FAIL),
            default=red,
        )
        greens = (
            place for place in range(red, green) if self._known.get(commits[place]) is Verdict.PASS
        )
        green = min(greens, default=green)
        # what the commits weigh that are newer than each place
        newer = list(accumulate(self._weights(commits), initial=0.0))
        while (middle := self._testable_between(commits, red, green, newer)) is not None:
            if self._known[commits[middle]] is Verdict.PASS:
                green = middle
            else:
                red = middle
        adjacent = green - red == 1
        why = "" if adjacent else self._what_lies_between(green - red - 1)
        return Baseline(commits[green], commits[red], adjacent, why)

    def _weights(self, commits: Sequence[str]) -> list[float]:
        """How likely each of a chain of first parents, newest first, is to have turned the test red, with
        what it merged.
        """
        if not self._guilt:
            return [1.0] * len(commits)
        older = [*commits[1:], ""]
        return [
            self._guilt_of(self._brought(commit, parent))
            for commit, parent in zip(commits, older, strict=True)
        ]

    def _guilt_of(self, commits: Iterable[str]) -> float:
        """How likely one of them is to have turned the test red."""
        return sum(self._guilt.get(commit, 0.0) for commit in commits)

    def _brought(self, commit: str, parent: str) -> list[str]:
        """A commit, and what came with it where it is a merge: all that the one before it in the chain has not."""
        if not parent or len(_parents(self._repository, commit)) < 2:
            return [commit]
        return [str(each.id) for each in commits_of_range(self._repository, parent, commit)]

    def _testable_between(
        self, commits: Sequence[str], red: int, green: int, newer: Sequence[float]
    ) -> int | None:
        """A place near the middle that can be tested; None when there is none. In the middle as much weighs on one
        side as on the other.
        """
        for place in _outward(red, green, _middle(red, green, newer)):
            if self._verdict(commits[place]) is not Verdict.UNRESOLVED:
                return place
            if self._left <= 0:
                return None
        return None

    def _what_lies_between(self, count: int) -> str:
        why = "could not be tested" if self._left > 0 else "were not tested: the budget ran out"
        return f"{count} commits between them {why}"

    def _into_merge(self, found: Baseline) -> Baseline:
        """Where the first red commit merges a red branch, the regression came in on that branch: also where that
        was merged into what is green (a release's branch into the next release's).
        """
        if not found.adjacent:
            return found
        for parent in self._likeliest_parents(found):
            branch = [found.bad, *self._branch(parent, found.good)]
            self._left = max(self._left, 2 * len(branch).bit_length())
            inside = self._along_branch(branch, found.good)
            if inside.good and inside.bad != found.bad:
                return inside
        return found

    def _likeliest_parents(self, found: Baseline) -> list[str]:
        """The parents of a first red merge that came with it, the one first whose branch is likeliest."""

        def guilt(parent: str) -> float:
            branch = commits_of_range(self._repository, found.good, parent)
            return self._guilt_of(str(commit.id) for commit in branch)

        others = [each for each in _parents(self._repository, found.bad) if each != found.good]
        return sorted(others, key=guilt, reverse=True) if self._guilt else others

    def _along_branch(self, branch: Sequence[str], green: str) -> Baseline:
        """Search a red merge and a branch that it merged, newest first, down to the commit where that left.

        A commit that the ``green`` one came from is taken to be green, and asked only where all above it are red; what
        was before it is looked through where it is red, and not where it cannot be tested. Its tip is asked as any
        other commit is.
        """
        if not self._is_older(branch[-1], green):
            tip = branch[1]
            known = self._verdict(tip)
            return (
                self.along(iter(branch[1:]))
                if known is Verdict.FAIL
                else Baseline("", tip, adjacent=False)
            )
        inside = self._bisect(branch)
        if inside.good == branch[-1] and self._verdict(inside.good) is Verdict.FAIL:
            return self.along(first_parents(self._repository, inside.bad))
        return inside if inside.bad == branch[0] else self._into_merge(inside)

    def _is_older(self, commit: str, than: str) -> bool:
        return commit == than or self._repository.descendant_of(than, commit)

    def _branch(self, tip: str, trunk: str) -> Iterator[str]:
        """First parents of a merged branch, down to and with the first that ``trunk`` has too."""
        for commit in first_parents(self._repository, tip):
            yield commit
            if self._is_older(commit, trunk):
                return


def _middle(red: int, green: int, newer: Sequence[float]) -> int:
    """The place between two on either side of which about as much weighs: before or behind the commit in which half
    is reached; where nothing weighs anything, the middle.
    """
    half = (newer[red] + newer[green]) / 2
    if half == newer[red]:
        return (red + green) // 2
    reached = bisect_right(newer, half, red, green) - 1
    beside = (place for place in (reached, reached + 1) if red < place < green)
    return min(beside, key=lambda place: abs(newer[place] - half), default=red)


def _outward(red: int, green: int, middle: int) -> Iterator[int]:
    """The places between two: the middle and the one beside it, then those that cut off a quarter, an eighth, … of
    either half, then the rest, the nearest to the middle first. What cannot be tested mostly stands beside others
    that cannot, and asked one beside the other they were all that could be asked.
    """
    inside = range(red + 1, green)
    steps = [len(inside) >> power for power in range(2, len(inside).bit_length())]
    leaps = [middle, middle + 1, *(middle + way * step for step in steps for way in (-1, 1))]
    rest = sorted(inside, key=lambda place: abs(place - middle))
    return iter(dict.fromkeys([*(place for place in leaps if place in inside), *rest]))


def _leaping(count: int) -> Iterator[int]:
    """Places of what is sorted by how far it is from a middle, on both sides: as ``_outward``."""
    steps = [count >> power for power in range(1, count.bit_length())]
    leaps = [0, 1, *(step + side for step in steps for side in (0, 1))]
    return iter(dict.fromkeys([*(place for place in leaps if place < count), *range(count)]))


def commits_between(repository: pygit2.Repository, good: str, bad: str) -> int:
    """How many commits a range has, those of merged branches too; 0 where an end is no commit."""
    try:
        ends = resolve(repository, good), resolve(repository, bad)
        return sum(1 for _ in commits_of_range(repository, *ends))
    except (RepositoryError, pygit2.GitError):
        return 0  # a patch that is tried is no commit


def newest_of(repository: pygit2.Repository, commits: Sequence[str]) -> str:
    """The first of the commits from which none of the others comes."""
    return _foremost(commits, repository.descendant_of)


def oldest_of(repository: pygit2.Repository, commits: Sequence[str]) -> str:
    """The first of the commits that comes from none of the others."""
    return _foremost(commits, lambda one, other: repository.descendant_of(other, one))


def _foremost(commits: Sequence[str], is_beyond: Callable[[str, str], bool]) -> str:
    return next(
        each
        for each in commits
        if not any(is_beyond(other, each) for other in commits if other != each)
    )


def commits_of_range(repository: pygit2.Repository, good: str, bad: str) -> Iterator[pygit2.Commit]:
    """The commits that ``bad`` has and ``good`` has not, children before their parents."""
    walker = repository.walk(bad, SortMode.TOPOLOGICAL)
    walker.hide(good)
    return walker


def first_parents(repository: pygit2.Repository, commit: str) -> Iterator[str]:
    """A commit and its first parents, as far as the clone has them."""
    while True:
        yield commit
        parents = _parents(repository, commit)
        if not parents or parents[0] not in repository:
            return
        commit = parents[0]


def _parents(repository: pygit2.Repository, commit: str) -> list[str]:
    try:
        return [str(parent) for parent in repository[commit].peel(pygit2.Commit).parent_ids]
    except (KeyError, pygit2.GitError) as error:
        raise RepositoryError(f"The history cannot be read at {commit}: {error}.") from error


def _end_of_history(repository: pygit2.Repository) -> str:
    if repository.is_shallow:
        return "the clone is shallow and its history ends (git fetch --unshallow brings the rest)"
    return f"it fails {ALWAYS_RED}"
