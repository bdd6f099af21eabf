"""Changes of test files in an answer are no causes: they go along, or what was seen is no repair.

Where neither version passes with the other's tests these take part in the search (``older_tests``). Then a set passes
too in which the failing test is gone, or is the old one again, and of a program that moved with its tests the smallest
set has both. So of an answer the program's changes are the causes; and where it is not known which changes are of the
failing test's own text, those that the answer undoes must leave the failure as it was when they are undone alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from afterd.execution.signature import is_not_compiled
from afterd.limits import REPORT
from afterd.model.change import NOTHING, Change, ChangeId, ChangeSet, FileKind, in_order
from afterd.model.outcome import Outcome, Unresolved, Verdict
from afterd.model.wording import first_names

_TESTS_ALONE = (
    "With nothing but test files undone ({}) the test passes: it is the test that changed, and nothing of the program"
    " was seen to break it."
)
_MAY_BE_GONE = (
    "The test was seen to pass only with test files undone as well ({}), and with {} of them undone and nothing else it"
    " {}: the failing test may be gone then, not repaired. What of the program broke it is not told."
)


@dataclass(frozen=True, slots=True)
class Repair:
    """The changes of an answer: its causes and what goes along. ``reason``, where it is not empty: why it is none."""

    root: ChangeSet
    auxiliary: ChangeSet
    reason: str = ""


@dataclass(frozen=True, slots=True)
class UndoneTests:
    """Judges what an answer undoes of the tests. ``changes`` are those that were searched, ``own`` those of the failing
    test's own text, None where it is not known which these are; ``outcome`` has what misses a definition as not built.
    """

    changes: Mapping[ChangeId, Change]
    own: ChangeSet | None
    outcome: Callable[[ChangeSet], Outcome]

    def repair(self, root: ChangeSet, auxiliary: ChangeSet) -> Repair:
        """The answer with the program's changes as its causes, or why it is none."""
        whole = root | auxiliary
        tests = frozenset(each for each in whole if self._is_test(each))
        program = whole - tests
        if not tests or self._is_of_a_helper(tests, program):
            return Repair(root, auxiliary)
        if not program:
            return Repair(root, auxiliary, _TESTS_ALONE.format(self._named(tests)))
        causes = root - tests or self._needed_for_itself(program, whole)
        return Repair(causes, whole - causes, self._doubt(tests))

    def _is_test(self, change: ChangeId) -> bool:
        return change in self.changes and self.changes[change].kind is FileKind.TEST

    def _is_of_a_helper(self, tests: ChangeSet, program: ChangeSet) -> bool:
        """Whether what the failing test uses broke it, and its own text stays."""
        return not program and self.own is not None and not tests & self.own

    def _needed_for_itself(self, program: ChangeSet, whole: ChangeSet) -> ChangeSet:
        """What is undone of the program, but for that without which the rest is not built; all where that is all."""
        return (
            frozenset(each for each in program if _built(self.outcome(whole - {each}))) or program
        )

    def _doubt(self, tests: ChangeSet) -> str:
        """Why the failing test may be gone with these changes of tests; empty where it is not: it fails as ever without
        them, or without as many of them as the program can be built without.
        """
        if self.own is not None and not tests & self.own:
            return ""
        if self.outcome(tests).verdict is Verdict.FAIL:
            return ""
        undone = NOTHING
        for change in in_order(tests):
            seen = self.outcome(undone | {change})
            if seen.verdict is Verdict.FAIL:
                undone |= {change}
            elif _built(seen) and seen.reason not in (Unresolved.NOT_RUN, Unresolved.LOST):
                how = "passes too" if seen.passed else "fails otherwise"
                return _MAY_BE_GONE.format(self._named(tests), change, how)
        return ""

    def _named(self, changes: ChangeSet) -> str:
        listed = [f"{each} in {self.changes[each].file}" for each in in_order(changes)]
        return first_names(listed, REPORT.named)


def _built(seen: Outcome) -> bool:
    """Whether a variant was built: a test command that builds by itself says so only in what it prints."""
    return seen.built and not is_not_compiled(seen.signature)
