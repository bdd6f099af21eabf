"""Tests that SAT-TAR makes of a C program's failed one: inputs that a project can keep.

What a test should show is what the good version shows; without a good version only the exit status
is known to have to be 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from afterd.localization.formula.sat_tar import Round
from afterd.localization.votes.formula_programs import FailingInput, failing_inputs
from afterd.localization.votes.sat_tar_rounds import rounds_of
from afterd.localization.votes.votes import Counted, NoVoteError
from afterd.logic import TooLargeError
from afterd.symbolic import Input, NotFollowedError, Trial, Trials, printed_bytes


@dataclass(frozen=True, slots=True)
class GeneratedTest:
    """An input of ``program``, and what it should show; ``output`` is None where that is not known."""

    program: str
    given: Input
    output: bytes | None
    status: int
    passes: bool


@dataclass(frozen=True, slots=True)
class TestedProgram:
    """SAT-TAR's rounds on a failing input of a program."""

    failing: FailingInput
    rounds: Sequence[Round]

    @property
    def kept(self) -> list[GeneratedTest]:
        """The failed test's own input first, then those that SAT-TAR chose."""
        trials = (run for run in self.rounds[-1].runs if isinstance(run, Trial))
        made = (_expected(self.failing, trial) for trial in trials)
        return [test for test in made if test is not None]


def tested_program(counted: Counted) -> TestedProgram:
    """SAT-TAR's rounds on the first failed test that can be followed. Raises NoVoteError."""
    (failing,) = failing_inputs(counted, 1)
    trials = Trials(failing.run, failing.good)
    first = trials.on(failing.run.given)
    if first is None:
        raise NoVoteError("No test can be generated: the good version cannot be followed.")
    try:
        rounds = rounds_of(counted, failing.run, first, trials, failing.suspect)
    except TooLargeError as refused:
        raise NoVoteError(f"No test can be generated: {refused}.") from refused
    return TestedProgram(failing, rounds)


def _expected(failing: FailingInput, trial: Trial) -> GeneratedTest | None:
    """The test; None where what the good version prints is no text that repeats (an address)."""
    program = failing.invocation.argv[0]
    if failing.good is None:
        return GeneratedTest(program, trial.given, None, 0, not trial.failed)
    try:
        shown = failing.good.run(trial.given)
        output = b"".join(printed_bytes(event.what, event.values) for event in shown.events)
    except (NotFollowedError, TypeError, ValueError):
        return None
    if shown.status is None:
        return None
    return GeneratedTest(program, trial.given, output, shown.status, not trial.failed)
