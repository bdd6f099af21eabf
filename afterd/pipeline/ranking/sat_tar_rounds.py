"""SAT-TAR's rounds within what a ranking may spend, whatever the language of the program."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from afterd.localization.formula.sat_tar import Executed, Executes, Round, sat_tar
from afterd.localization.formula.subject import Subject
from afterd.logic.program_formula import Statement
from afterd.pipeline.ranking.interrupt import stopped_by_interrupt
from afterd.pipeline.ranking.votes import Counted

_SECONDS = 30.0
"""Of the solver's CPU time."""


def rounds_of(
    counted: Counted,
    subject: Subject,
    first: Executed,
    trials: Executes[Executed],
    suspect: Callable[[Statement], bool],
) -> Sequence[Round]:
    """The rounds on a failed test, until ``--rounds`` tests were made or the user stops it after one.

    Raises TooLargeError.
    """
    with stopped_by_interrupt() as go_on:
        return sat_tar(
            subject, first, trials, counted.memory.solver(_SECONDS), suspect,
            lambda done: go_on() and done.generated < counted.options.rounds,
        )  # fmt: skip
