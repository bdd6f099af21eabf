"""The causal tree: causes as nodes, critical predicates as edges, changes marked where they enter.

Only causes that lead to the root are kept, and the failed assertion's own cause always: it says
what failed. Where no cause leads to the root, the tree is that one node.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from afterd.causality.cause import Cause, Link
from afterd.limits import SEARCH
from afterd.model.change import ChangeId, ChangeSet
from afterd.model.explanation import CauseNode, Evidence, TreeStep
from afterd.model.trace import Step

Acting = Mapping[int, Sequence[ChangeId]]
"""The changes that act at a step, by step id: its statement's own, and those by absence."""


def causal_tree(links: Sequence[Link], root: ChangeSet, acting: Acting) -> CauseNode | None:
    """The tree; None where no failed assertion was recognised."""
    if not links:
        return None
    leading = _leading_causes(links, root, acting)
    below: dict[int | None, list[int]] = defaultdict(list)
    for number in sorted(leading):
        below[links[number].parent].append(number)
    top = below[None][0] if below[None] else 0
    return _Tree(links, root, acting, below).node(top)


def _leading_causes(links: Sequence[Link], root: ChangeSet, acting: Acting) -> set[int]:
    """The causes with a root change that no cause before them has, and all causes below them."""
    leading: set[int] = set()
    unmet = set(root)
    for number, link in enumerate(links):
        here = unmet & _changes(link.cause, acting)
        unmet -= here
        at: int | None = number if here else None
        while at is not None and at not in leading:
            leading.add(at)
            at = links[at].parent
    return leading


def _changes(cause: Cause, acting: Acting) -> set[ChangeId]:
    steps = (*cause.origins, *cause.steps)
    return {change for step in steps for change in acting.get(step.id, step.changes)}


def _repeats(step: Step, cause: Cause) -> bool:
    """Whether a step is a failed assertion itself, and another one of its statement says what it saw."""
    failed = cause.predicate.kind is not None and step.id == cause.predicate.step
    return failed and any(
        other.id != step.id and (other.location, other.text) == (step.location, step.text)
        for other in cause.steps
    )


class _Tree:
    def __init__(
        self,
        links: Sequence[Link],
        root: ChangeSet,
        acting: Acting,
        below: Mapping[int | None, Sequence[int]],
    ) -> None:
        self._links = links
        self._root = root
        self._acting = acting
        self._below = below

    def node(self, top: int) -> CauseNode:
        """The node of a cause; bottom up, because a chain of causes may be long."""
        made: dict[int, CauseNode] = {}
        for number in sorted(self._under(top), reverse=True):  # a child is found after its parent
            children = tuple(made[child] for child in self._below.get(number, ()))
            made[number] = self._one(self._links[number], children)
        return made[top]

    def _under(self, top: int) -> list[int]:
        found = [top]
        for number in found:
            found.extend(self._below.get(number, ()))
        return found

    def _one(self, link: Link, children: tuple[CauseNode, ...]) -> CauseNode:
        predicate = link.cause.predicate
        own = next(step for step in link.cause.steps if step.id == predicate.step)
        place = predicate.failed_at or own.location
        return CauseNode(
            predicate=predicate.text or predicate.message,
            file=place.file,
            line=place.line,
            steps=tuple(self._shown(step, link.cause) for step in self._kept(link.cause)),
            causes=children,
            evidence=link.evidence,
        )

    def _kept(self, cause: Cause) -> list[Step]:
        """Located steps, nearest the failure first; of instances that tell the same, the last.

        That an assertion failed is said above them, where its condition is a step of its own.
        """
        told: dict[tuple[object, ...], Step] = {}
        led = [step for step in cause.origins if self._guilty(step)]
        for step in (*led, *cause.steps):
            if step.location.file and (self._guilty(step) or not _repeats(step, cause)):
                place = (step.location.file, step.location.line, step.target)
                told[(*place, step.rendered, step.green.alignment)] = step
        kept = sorted(told.values(), key=lambda step: -step.id)
        guilty = [step for step in kept[SEARCH.shown :] if self._guilty(step)]
        return [*kept[: SEARCH.shown], *guilty]

    def _guilty(self, step: Step) -> list[ChangeId]:
        return [c for c in self._acting.get(step.id, step.changes) if c in self._root]

    def _shown(self, step: Step, cause: Cause) -> TreeStep:
        guilty = self._guilty(step)
        evidence = Evidence.INFERRED if step in cause.origins else cause.evidence
        if guilty and evidence is Evidence.INFERRED:
            evidence = Evidence.OBSERVED  # reverting it was seen to repair the test
        return TreeStep(
            file=step.location.file,
            line=step.location.line,
            text=step.text,
            target=step.target,
            observed=step.rendered,
            green=step.green.shown,
            change=(guilty or [*step.changes, ""])[0],
            evidence=evidence,
        )
