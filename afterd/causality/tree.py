"""The causal tree: causes as nodes, critical predicates as edges, changes marked where they enter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from afterd.causality.cause import Cause, Link
from afterd.model.change import ChangeSet
from afterd.model.explanation import CauseNode, Evidence, TreeStep
from afterd.model.trace import Step

_LONGEST = 40
"""Steps shown of one cause; the changed ones and the nearest are kept."""


def causal_tree(links: Sequence[Link], root: ChangeSet) -> CauseNode | None:
    """The tree of the causes that lead to the root; of the first failed assertion where none does."""
    below: dict[int | None, list[int]] = defaultdict(list)
    for number, link in enumerate(links):
        below[link.parent].append(number)
    leading = {number for number, link in enumerate(links) if _changes(link.cause) & root}
    for number in sorted(leading, reverse=True):
        parent = links[number].parent
        while parent is not None and parent not in leading:
            leading.add(parent)
            parent = links[parent].parent
    tops = [number for number in below[None] if number in leading] or below[None][:1]
    return _node(tops[0], links, below, leading, root) if tops else None


def _changes(cause: Cause) -> ChangeSet:
    return frozenset(change for step in cause.steps for change in step.changes)


def _node(number: int, links: Sequence[Link], below: dict[int | None, list[int]], leading: set[int], root: ChangeSet) -> CauseNode:
    link = links[number]
    cause = link.cause
    head = cause.steps[0].location if cause.steps else None
    children = tuple(
        _node(child, links, below, leading, root) for child in below[number] if child in leading
    )
    return CauseNode(
        predicate=cause.predicate.text or cause.predicate.message,
        file=head.file if head else "",
        line=head.line if head else 0,
        steps=tuple(_shown(step, cause, root) for step in _kept(cause, root)),
        causes=children,
        evidence=link.evidence,
    )


def _kept(cause: Cause, root: ChangeSet) -> list[Step]:
    """Located steps, repetitions of a line with the same value folded, the root's always among them."""
    seen: set[tuple[str, int, str, str]] = set()
    kept: list[Step] = []
    for step in cause.steps:
        key = (step.location.file, step.location.line, step.target, step.rendered)
        if step.location.file and key not in seen:
            seen.add(key)
            kept.append(step)
    marked = [step for step in kept[_LONGEST:] if set(step.changes) & root]
    return [*kept[:_LONGEST], *marked]


def _shown(step: Step, cause: Cause, root: ChangeSet) -> TreeStep:
    guilty = [change for change in step.changes if change in root]
    return TreeStep(
        file=step.location.file,
        line=step.location.line,
        text=step.text,
        target=step.target,
        observed=step.rendered,
        green=step.green.rendered,
        change=(guilty or list(step.changes) or [""])[0],
        evidence=Evidence.OBSERVED if guilty else cause.evidence,
    )
