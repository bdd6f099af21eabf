"""What was killed from outside says nothing: it is made again, a few times, and the log says so.

The kernel kills what it likes when memory is short: a supervisor, the program under test, a compiler, a
solver. That is no property of the version that was tested. Of a program that kills itself each time it
is one, which is why the repetitions end.
"""

from __future__ import annotations

import logging
import re
from signal import SIGKILL

from afterd.errors import LostRunError
from afterd.execution.process import Ending, ProcessResult
from afterd.limits import ProcessLimits
from afterd.model.outcome import Outcome, Unresolved

LOG = logging.getLogger("afterd.lost")
"""Where each loss is written down; the daemon has it in the repository's log."""

PLACE = "place"
"""The attribute of a record that says in which directory something was lost."""

_TAIL = 1 << 16  # bytes of output
_BY_A_SHELL = 128 + SIGKILL
_TOOL_KILLED = re.compile(
    rb"^\S*make(?:\[\d+\])?: \*\*\* .*(?:\bKilled| 137)\s*$"  # make, of a command
    rb"|error: .*\b(?:Killed|SIGKILL)\b"  # gcc and clang, of their parts
    rb"|terminated with signal 9\b|\(signal: 9\b"  # the linker, Cargo
    rb"|^(?:\S+: line \d+: +\d+ )?Killed\b",  # a shell that goes on, of a program
    re.MULTILINE,
)


def killed_from_outside(result: ProcessResult) -> bool:
    """Whether the program that was started, or its supervisor, was killed by somebody else.

    What only the output speaks of is not enough: a test may print such words each time it fails.
    """
    return bool(_how_killed(result))


def how_lost(result: ProcessResult) -> str:
    """What was killed from outside, as the end of a sentence; empty where nothing was."""
    return _how_killed(result) or _how_a_tool_was(result)


def _how_killed(result: ProcessResult) -> str:
    if result.ending is Ending.LOST:
        return Ending.LOST.value
    if result.ending is Ending.SIGNALLED and result.signal == SIGKILL:
        return "it was killed"
    return "its program was killed" if result.status == _BY_A_SHELL else ""


def _how_a_tool_was(result: ProcessResult) -> str:
    if result.ending is not Ending.EXITED or result.status == 0:
        return ""
    outputs = (result.stdout, result.stderr)
    killed = any(_TOOL_KILLED.search(output.tail(_TAIL)) for output in outputs)
    return "a tool that it started was killed" if killed else ""


def refuse_lost(outcome: Outcome, what: str, limits: ProcessLimits) -> None:
    """Raise LostRunError where ``what``, the subject of the sentence, was lost each time it was made."""
    if outcome.reason is Unresolved.LOST:
        raise LostRunError(
            f"{what} was killed from outside {limits.repeats + 1} times in a row, so nothing is known of it; the"
            " kernel does that where memory is short."
        )


def tell_loss(what: str, why: str, number: int, most: int, place: str = "") -> None:
    """Write a loss down; ``what`` is the subject of the sentence."""
    plain = what.encode("unicode_escape").decode()
    words = "%s was lost (%s); it is made again, %d of at most %d times"
    LOG.warning(words, plain, why, number, most, extra={PLACE: place})
