"""Changes by the commits that made them: with what came before a commit the test was still green."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from math import log2, sqrt
from types import MappingProxyType

from afterd.causality.deltas.dependencies import Changes
from afterd.model.change import NOTHING, ChangeId, ChangeSet, FileKind
from afterd.weights import ODDS, RUNS


def made_after(commits: Sequence[str], changes: Changes, root: ChangeSet) -> ChangeSet:
    """What commits changed that came after each change of a root; nothing where one's commit is not known.

    Tests are left out: a test that asks for more now did not break what it asks for.
    """
    places = _places(commits, changes)
    if not root or not root <= places.keys():
        return NOTHING
    newest = max(places[change][-1] for change in root)
    return _without_tests(changes, (each for each, own in places.items() if own[-1] > newest))


def made_before(commits: Sequence[str], changes: Changes, root: ChangeSet) -> ChangeSet:
    """Other changes than a root's, that a commit had a hand in which came before all of the root's commits; nothing
    where one's commit is not known. Tests are left out.
    """
    places = _places(commits, changes)
    if not root or not root <= places.keys():
        return NOTHING
    oldest = min(places[change][0] for change in root)
    return _without_tests(changes, (each for each, own in places.items() if own[0] < oldest))


def newest_commit(commits: Sequence[str], changes: Changes, root: ChangeSet) -> str:
    """The commit with which all of a root was there; empty where one's commit is not known."""
    places = _places(commits, changes)
    if not root or not root <= places.keys():
        return ""
    return commits[max(places[change][-1] for change in root)]


def oldest_commit(commits: Sequence[str], changes: Changes, root: ChangeSet) -> str:
    """The commit before which nothing of a root was there; empty where one's commit is not known."""
    places = _places(commits, changes)
    if not root or not root <= places.keys():
        return ""
    return commits[min(places[change][0] for change in root)]


def commit_guilt(
    commits: Sequence[str],
    changes: Changes,
    guilt: Mapping[ChangeId, float],
    executed: ChangeSet,
    similarity: Mapping[ChangeId, float] = MappingProxyType({}),
) -> dict[str, float]:
    """How likely each commit is to have turned the test red; the sum is 1.

    What is likely of a change goes to the commits that made it. What is then left (``guilt`` sums to less than 1)
    is the others': most of it those' that changed what the failing run executed, however few they are, and among
    them by the ``similarity`` of their changes' texts to the test's.
    """
    known = frozenset(commits)
    ran = known.intersection(
        name for change in executed & changes.keys() for name in changes[change].commits
    )
    idle = known - ran
    shares = {True: ODDS.ran if idle else 1.0, False: 1.0 - ODDS.ran if ran else 1.0}
    drawn = _drawn_by_text(commits, changes, similarity)
    whole = {True: sum(drawn[name] for name in ran), False: sum(drawn[name] for name in idle)}
    rest = {name: shares[name in ran] * drawn[name] / whole[name in ran] for name in commits}
    left = max(0.0, 1.0 - sum(guilt.values()))
    likely = {name: left * weight for name, weight in rest.items()}
    for change, chance in guilt.items():
        makers = [name for name in changes[change].commits if name in known]
        for name in makers:
            likely[name] += chance / len(makers)
    total = sum(likely.values())
    return {name: chance / total for name, chance in likely.items()} if total else rest


def _drawn_by_text(
    commits: Sequence[str], changes: Changes, similarity: Mapping[ChangeId, float]
) -> dict[str, float]:
    """What each commit's texts speak for its guilt, beside the other commits': the odds of its changes, of which many
    count less than each by itself (the root of their number fits best, see ``weights``); a commit of which nothing is
    left in the range's two ends as little as the least.
    """
    odds: dict[str, list[float]] = {}
    for change in changes.values() if similarity else ():
        for name in change.commits:
            odds.setdefault(name, []).append(ODDS.similar ** similarity.get(change.id, 0.0))
    drawn = {name: sum(each) / sqrt(len(each)) for name, each in odds.items()}
    least = min(drawn.values(), default=1.0)
    return {name: drawn.get(name, least) for name in commits}


def uncertainty(guilt: Mapping[str, float]) -> float:
    """In bits: as many runs of commits' versions tell which it is, or a few more (Shannon)."""
    return -sum(chance * log2(chance) for chance in guilt.values() if chance > 0.0)


def commit_to_undo(
    guilt: Mapping[str, float], candidates: Container[str], tried: Container[str]
) -> str:
    """The likeliest commit whose changes are not yet ``tried``, where undoing them is hoped to save more runs than it
    takes; else empty.

    Where it passes, no run is needed to bisect the commits, nor to undo what the one that they tell changed. Where it
    does not, that speaks against the commit, as half of a rewrite may fail otherwise though it is guilty.
    """
    doubt = 1.0 - RUNS.commit_undone
    left = {name: chance * (doubt if name in tried else 1.0) for name, chance in guilt.items()}
    total = sum(left.values()) or 1.0
    left = {name: chance / total for name, chance in left.items()}
    untried = (name for name in left if name in candidates and name not in tried)
    likeliest = max(untried, key=lambda name: left[name], default="")
    if not likeliest:
        return ""
    saved = left[likeliest] * RUNS.commit_undone * (uncertainty(left) + 1.0)
    return likeliest if saved > 1.0 else ""


def _places(commits: Sequence[str], changes: Changes) -> dict[ChangeId, list[int]]:
    """Which of the commits, oldest first, had a hand in each change, where any is known."""
    order = {commit: place for place, commit in enumerate(commits)}
    known = {
        change.id: sorted(order[commit] for commit in change.commits if commit in order)
        for change in changes.values()
    }
    return {change: places for change, places in known.items() if places}


def _without_tests(changes: Changes, among: Iterable[ChangeId]) -> ChangeSet:
    return frozenset(each for each in among if changes[each].kind is not FileKind.TEST)
