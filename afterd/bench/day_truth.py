"""Is what the daemon said of a commit what the commit really did?

Nothing here asks afterd: what a version's tests do follows from how the version was made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from afterd.bench.day_project import BUILD, Fault, Project, State
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


@dataclass(frozen=True, slots=True)
class Truth:
    """What each version of a project does: what stands in each commit of it."""

    project: Project
    states: Mapping[str, State]

    def wrong_verdicts(self, tested: Tested) -> Iterator[str]:
        """What is wrong with what was said, as sentences; nothing where every verdict is right."""
        here = self.states[tested.commit]
        for said in tested.said:
            if why := self._why_wrong(said, tested):
                yield f"{said.test}: {said.kind.value}, but {why}"
        told = {said.test.rpartition(".")[2] for said in tested.said}
        if self._hanging(here) and not self.project.causes(here, BUILD):
            if not any(self._tells_of_a_hang(said.test, here) for said in tested.said):
                yield "it does not end, and nothing is said of that"
            return  # of the others nothing was seen
        if not tested.conclusive and not self.project.causes(here, BUILD):
            return
        for name in self.project.failing(here):
            if name not in told:
                yield f"{name} fails, and nothing is said of it"

    def _tells_of_a_hang(self, test: str, state: State) -> bool:
        hanging = any(self._is(test, number) for number in self._hanging(state))
        return hanging or (test != BUILD and not _is_one(test))

    def _why_wrong(self, said: Said, tested: Tested) -> str:
        here = self.states[tested.commit]
        guilty = self._guilty(said.test, here, broken=tested.broken)
        if not guilty and not self._is_flaky(said.test, here):
            return "it passes there"
        match said.kind:
            case VerdictKind.CAUSED:
                return self._of_caused(said, here)
            case VerdictKind.ALREADY_RED:
                return self._of_already_red(said, guilty, tested)
            case VerdictKind.FLAKY:
                return "" if self._is_flaky(said.test, here) else "it fails each time"
            case VerdictKind.BROKEN:
                return "" if tested.broken and said.test.endswith("test_rate") else "it can be run"
            case VerdictKind.UNDETERMINED:
                return ""  # unknown is an answer

    def _of_caused(self, said: Said, here: State) -> str:
        """Right where the root are guilty lines that the good commit does not have, and nothing else: also
        where they make a test flaky, and it happened to fail each time.
        """
        if said.good not in self.states:
            return f"it is compared with {said.good[:12] or 'nothing'}, which nobody made"
        before = self.project.causes(self.states[said.good], said.test)
        new = self.project.causes(here, said.test) - before
        if before and not new:
            return "it failed before"
        if not said.root or not set(said.root) <= new:
            return f"by {list(said.root)}, where {sorted(new)} did it"
        return ""

    def _of_already_red(self, said: Said, guilty: frozenset[str], tested: Tested) -> str:
        """Right where the nearest commit before it that was tested had it, or none was."""
        if tested.broken and not guilty - self.project.causes({}, said.test, broken=True):
            return ""  # no commit did it
        if not tested.before:
            return ""
        here = self.states[tested.commit]
        for commit in tested.before:
            then = self.states[commit]
            if not self._is_seen(said.test, then) or (
                self._hanging(then) and not self._hanging(here)
            ):
                continue  # it did not show there how it fails
            if self._guilty(said.test, then) & guilty or self._is_flaky(said.test, then):
                return ""
            return f"it passed at {commit[:12]}"
        return ""

    def _is_seen(self, test: str, state: State) -> bool:
        """Whether a run shows anything of a test: where another one hangs, it may not have begun, and where
        the build fails, none did.
        """
        if test == BUILD:
            return True
        if self.project.causes(state, BUILD):
            return False
        there = self._hanging(state)
        return not there or any(self._is(test, number) for number in there) or not _is_one(test)

    def _guilty(self, test: str, state: State, *, broken: bool = False) -> frozenset[str]:
        """What makes a test fail each time."""
        if self._is_flaky(test, state):
            return frozenset()
        return self.project.causes(state, test, broken=broken)

    def _is_flaky(self, test: str, state: State) -> bool:
        return any(self._is(test, number) for number in self.project.having(state, Fault.FLAKY))

    def _hanging(self, state: State) -> list[int]:
        return self.project.having(state, Fault.HANGS)

    def _is(self, test: str, number: int) -> bool:
        """Whether it is the test of this function."""
        return test.rpartition(".")[2] == self.project.test_name(number)


def _is_one(test: str) -> bool:
    """Whether it is one test, and not the suite as a whole."""
    return test.rpartition(".")[2].startswith("test_")
