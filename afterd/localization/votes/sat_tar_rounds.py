"""SAT-TAR's rounds within what a ranking may spend, whatever the language of the program.

Ctrl-C as the user's word that it is enough: what was found until then is the answer.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from afterd.localization.formula.sat_tar import Executed, Executes, Round, sat_tar
from afterd.localization.formula.subject import Subject
from afterd.localization.votes.votes import Counted
from afterd.logic import Statement

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


@contextmanager
def stopped_by_interrupt() -> Iterator[Callable[[], bool]]:
    """Whether to go on; a second Ctrl-C interrupts as ever. Elsewhere than in the main thread: always."""
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield lambda: True
        return
    before = signal.getsignal(signal.SIGINT)

    def stop(number: int, frame: FrameType | None) -> None:
        del number, frame
        asked.set()
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, stop)
    try:
        yield lambda: not asked.is_set()
    finally:
        signal.signal(signal.SIGINT, before)
