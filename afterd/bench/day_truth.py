"""Is what the daemon said of a commit what the commit really did?

Nothing here asks afterd: what a version's tests do follows from how the version was made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from afterd.bench.day_project import State, causes, failing, flaky, hanging
from afterd.report.verdicts import VerdictKind


@dataclass(frozen=True, slots=True)
class Said:
    """A verdict: on ``test``, with the lines that its root puts in, and the commit it is compared with."""

    test: str
    kind: VerdictKind
    root: tuple[str, ...] = ()
    good: str = ""


@dataclass(frozen=True, slots=True)
class Tested:
    """A tested commit: its first parents that were tested before it, nearest first, and what was said.

    ``broken``: the dependency was. ``conclusive``: its tests ran to their end.
    """

    __test__ = False  # pytest collects classes named Test*
    commit: str
    before: Sequence[str]
    said: Sequence[Said]
    broken: bool = False
    conclusive: bool = True


def wrong_verdicts(tested: Tested, states: Mapping[str, State]) -> Iterator[str]:
    """What is wrong with what was said, as sentences; nothing where every verdict is right."""
    here = states[tested.commit]
    for said in tested.said:
        if why := _why_wrong(said, tested, states):
            yield f"{said.test}: {said.kind.value}, but {why}"
    if hanging(here) or not tested.conclusive:
        return  # of the others nothing was seen
    told = {said.test.rpartition(".")[2] for said in tested.said}
    for name in failing(here):
        if name not in told:
            yield f"{name} fails, and nothing is said of it"


def _why_wrong(said: Said, tested: Tested, states: Mapping[str, State]) -> str:
    here = states[tested.commit]
    guilty = _guilty(said.test, here, broken=tested.broken)
    if not guilty and not _is_flaky(said.test, here):
        return "it passes there"
    match said.kind:
        case VerdictKind.CAUSED:
            return _of_caused(said, here, states)
        case VerdictKind.ALREADY_RED:
            return _of_already_red(said, guilty, tested, states)
        case VerdictKind.FLAKY:
            return "" if _is_flaky(said.test, here) else "it fails each time"
        case VerdictKind.BROKEN:
            return "" if tested.broken and said.test.endswith("test_rate") else "it can be run"
        case VerdictKind.UNDETERMINED:
            return ""  # unknown is an answer


def _of_caused(said: Said, here: State, states: Mapping[str, State]) -> str:
    """Right where the root are guilty lines that the good commit does not have, and nothing else: also
    where they make a test flaky, and it happened to fail each time.
    """
    if said.good not in states:
        return f"it is compared with {said.good[:12] or 'nothing'}, which nobody made"
    before = _lines(said.test, states[said.good])
    new = _lines(said.test, here) - before
    if before and not new:
        return "it failed before"
    if not said.root or not set(said.root) <= new:
        return f"by {list(said.root)}, where {sorted(new)} did it"
    return ""


def _of_already_red(
    said: Said, guilty: frozenset[str], tested: Tested, states: Mapping[str, State]
) -> str:
    """Right where the nearest commit before it that was tested had it, or none was."""
    if tested.broken and not guilty - causes({}, said.test, broken=True):
        return ""  # no commit did it
    if not tested.before:
        return ""
    for commit in tested.before:
        then = states[commit]
        if not _is_seen(said.test, then) or (hanging(then) and not hanging(states[tested.commit])):
            continue  # it did not show there how it fails
        if _guilty(said.test, then) & guilty or _is_flaky(said.test, then):
            return ""
        return f"it passed at {commit[:12]}"
    return ""


def _is_seen(test: str, state: State) -> bool:
    """Whether a run shows anything of a test: where another one hangs, it may not have begun."""
    there = hanging(state)
    return not there or any(_is(test, number) for number in there) or not _is_one(test)


def _guilty(test: str, state: State, *, broken: bool = False) -> frozenset[str]:
    """What makes a test fail each time."""
    return frozenset() if _is_flaky(test, state) else _lines(test, state, broken=broken)


def _lines(test: str, state: State, *, broken: bool = False) -> frozenset[str]:
    """Lines to blame for a test's failure; of the suite as a whole, those that keep it from ending."""
    if _is_one(test):
        return causes(state, test, broken=broken)
    found = [causes(state, f"test_price_{number}") for number in hanging(state)]
    return frozenset().union(*found)


def _is_flaky(test: str, state: State) -> bool:
    return any(_is(test, number) for number in flaky(state))


def _is(test: str, number: int) -> bool:
    """Whether it is the test of this function."""
    return test.endswith(f"test_price_{number}")


def _is_one(test: str) -> bool:
    """Whether it is one test, and not the suite as a whole."""
    return test.rpartition(".")[2].startswith("test_")
