"""A change undone, as the lines a person would edit.

Long causes cut to what a person reads: where they begin, where they end, and each change.

A cause in a loop has hundreds of steps, and a changed statement may be among them hundreds of
times. Nothing is lost: the cut says how many steps it left out, and JSON has them all.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from afterd.limits import REPORT
from afterd.model.explanation import TreeStep

_HEADER = re.compile(r"@@ -(?P<old>\S+) \+(?P<new>\S+) @@")


def undone_patch(patch: str) -> str:
    """The hunks that take ``patch`` back: its two sides change places, removals still first.

    A patch without hunks (a mode change, a binary file) stays as it is described.
    """
    if not _HEADER.search(patch):
        return patch
    lines: list[str] = []
    removed: list[str] = []
    added: list[str] = []
    last = lines
    for line in patch.split("\n"):
        if line.startswith(("-", "+")):
            last = removed if line.startswith("-") else added
            last.append(("+" if last is removed else "-") + line[1:])
        elif line.startswith("\\"):  # "No newline at end of file": of the line before
            last.append(line)
        else:
            lines += [*added, *removed]
            added, removed = [], []
            lines.append(_HEADER.sub(r"@@ -\g<new> +\g<old> @@", line))
            last = lines
    return "\n".join([*lines, *added, *removed])


def without_tabs(lines: Sequence[str]) -> list[str]:
    """A patch's lines with spaces where their tabs would be, without the line ends of Windows where all have them;
    tabs stay (and are shown as escapes) where a removed and an added line differ in nothing else.
    """
    if all(line.endswith("\r") for line in lines if line):
        lines = [line.removesuffix("\r") for line in lines]
    removed, added = ({line[1:] for line in lines if line.startswith(side)} for side in "-+")
    alone, beside = (
        {text.expandtabs(REPORT.tab) for text in each}
        for each in (removed - added, added - removed)
    )
    if alone & beside:
        return list(lines)
    return [line[:1] + line[1:].expandtabs(REPORT.tab) for line in lines]


EDGE = REPORT.edge_steps


def merged_steps(steps: Sequence[TreeStep]) -> list[TreeStep]:
    """Neighbouring steps of one statement as one: a person reads it once, with all its values."""
    groups: list[list[TreeStep]] = []
    for step in steps:
        if groups and _same_instance(groups[-1], step):
            groups[-1].append(step)
        else:
            groups.append([step])
    return [_as_one(group) for group in groups]


def _same_instance(group: list[TreeStep], step: TreeStep) -> bool:
    """Whether one execution of a statement may have done all of it: it sets a name but once."""
    one = group[0]
    statement = (one.file, one.line, one.text, one.change, one.evidence)
    named = {known.target for known in group if known.target}
    return (
        statement == (step.file, step.line, step.text, step.change, step.evidence)
        and step.target not in named
        and (bool(step.target) or bool(named))
    )


def _as_one(steps: list[TreeStep]) -> TreeStep:
    """The values of what has a name; the values in between only where nothing has."""
    told = [step for step in steps if step.target] or steps[:1]
    if len(told) == 1:
        return told[0]
    observed, green = (", ".join(dict.fromkeys(named)) for named in _named_values(told))
    return replace(told[0], target="", observed=observed, green=green)


def _named_values(steps: list[TreeStep]) -> tuple[list[str], list[str]]:
    """``name = value`` in both runs; in the green one its reason where there is no value at all."""
    observed = [f"{step.target} = {step.observed}" for step in steps]
    if len({step.green for step in steps}) == 1 and steps[0].green != steps[0].observed:
        return observed, [steps[0].green]
    return observed, [f"{step.target} = {step.green}" if step.green else "" for step in steps]


def _only_carries(steps: Sequence[TreeStep], position: int) -> bool:
    """Whether a step has the values of the one it got them from, and is neither end of the cause."""
    if not 0 < position < len(steps) - 1:
        return False
    step, source = steps[position], steps[position + 1]
    same = (step.observed, step.green) == (source.observed, source.green)
    return same and bool(step.observed) and not step.change


def excerpt(steps: Sequence[TreeStep], edge: int | None) -> list[TreeStep | int]:
    """The steps to show in order; a number stands for that many left out, among them those that only
    hand on a value. ``None``: all.
    """
    if edge is not None:
        steps = merged_steps(steps)
    shown: list[TreeStep | int] = []
    times: Counter[tuple[str, str, int]] = Counter()
    for position, step in enumerate(steps):
        near = edge is None or position < edge or position >= len(steps) - edge
        kept = near and not (edge is not None and _only_carries(steps, position))
        if step.change and not kept:
            statement = (step.change, step.file, step.line)
            times[statement] += 1
            kept = times[statement] <= REPORT.repeats
        if kept:
            shown.append(step)
        elif shown and isinstance(shown[-1], int):
            shown[-1] += 1
        else:
            shown.append(1)
    return shown
