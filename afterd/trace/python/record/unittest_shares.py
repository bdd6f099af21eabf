"""unittest: a process that counts runs its share of the suite."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

Anything = Any  # unittest's own, which is not imported on its account


def share_suites(
    share: Callable[[Sequence[Hashable]], range], announce: Callable[[int], None]
) -> None:
    """Make suites run those tests that ``share`` says, and announce how many that is."""
    plain: Anything = sys.modules["unittest.suite"].TestSuite
    original = plain.run

    def run(self: Anything, result: Anything, debug: bool = False) -> Anything:  # noqa: FBT001, FBT002 # its signature
        if getattr(result, "_testRunEntered", False):  # a suite within the one that is run
            return original(self, result, debug)
        tests = list(each(self))
        mine = share([str(type(test)) for test in tests])
        suite = self if len(mine) == len(tests) else plain(tests[at] for at in mine)
        announce(suite.countTestCases())
        return original(suite, result, debug)

    def each(test: Anything) -> Iterator[Anything]:
        """The tests of a suite; one that has its own way to run them stays whole."""
        if getattr(type(test), "run", None) is not run:
            yield test
            return
        for inner in test:
            yield from each(inner)

    plain.run = run
