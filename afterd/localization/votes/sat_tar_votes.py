"""SAT-TAR as a voter, and the tests that it made as files, whatever the language."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from afterd.errors import UsageError
from afterd.localization.votes.emitted import C, write_module, write_tests
from afterd.localization.votes.formula_programs import is_of_python, lacks_subjects
from afterd.localization.votes.generated_python import TestedPython, tested_python
from afterd.localization.votes.generated_tests import TestedProgram, tested_program
from afterd.localization.votes.votes import Counted, NoVoteError, Votes

Tested = TestedProgram | TestedPython

_NO_ORACLE = "a RANGE, whose good version says what a generated test should show"


@dataclass(frozen=True, slots=True)
class SatTarVoter:
    """Tarantula on generated tests, plus one for the lines of the unsatisfiable core."""

    def __call__(self, counted: Counted, /) -> Votes:
        """Vote by the ratings after the last round. Raises NoVoteError."""
        last = tested_rounds(counted).rounds[-1]
        ratings = {line: rating for line, rating in last.ratings.items() if rating[0] > 0}
        if not ratings:
            raise NoVoteError("The generated tests make no line suspicious.")
        return Votes(
            {line: suspicion for line, (suspicion, _) in ratings.items()},
            {line: confidence for line, (_, confidence) in ratings.items()},
        )

    def lacks(self, counted: Counted, /) -> str:
        """Something to run the program on, and something that says what it should show."""
        if is_of_python(counted) and counted.wanted is None:
            return _NO_ORACLE
        return lacks_subjects(counted)


def tested_rounds(counted: Counted) -> Tested:
    """SAT-TAR's rounds on a failed test, which are gone through once. Raises NoVoteError."""
    of_language = tested_python if is_of_python(counted) else tested_program
    return counted.memory.once("rounds", lambda: of_language(counted))


def emit(counted: Counted, directory: Path, form: str) -> str:
    """Write the generated tests, and say so. ``form`` may be left open. Raises NoVoteError, UsageError."""
    if not counted.spectrum.failed.any():
        return "No test failed: no tests were generated."
    if SatTarVoter().lacks(counted) == _NO_ORACLE:
        raise UsageError(f"Generating tests needs {_NO_ORACLE}.")
    made = tested_rounds(counted)
    if isinstance(made, TestedPython):
        if form == C:
            raise UsageError(
                "The tests of a Python suite are written for pytest; leave out --emit-form."
            )
        write_module(made.module(), directory)
        fail = sum(bool(trial.violated) for trial in made.kept)
    else:
        write_tests(made.kept, directory, form or C)
        fail = sum(not test.passes for test in made.kept)
    return f"{len(made.kept)} tests are in {directory}; {fail} of them fail on this version."
