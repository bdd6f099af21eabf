"""A step of a story as it is told: what it did, and what it did without the changes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from afterd.limits import REPORT
from afterd.model.explanation import EMPTY, NOT_EMPTY, CauseNode, TreeStep
from afterd.model.trace import ANOTHER_ITEM, NO_ITEM, NOT_EXECUTED, RAISES
from afterd.report.summary import Phrase, Quoted

_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
_NOTHING = "None"
"""What a statement that gives nothing is recorded with."""
_FACTS = frozenset({EMPTY, NOT_EMPTY})
VERDICTS = frozenset({"True", "False", "true", "false", ANOTHER_ITEM, NO_ITEM})
"""What a decision is shown as."""


@dataclass(frozen=True, slots=True)
class Told:
    """A step of the story, after ``carried`` steps that only hand a value on.

    ``was``: the part of the statement that the change altered, as it was. ``values`` says what it did
    and what it did without the changes; empty where the statement says it all. ``evidence``: how it is
    known; empty for the failure itself. ``tested``: given the value that it has without the changes, and
    nothing else altered, the test passes; said of the first such step. ``whose``: the change whose branch it is.
    """

    file: str
    line: int
    text: str
    was: str = ""
    values: Phrase = ()
    evidence: str = ""
    tested: bool = False
    change: str = ""
    whose: str = ""
    carried: tuple[TreeStep, ...] = ()

    @property
    def place(self) -> str:
        """File and line, as far as they are known."""
        return f"{self.file}:{self.line}" if self.line else self.file

    @property
    def mark(self) -> str:
        """The change that acts here, or whose branch it is; empty where neither is known."""
        return self.change or (f"by {self.whose}" if self.whose else "")

    @property
    def lines(self) -> int:
        """How many it takes."""
        return 1 + bool(self.values) + bool(self.carried)


def how_decided(cause: CauseNode) -> str:
    """Which way the decision that a cause explains went, as it is said behind its text; empty where that is not
    among the cause's steps.
    """
    at = (cause.file, cause.line)
    own = [step for step in cause.steps if (step.file, step.line) == at and not step.target]
    went = next((step.observed for step in own if step.observed in VERDICTS), "")
    if went in {ANOTHER_ITEM, NO_ITEM}:
        return f": {went}"
    return f" is {went.lower()}" if went else ""


def step_values(step: TreeStep, without: str) -> Phrase:
    """What a step did, and what it did without the changes."""
    if step.observed == _NOTHING and step.green == NOT_EXECUTED and not step.target:
        return (f"not run {without}",)
    if step.observed == NOT_EXECUTED:
        return (f"does not run; {without}, it does",)
    if not step.observed:
        return ()
    mine, other = values_beside(step.observed, step.green)
    said = _step_phrase(step, mine)
    also = (*said, "; ") if said else ()
    if step.green == NOT_EXECUTED:
        return (*also, f"not run {without}")
    if not step.green:
        return said
    if step.green == step.observed or not said or _ADDRESS.fullmatch(step.green):
        return (*also, f"another one {without}")
    if step.undone in _FACTS:
        return (*said, f"; {without} {step.undone}")
    is_verdict = step.computed or step.green in VERDICTS
    joined = " is " if is_verdict and not step.target else " = "
    undone = (Quoted(step.undone), joined) if step.undone else ()
    return (*said, f"; {without} ", *undone, Quoted(other))


def _step_phrase(step: TreeStep, mine: str) -> Phrase:
    """What a step did, whose value is shown as ``mine``; empty for an address, which tells nothing."""
    if _ADDRESS.fullmatch(step.observed):
        return ()
    if step.computed in _FACTS:
        return (step.computed,)
    if step.computed and not step.target:
        return (Quoted(step.computed), " is ", Quoted(mine))
    name = f"{step.target} = " if step.target else ""
    computed = f"{step.computed} = " if step.computed else ""
    return (Quoted(f"{name}{computed}{mine}"),)


def values_beside(mine: str, other: str) -> tuple[str, str]:
    """Two values, cut so that where they part can be seen; that both were raised is not cut off."""
    if mine.startswith(RAISES) and other.startswith(RAISES):
        raised = values_beside(mine.removeprefix(RAISES), other.removeprefix(RAISES))
        return RAISES + raised[0], RAISES + raised[1]
    room = REPORT.story_value
    if max(len(mine), len(other)) <= room:
        return mine, other
    parted = next(
        (place for place, (one, two) in enumerate(zip(mine, other, strict=False)) if one != two),
        min(len(mine), len(other)),
    )
    start = max(0, min(parted - room // 3, max(len(mine), len(other)) - room))
    return _cut_text(mine, start, room), _cut_text(other, start, room)


def _cut_text(text: str, start: int, room: int) -> str:
    head = "…" if start and len(text) > start else ""
    kept = text[start:] if head else text
    return head + (kept if len(kept) <= room else kept[: room - 1] + "…")


def altered_part(text: str, was: str) -> str:
    """What was written where ``text`` is another, from the first word that differs to the last one, and as much
    around it as there is room for, what follows first: a condition is read to its end.
    """
    if not was or len(was) <= REPORT.story_was:
        return was
    one, two = (re.findall(r"\w+|\s+|.", line) for line in (text, was))
    first = 0
    while first < min(len(one), len(two)) and one[first] == two[first]:
        first += 1
    last = 0
    while last < min(len(one), len(two)) - first and one[-1 - last] == two[-1 - last]:
        last += 1
    end, room = len(two) - last, REPORT.story_was - sum(map(len, two[first : len(two) - last]))
    while end < len(two) and len(two[end]) <= room:
        room -= len(two[end])
        end += 1
    while first and len(two[first - 1]) <= room:
        first -= 1
        room -= len(two[first])
    part = "".join(two[first:end]).strip().removeprefix(", ")
    shown = f"{'… ' if first else ''}{part}{' …' if end < len(two) else ''}"
    return _cut_text(shown, 0, REPORT.story_value)
