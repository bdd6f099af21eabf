"""What running a test on a variant showed. Never a boolean."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """The three answers of the test oracle (Zeller's PASS, FAIL, UNRESOLVED)."""

    PASS = "pass"  # noqa: S105 - a verdict
    FAIL = "fail"
    UNRESOLVED = "unresolved"


class Unresolved(StrEnum):
    """Why a run is neither a pass nor *this* failure."""

    BUILD = "does not build"
    DIFFERENT_FAILURE = "a different failure"
    TIMEOUT = "time-out"
    KILLED = "killed"
    LOST = "killed from outside, each time it was made"
    OUTPUT = "too much output"
    UNTESTABLE = "the test says it cannot tell (exit status 125)"
    ABORTED = "the test command aborted (exit status 128 or more)"
    NOT_RUN = "not run: the budget is spent"
    FLAKY = "flaky"
    SILENT = "it passes, but prints nothing, where both versions' runs print something"


PRINTED_NOTHING = "it printed nothing"
"""The detail of a pass whose standard output was empty, and of which no runner says that it ran tests."""
BESIDE_ENDLESS = "it ended; what was run with it did not, within the time limit"
"""The detail of the outcome of one test of a run that was ended because of another."""


class FailureKind(StrEnum):
    """The kinds of failed assertion (design, section 4)."""

    ASSERTION = "assertion"
    EXCEPTION = "exception"
    CRASH = "crash"
    OUTPUT = "output"
    EXIT = "exit"
    RESULT = "result"  # what a call gave to code that was not followed, which judged it
    HANG = "hang"  # it did not end within its limit


@dataclass(frozen=True, slots=True)
class FailureSignature:
    """What makes two failures the same.

    ``message`` is normalised (no addresses, pids, temporary paths, line numbers); ``file`` and
    ``symbol`` say where, free of line numbers, so that a signature survives reverting a change
    above it; ``process`` is the base name of the program that failed; ``test`` the test's id;
    ``differing`` are digests, with spaces between, of the lines in which an output was not as expected,
    of both texts, where the test shows them and they are not too many.
    """

    kind: FailureKind
    message: str = ""
    file: str = ""
    symbol: str = ""
    process: str = ""
    test: str = ""
    differing: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer for one variant; ``seconds`` of build and test, ``cached`` when nothing was run.

    ``warm``: the test ran in a fork of a process that had its imports done, not in one of its own. ``cpu``:
    seconds of CPU that its build and its test took in a process of its own; 0: it was in none.
    """

    verdict: Verdict
    reason: Unresolved | None = None
    detail: str = ""
    signature: FailureSignature | None = None
    build_seconds: float = 0.0
    test_seconds: float = 0.0
    cached: bool = False
    warm: bool = False
    cpu: float = 0.0

    @property
    def passed(self) -> bool:
        """Only a PASS decides anything (AFTER, section II-B: the asymmetry)."""
        return self.verdict is Verdict.PASS

    @property
    def printed_nothing(self) -> bool:
        """Whether it passed without a word of its own or its runner's; of a warm process it is not known."""
        return self.passed and self.detail == PRINTED_NOTHING and not self.warm

    @property
    def hangs(self) -> bool:
        """Whether it failed by not ending within its limit."""
        return self.signature is not None and self.signature.kind is FailureKind.HANG

    @property
    def beside_endless(self) -> bool:
        """Whether it ended, and its run did not: because of another test in it."""
        return self.detail == BESIDE_ENDLESS

    @property
    def built(self) -> bool:
        """Whether the variant could be built (an auxiliary search is due when it could not)."""
        return self.reason is not Unresolved.BUILD
