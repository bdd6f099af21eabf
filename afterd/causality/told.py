"""A step of a story as it is shown: what it computed, and what it did with the root undone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from afterd.causality.infection import is_infected, is_settled
from afterd.limits import STORY
from afterd.logic import infix
from afterd.model.change import Change
from afterd.model.explanation import Evidence, TreeStep
from afterd.model.trace import NOT_EXECUTED, Alignment, Step, TwinExecution
from afterd.trace.linemap import one_line_of

_SAYS_SOMETHING = re.compile(r"(?!#\s|//|/\*|\*\s).*\w")


class Telling:
    """Tells the steps of the failing run beside its twin."""

    def __init__(self, execution: TwinExecution) -> None:
        self._execution = execution

    def step(
        self, step: Step, *, proved: bool, tested: bool = False, change: Change | None = None
    ) -> TreeStep:
        """The step; ``change`` acts there, ``proved`` says that it is in a minimal core, and ``tested``
        that the test passes when it is given what it had in the twin.
        """
        absent = step.green.alignment is Alignment.ABSENT
        own = change is not None and change.id in step.changes
        old = was(change, step.text) if change is not None and own else ""
        alike = bool(old) and _makes_one_alike(step)
        known = Evidence.OBSERVED if alike or is_infected(step) else Evidence.INFERRED
        computed = infix(step.term)
        twin = None if absent else self._execution.counterpart(step.id)
        undone = "" if twin is None else infix(twin)
        return TreeStep(
            file=step.location.file,
            line=step.location.line,
            text=step.text,
            target=step.target,
            observed="" if alike else step.rendered,
            green="" if alike else step.green.shown,
            change=change.id if change is not None else "",
            evidence=Evidence.PROVED if proved else known,
            tested=tested,
            was=old,
            computed=computed if computed != undone else "",
            undone=undone if computed != undone else "",
        )


def _makes_one_alike(step: Step) -> bool:
    """Whether a step makes an object that looks like the twin's, as a function of other parameters does, or a
    file that is opened with another encoding.

    Both runs made it here; where its text is another one, that tells it, and the two values tell nothing.
    """
    return not is_settled(step) and step.rendered == step.green.shown != ""


def was(change: Change, text: str) -> str:
    """The statement that ``text`` was before the change; empty where it was none, or another one: of a
    rewritten block the line that is most like it may be what a neighbour was.
    """
    old = [line for line in _stripped_lines(change, "-") if line]
    if not old:
        return ""
    part = one_line_of(_stripped_lines(change, "+"))
    if part and part != text and part in text:  # some lines of a longer statement
        return text.replace(part, one_line_of(old), 1)
    best = max(old, key=lambda line: _likeness(line, text))
    closest = max((_likeness(best, line) for line in _stripped_lines(change, "+")), default=0.0)
    likeness = _likeness(best, text)
    return best if best != text and likeness >= max(STORY.alike, closest) else ""


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


def _stripped_lines(change: Change, sign: str) -> list[str]:
    """Its lines without their indentation."""
    return [line.strip() for line in change.lines(sign)]


def not_run(change: Change, missed: Step) -> TreeStep:
    """What a change kept from running: ``missed`` is a step of the run with the root undone."""
    return TreeStep(
        file=change.file,
        line=change.new.start or change.old.start,
        text=missed.text,
        target=missed.target,
        observed=NOT_EXECUTED,
        green=missed.rendered or "executed",
        change=change.id,
        evidence=Evidence.OBSERVED,
    )


def not_linked(change: Change) -> TreeStep:
    """A guilty change to which no way was found: its first statement, at the line on which that begins."""
    new, old = _stripped_lines(change, "+"), _stripped_lines(change, "-")
    lines = new or old
    first = _first_statement(lines)
    start = change.new.start or change.old.start
    return TreeStep(
        file=change.file,
        line=start + first.start if new else start,
        text=_quoted(lines[first]),
        change=change.id,
        was=_quoted(old[_first_statement(old)]) if new else "",
        evidence=Evidence.INFERRED,
    )


def _quoted(statement: Sequence[str]) -> str:
    """A statement on one line; a macro begins like a comment."""
    return one_line_of(statement) or " ".join(statement)


def _first_statement(lines: Sequence[str]) -> slice:
    """The lines of the first statement that says something: no comment, no bracket alone, and all that
    its brackets hold.
    """
    first = next((n for n, line in enumerate(lines) if _SAYS_SOMETHING.match(line)), 0)
    depth = 0
    for last, line in enumerate(lines[first:], start=first):
        depth += sum(map(line.count, "([{")) - sum(map(line.count, ")]}"))
        if depth <= 0:
            return slice(first, last + 1)
    return slice(first, len(lines))
