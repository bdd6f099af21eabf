"""The causal tree as a small mermaid graph: forges draw it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from afterd.model.explanation import CauseNode, Explanation
from afterd.report.sanitize import clipped, one_line

MOST_NODES = 8
_LABEL = 40
_UNSAFE = re.compile(r"[^A-Za-z0-9 _.,/=+*-]")


def graph(explanation: Explanation) -> str:
    """The first causes, breadth first, and the changes that enter at each; empty without a tree."""
    if explanation.tree is None:
        return ""
    guilty = {change.id for change in (*explanation.root, *explanation.auxiliary)}
    return "\n".join(["flowchart TD", *_lines(explanation.tree, guilty)])


def _lines(tree: CauseNode, guilty: set[str]) -> Iterator[str]:
    pending: list[tuple[CauseNode, int]] = [(tree, -1)]
    entered: set[str] = set()
    for number in range(MOST_NODES):
        if number >= len(pending):
            break
        node, parent = pending[number]
        where = f"{node.file.rpartition('/')[2]}:{node.line}"
        yield f'  n{number}["{_label(node.predicate)} at {_label(where)}"]'
        if parent >= 0:
            yield f"  n{parent} -->|{node.evidence.value}| n{number}"
        for change in dict.fromkeys(step.change for step in node.steps if step.change in guilty):
            name = _UNSAFE.sub("", change)
            yield f'  {name}(["{name}"]):::root' if change not in entered else f"  {name}"
            yield f"  n{number} --> {name}"
            entered.add(change)
        pending += [(cause, number) for cause in node.causes]
    if len(pending) > MOST_NODES:
        yield f'  more["{len(pending) - MOST_NODES} more"]'
        yield f"  n{MOST_NODES - 1} -.-> more"
    if entered:
        yield "  classDef root stroke-width:3px"


def _label(text: str) -> str:
    """Text that mermaid shows and does not read: whatever it might read is a character entity."""
    short = clipped(" ".join(one_line(text).split()), _LABEL)
    return _UNSAFE.sub(lambda match: f"#{ord(match[0])};", short)
