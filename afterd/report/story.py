"""The story of a failure: from the changes to the failed assertion, in at most a dozen lines.

The causal tree is read from its far end, in the order in which things happened: what the changed text
did on the values it met and what it would have done, where control or data went another way, how that
reached the failure. What only hands a value on is counted and not shown, and what was the same without
the changes is no part of it. Nothing is lost: ``--all``, HTML and JSON have every step.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from afterd.limits import REPORT
from afterd.model.change import ChangeSet, in_order
from afterd.model.explanation import (
    EMPTY,
    NOT_EMPTY,
    CauseNode,
    Evidence,
    Explanation,
    TreeStep,
)
from afterd.model.trace import ANOTHER_ITEM, NO_ITEM, NOT_EXECUTED, RAISES
from afterd.report.sanitize import one_line
from afterd.report.summary import Phrase, Quoted, as_plain, listed

_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
_WORD = re.compile(r"\w")
_REPAIRS = "; set to that here, the test passes"
_FACTS = frozenset({EMPTY, NOT_EMPTY})
_VERDICTS = frozenset({"True", "False", "true", "false", ANOTHER_ITEM, NO_ITEM})


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


def story(explanation: Explanation, most: int | None = REPORT.story) -> list[Told]:
    """What is told, the failure last; at most ``most`` lines as far as the changes leave room for it
    (None: every step that differs). Empty where there is no tree.
    """
    if explanation.tree is None:
        return []
    root = frozenset(change.id for change in explanation.root)
    without = "without it" if len(root) == 1 else "without them"
    steps = list(_in_order(explanation.tree))
    end = _end(explanation, explanation.tree)
    end = _with_what_was_raised(end, steps, without)
    steps = [step for step in steps if step.change or not _is_said_by(step, end)]
    steps = steps if most is None else _last_of_each_statement(steps)
    shown = [_is_told(step) for step in steps]
    if most is not None:
        _without_carriers(steps, shown)
        _shortened_steps(steps, shown, most - end.lines)
    told: list[Told] = []
    carried: list[TreeStep] = []
    for step, chosen in zip(steps, shown, strict=True):
        if chosen:
            first = step.tested and not any(before.tested for before in told)
            values = (*_values(step, without), _REPAIRS) if first else _values(step, without)
            between = carried if told or any(one.change for one in carried) else []
            told.append(replace(_told_step(step, values, root), carried=tuple(between)))
            carried = []
        else:
            carried.append(step)
    return _ended(_joined_tellings(told), replace(end, carried=tuple(carried)))


def _ended(told: list[Told], end: Told) -> list[Told]:
    """With the failure behind its steps; a change at the failed statement itself is told with it."""
    last = told[-1] if told else None
    if last is None or end.carried or (last.place, last.text) != (end.place, end.text.strip()):
        return [*told, end]
    values, tested = end.values or last.values, last.tested
    values = (*values, _REPAIRS) if tested and values is not last.values else values
    return [*told[:-1], replace(last, values=values)]


def _with_what_was_raised(end: Told, steps: Sequence[TreeStep], without: str) -> Told:
    """The failure, where its statement raised beside what the statement did without the changes."""
    for step in steps:
        if (
            end.values
            and _is_said_by(step, end)
            and step.observed.startswith(RAISES)
            and step.green
        ):
            if step.green == NOT_EXECUTED:
                return replace(end, values=(*end.values, f"; not run {without}"))
            return replace(end, values=(*end.values, f"; {without} ", Quoted(step.green)))
    return end


def _joined_tellings(told: Sequence[Told]) -> list[Told]:
    """What several changes did at one step, said once, with all their names."""
    found: list[Told] = []
    for step in told:
        last = found[-1] if found else None
        if last is not None and last.change and step.change and _is_same_truth(last, step):
            changes = f"{last.change}, {step.change}"
            found[-1] = replace(last, change=changes, was=last.was or step.was)
        else:
            found.append(step)
    return found


def _is_same_truth(one: Told, next_one: Told) -> bool:
    same = (one.place, one.text, as_plain(one.values).removesuffix(_REPAIRS)) == (
        next_one.place,
        next_one.text,
        as_plain(next_one.values),
    )
    return same and not next_one.carried


def carried_words(carried: Sequence[TreeStep]) -> str:
    """``through 6 steps of text.c``."""
    files = list(dict.fromkeys(step.file.rpartition("/")[2] for step in carried))
    named = ", ".join(files[:2]) + (" and others" if len(files) > 2 else "")
    told = f"through {len(carried)} step{'' if len(carried) == 1 else 's'} of {one_line(named)}"
    changed = listed(in_order(frozenset(step.change for step in carried) - {""}))
    return f"{told}, changed by {as_plain(changed)}" if changed else told


def _in_order(tree: CauseNode) -> Iterator[TreeStep]:
    """The steps as they happened, without recursion: causes before what they explain."""
    pending: list[CauseNode | TreeStep] = [tree]
    while pending:
        top = pending.pop()
        if isinstance(top, TreeStep):
            yield top
        else:
            pending += [*top.steps, *top.causes]


def _end(explanation: Explanation, tree: CauseNode) -> Told:
    """The failed assertion: where, which statement, and its two values."""
    failure = explanation.failure
    if failure is None:
        return Told(tree.file, tree.line, tree.predicate)
    if not failure.file:
        told = Told(tree.file, tree.line, tree.predicate)
    else:
        here = (failure.file, failure.line) == (tree.file, tree.line)
        text = tree.predicate if here else ""
        text = text if _WORD.search(text) else failure.message.split("\n")[0]
        told = Told(failure.file, failure.line, text)
    if failure.observed and failure.expected and failure.observed != failure.expected:
        mine, other = values_beside(failure.observed, failure.expected)
        return replace(told, values=(Quoted(mine), " where ", Quoted(other), " was expected"))
    if failure.observed and not failure.expected:
        return replace(told, values=(Quoted(values_beside(failure.observed, "")[0]),))
    message = failure.message.split("\n")[0].removeprefix(told.text).strip()
    return replace(told, values=(Quoted(message),) if message else ())


def _is_said_by(step: TreeStep, end: Told) -> bool:
    return (step.file, step.line) == (end.file, end.line)


def _is_told(step: TreeStep) -> bool:
    return bool(step.change) or step.observed != step.green


def _last_of_each_statement(steps: Sequence[TreeStep]) -> list[TreeStep]:
    """Without what a statement did on the way to what it gave: the target of a comprehension, an argument."""
    found: list[TreeStep] = []
    for step in steps:
        if found and _is_on_the_way(found[-1], step):
            found.pop()
        if not found or not _is_said_again(found[-1], step):
            found.append(step)
    return found


def _is_said_again(before: TreeStep, step: TreeStep) -> bool:
    """Whether a step is the same as the one before, of which more is known."""
    known = replace(step, evidence=before.evidence, tested=before.tested, whose=before.whose)
    return before == replace(known, change=step.change or before.change, was=before.was)


def _is_on_the_way(before: TreeStep, step: TreeStep) -> bool:
    same = (before.file, before.line, before.text) == (step.file, step.line, step.text)
    told = before.tested or before.change not in {"", step.change} or not _is_told(step)
    return same and not told


def _without_carriers(steps: Sequence[TreeStep], shown: list[bool]) -> None:
    """Leave out steps with the values of the one before: it was only handed on."""
    before: TreeStep | None = None
    for number, step in enumerate(steps):
        if before is not None and not step.change and _hands_on(step, before):
            shown[number] = False
        if step.observed != step.green:
            before = step


def _hands_on(step: TreeStep, before: TreeStep) -> bool:
    """Whether a step has the values of the one before, and no reason of its own for them: a condition that is
    as true as another one may be another fact.
    """
    same = (step.observed, step.green) == (before.observed, before.green)
    return same and (step.observed not in _VERDICTS or bool(step.target and before.target))


def _shortened_steps(steps: Sequence[TreeStep], shown: list[bool], room: int) -> None:
    """Keep what tells most, in at most ``room`` lines: the changes, what is next to one or to the end, the
    first step that was seen to carry the failure, decisions, and of equals what is nearer to the
    failure. One step is kept however narrow it is.
    """
    chosen = [number for number, kept in enumerate(shown) if kept]
    next_to_one = {later for number, later in pairwise(chosen) if steps[number].change} | set(
        chosen[-1:]
    )

    carrier = next((number for number in chosen if steps[number].tested), None)

    def importance(number: int) -> tuple[int, int]:
        step = steps[number]
        decides = step.observed in _VERDICTS and not step.target
        near = number in next_to_one or number == carrier
        rank = 3 if step.change else 2 if near else 1 if decides else 0
        return rank, number

    kept: list[int] = []
    for number in sorted(chosen, key=importance, reverse=True):
        wider = sorted([*kept, number])
        if kept and _height(steps, wider) > room:
            break
        kept = wider
    left_out = set(chosen) - set(kept)
    for number in left_out:
        shown[number] = False


def _height(steps: Sequence[TreeStep], kept: Sequence[int]) -> int:
    """How many lines some steps take, with one for each gap between them and at either end."""
    ends = zip([-1, *kept], [*kept, len(steps)], strict=True)
    gaps = sum(later > number + 1 for number, later in ends)
    return gaps + sum(1 + bool(_values(steps[number], "")) for number in kept)


def _told_step(step: TreeStep, values: Phrase, root: ChangeSet) -> Told:
    return Told(
        file=step.file,
        line=step.line,
        text=step.text.strip(),
        was=_altered_part(step.text.strip(), step.was.strip()),
        values=values,
        evidence=step.evidence.value if not step.tested else Evidence.OBSERVED.value,
        tested=step.tested,
        change=step.change if step.change in root else "",
        whose=step.whose,
    )


def _values(step: TreeStep, without: str) -> Phrase:
    """What a step did, and what it did without the changes."""
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
    joined = " is " if step.computed and not step.target else " = "
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
    """Two values, cut so that where they part can be seen."""
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


def _altered_part(text: str, was: str) -> str:
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
