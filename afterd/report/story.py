"""The story of a failure: from the changes to the failed assertion, in at most a dozen lines.

The causal tree is read from its far end, in the order in which things happened: what the changed text
did on the values it met and what it would have done, where control or data went another way, how that
reached the failure. What only hands a value on is counted and not shown, and what was the same without
the changes is no part of it. Nothing is lost: ``--all``, HTML and JSON have every step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from afterd.limits import REPORT
from afterd.model.change import ChangeSet, in_order
from afterd.model.explanation import CauseNode, Evidence, Explanation, TreeStep
from afterd.report.failed_line import failed_line, is_said_by
from afterd.report.sanitize import one_line
from afterd.report.summary import Phrase, as_plain, listed
from afterd.report.told_step import VERDICTS, Told, altered_part, step_values

_REPAIRS = "; set to that here, the test passes"


def story(explanation: Explanation, most: int | None = REPORT.story) -> list[Told]:
    """What is told, the failure last; at most ``most`` lines as far as the changes leave room for it
    (None: every step that differs). Empty where there is no tree.
    """
    if explanation.tree is None:
        return []
    root = frozenset(change.id for change in explanation.root)
    without = "without it" if len(root) == 1 else "without them"
    steps = list(_in_order(explanation.tree))
    end = failed_line(explanation, explanation.tree, steps, without)
    steps = [step for step in steps if step.change or not is_said_by(step, end)]
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
            values = (
                (*step_values(step, without), _REPAIRS) if first else step_values(step, without)
            )
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
    """``through text.c:3, 7, main.c:12``: the whole way, as far as there is room; it stands under no file's heading."""
    places = list(dict.fromkeys((step.file, step.line) for step in carried))
    kept = REPORT.carried // 2
    if len(places) <= REPORT.carried:
        named = _named_places(places)
    else:
        first, last = _named_places(places[:kept]), _named_places(places[-kept:])
        named = f"{first}, {len(places) - 2 * kept} more, {last}"
    told = f"through {one_line(named)}"
    changed = listed(in_order(frozenset(step.change for step in carried) - {""}))
    return f"{told}, changed by {as_plain(changed)}" if changed else told


def _named_places(places: Sequence[tuple[str, int]]) -> str:
    """Places, a file named where it is another one than before."""
    found: list[str] = []
    before = ""
    for file, line in places:
        name = file.rpartition("/")[2]
        found.append(f"{line}" if file == before else f"{name}:{line}")
        before = file
    return ", ".join(found)


def _in_order(tree: CauseNode) -> Iterator[TreeStep]:
    """The steps as they happened, without recursion: causes before what they explain."""
    pending: list[CauseNode | TreeStep] = [tree]
    while pending:
        top = pending.pop()
        if isinstance(top, TreeStep):
            yield top
        else:
            pending += [*top.steps, *top.causes]


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
    return same and (step.observed not in VERDICTS or bool(step.target and before.target))


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
        decides = step.observed in VERDICTS and not step.target
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
    return gaps + sum(1 + bool(step_values(steps[number], "")) for number in kept)


def _told_step(step: TreeStep, values: Phrase, root: ChangeSet) -> Told:
    return Told(
        file=step.file,
        line=step.line,
        text=step.text.strip(),
        was=altered_part(step.text.strip(), step.was.strip()),
        values=values,
        evidence=step.evidence.value if not step.tested else Evidence.OBSERVED.value,
        tested=step.tested,
        change=step.change if step.change in root else "",
        whose=step.whose,
    )
