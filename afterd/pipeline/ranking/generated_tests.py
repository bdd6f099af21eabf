"""Tests that SAT-TAR makes of a failed one: its ranking, and inputs that a project can keep.

What a test should show is what the good version shows; without a good version only the exit status
is known to have to be 0.
"""

from __future__ import annotations

from dataclasses import dataclass

from afterd.localization.formula.sat_tar import Round, sat_tar
from afterd.logic.program_formula import TooLargeError
from afterd.pipeline.ranking.failing_subjects import is_of_python, lacks_subjects
from afterd.pipeline.ranking.formula_programs import FailingInput, failing_inputs
from afterd.pipeline.ranking.interrupt import stopped_by_interrupt
from afterd.pipeline.ranking.memory import NoVoteError
from afterd.pipeline.ranking.votes import Counted, Votes
from afterd.tracing.program.refusal import NotFollowedError
from afterd.tracing.program.strings import printed
from afterd.tracing.program.trials import Trial, Trials
from afterd.tracing.program.world import Input

SECONDS = 30.0
"""Of the solver's CPU time."""


@dataclass(frozen=True, slots=True)
class GeneratedTest:
    """An input of ``program``, and what it should show; ``output`` is None where that is not known."""

    program: str
    given: Input
    output: bytes | None
    status: int
    passes: bool


def generated_tests(counted: Counted) -> list[GeneratedTest]:
    """The failed test's own input first, then those that SAT-TAR chose. Raises NoVoteError."""
    failing, rounds = tested(counted)
    made = (_expected(failing, trial) for trial in _runs(rounds))
    return [test for test in made if test is not None]


@dataclass(frozen=True, slots=True)
class SatTarVoter:
    """Tarantula on generated tests, plus one for the lines of the unsatisfiable core."""

    def __call__(self, counted: Counted, /) -> Votes:
        """Vote by the ratings after the last round. Raises NoVoteError."""
        _, rounds = tested(counted)
        ratings = {line: rating for line, rating in rounds[-1].ratings.items() if rating[0] > 0}
        if not ratings:
            raise NoVoteError("The generated tests make no line suspicious.")
        return Votes(
            {line: suspicion for line, (suspicion, _) in ratings.items()},
            {line: confidence for line, (_, confidence) in ratings.items()},
        )

    def lacks(self, counted: Counted, /) -> str:
        """Tests are generated for programs that can be executed from their IR."""
        if is_of_python(counted):
            return "a failed test that runs a C program"
        return lacks_subjects(counted)


def tested(counted: Counted) -> tuple[FailingInput, list[Round]]:
    """SAT-TAR's rounds on a failed test, which are gone through once. Raises NoVoteError."""
    return counted.memory.once("rounds", lambda: _tested(counted))


def _tested(counted: Counted) -> tuple[FailingInput, list[Round]]:
    (failing,) = failing_inputs(counted, 1)
    trials = Trials(failing.run, failing.good)
    first = trials.on(failing.run.given)
    if first is None:
        raise NoVoteError("No test can be generated: the good version cannot be followed.")
    try:
        with stopped_by_interrupt() as go_on:
            rounds = sat_tar(
                failing.run, first, trials, counted.memory.solver(SECONDS), failing.suspect,
                lambda done: go_on() and done.generated < counted.options.rounds,
            )  # fmt: skip
    except TooLargeError as refused:
        raise NoVoteError(f"No test can be generated: {refused}.") from refused
    return failing, rounds


def _runs(rounds: list[Round]) -> list[Trial]:
    return [run for run in rounds[-1].runs if isinstance(run, Trial)]


def _expected(failing: FailingInput, trial: Trial) -> GeneratedTest | None:
    """The test; None where what the good version prints is no text that repeats (an address)."""
    program = failing.invocation.argv[0]
    if failing.good is None:
        return GeneratedTest(program, trial.given, None, 0, not trial.failed)
    try:
        shown = failing.good.run(trial.given)
        output = b"".join(printed(event.what, event.values) for event in shown.events)
    except (NotFollowedError, TypeError, ValueError):
        return None
    if shown.status is None:
        return None
    return GeneratedTest(program, trial.given, output, shown.status, not trial.failed)
