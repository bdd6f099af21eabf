"""The good version's expression over what the failing run had: would it have mattered here?"""

from __future__ import annotations

from collections.abc import Mapping

from afterd.compare.python.matching import Matching
from afterd.model.term import Concrete, Term, concretised_terms
from afterd.trace.python.read import BUILTIN, FRAMES, MODULE_SCOPE, Frame, Node, Steps
from afterd.trace.python.record.rows import Kind

_BRANCHES = frozenset({"If", "While", "Assert"})
_NO_ROW = -1  # the number of a node that this run has no rows of
_OPAQUE = frozenset({"Call", "Await", "Yield", "YieldFrom", "Lambda", "Subscript"})


class Transplant:
    """Builds terms of expressions of the good version in activations of the bad one."""

    def __init__(self, steps: Steps, matching: Matching) -> None:
        self.steps = steps
        self.matching = matching

    def old(self, position: int) -> Term | None:
        """The statement as it stood, at a row; None where that cannot be told."""
        node, frame = self.steps.trace.node(position), self.steps.trace.frame(position)
        if node is None or frame is None:
            return None
        now = _expression(node, self.steps.trace.kind(position))
        twin = self.matching.good.get(node)
        before = _expression(twin, self.steps.trace.kind(position)) if twin is not None else None
        if now is None or before is None:
            return None
        if now.source == before.source:
            return self.steps.step(self.steps.trace.number(position)).term
        kept = {part.source: part for part in now.walk() if part.type in _OPAQUE}
        if _asks_anew(before, kept):
            return None  # what a call would have returned is not known
        return self._term(self._moved(before, frame, kept), node, position, frame)

    def _term(self, moved: Node, node: Node, position: int, frame: Frame) -> Term | None:
        terms = self.steps.terms
        if node.type in _BRANCHES:
            outcome = self.steps.trace.kind(position) is Kind.TRUE
            term = terms.condition(moved, position, frame, outcome=outcome)
        else:
            term = terms.term(moved, position, frame)
        guessed = any(part.value is None for part in concretised_terms(term))
        return None if guessed or isinstance(term, Concrete) else term

    def _moved(
        self, node: Node, frame: Frame, kept: Mapping[str, Node], parent: Node | None = None
    ) -> Node:
        """A copy of a good expression whose names are looked up in a bad activation; what both versions ask for is
        what it was here.
        """
        if node.type in _OPAQUE:
            return kept[node.source]
        copy = Node(
            node.type,
            _NO_ROW,
            node.line,
            node.column,
            node.end_line,
            node.end_column,
            dict(node.fields),
            frame.node.module,
            parent=parent,
        )
        for name, value in node.fields.items():
            if isinstance(value, Node):
                copy.fields[name] = self._moved(value, frame, kept, copy)
            elif isinstance(value, list):
                copy.fields[name] = [
                    self._moved(item, frame, kept, copy) if isinstance(item, Node) else item
                    for item in value
                ]
        if node.type == "Name":
            copy.fields["owner"] = _owner(node["id"], frame)
        return copy


def _asks_anew(node: Node, kept: Mapping[str, Node]) -> bool:
    """Whether a part of an expression is not known without evaluating it, and was not ``kept``."""
    if node.type in _OPAQUE:
        return node.source not in kept
    return any(_asks_anew(child, kept) for child in node.children())


def _expression(node: Node, kind: Kind) -> Node | None:
    """The expression whose value a row of this kind is."""
    match kind:
        case Kind.TRUE | Kind.FALSE:
            found = node["test"] if node.type in _BRANCHES else None
        case Kind.RETURN | Kind.YIELD | Kind.RAISE:
            found = node["value"] or node["exc"]
        case Kind.VALUE:
            bound = node["store"] or node.type in FRAMES or node.type in {"arg", "alias"}
            found = None if bound else node
        case _:
            found = None
    return found if isinstance(found, Node) else None


def _owner(name: str, frame: Frame) -> int:
    """The scope a name would live in, were it read in this activation."""
    module = frame.node.module
    scopes = [frame.node, *(outer for outer in frame.node.ancestors() if outer.type in FRAMES)]
    for position, scope in enumerate(scopes):
        if position and scope.type == "ClassDef":
            continue
        if module.bindings(scope.number, name):
            return scope.number
    return MODULE_SCOPE if module.bindings(MODULE_SCOPE, name) else BUILTIN
