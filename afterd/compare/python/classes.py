"""Classes whose head was changed: their bases, decorators and keywords, the fields that a decorator reads, and what
Python itself looks up in them without calling it (``__slots__``, ``__hash__ = None``, which ``__eq__`` alone implies).

What such a change does is done by Python itself, or by a decorator, wherever an object of the class is met: an
attribute is found in another base class, it is an instance of something else, a field cannot be set any more. No row
is of that, so an operation that did otherwise has it from the class of what it was done to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import chain

from afterd.compare.python.absence import Ties, is_special, targets
from afterd.compare.python.alignment import Alignment
from afterd.model.change import ChangeId
from afterd.trace.python.read import FUNCTIONS, Frame, Node, Recorded, Steps, Unknown, identity
from afterd.trace.python.record.rows import Kind

_EQUAL = "__eq__"
_OBJECTS = frozenset({"Name", "Attribute", "Subscript", "Call"})
_OPERATIONS = frozenset({"Call", "Attribute", "Subscript", "Compare", "BinOp", "UnaryOp"})


class Classes:
    """Of the failing version, beside the good one's."""

    def __init__(self, steps: Steps, alignment: Alignment, ties: Ties) -> None:
        self._steps = steps
        self._alignment = alignment
        self._ties = ties

    def changes(self, position: int) -> Iterator[ChangeId]:
        """The changes to heads of the classes of what a row's operation was done to; none where it is followed."""
        trace = self._steps.trace
        frame = trace.frame(position)
        operation = trace.raised.statement(position) or trace.node(position)
        if frame is None or operation is None or not self._altered:
            return
        if operation.type not in _OPERATIONS and not operation.is_statement:
            return
        for value in self._objects(operation, position, frame):
            for kind in self._kinds(value):
                yield from self._altered.get(kind, ())

    def _objects(self, operation: Node, position: int, frame: Frame) -> Iterator[Recorded]:
        """What the parts of an operation were, as far as the rows tell."""
        cells = self._steps.cells
        for part in operation.walk():
            if part.type in _OBJECTS and part.frame is frame.node:
                value = cells.value_of(part, position, frame)
                if not isinstance(value, Unknown):
                    yield value

    def _kinds(self, value: Recorded) -> Iterator[int]:
        """The classes that decide what can be done to a value, by identity: itself where it is one."""
        if isinstance(value, tuple) and value[0] == "o":
            yield value[1]
            yield from self._steps.trace.raw.header["types"][value[2]][3]

    @cached_property
    def _altered(self) -> Mapping[int, tuple[ChangeId, ...]]:
        """The changes to each class's head, in either version, by the class's identity."""
        trace, partners = self._steps.trace, self._alignment.matching.good
        found: dict[int, tuple[ChangeId, ...]] = {}
        for module in trace.all_modules():
            for node in module.of_type("ClassDef"):
                twin = partners.get(node)
                if twin is None or twin is node or _head(node) == _head(twin):
                    continue
                mine = (self._ties.of_node(each) for each in (node, *_looked_up(node)))
                other = (self._ties.removed(each) for each in (twin, *_looked_up(twin)))
                changes = tuple(dict.fromkeys(chain.from_iterable((*mine, *other))))
                rows = trace.at_site(node, Kind.VALUE)
                found |= {kind: changes for row in rows if (kind := identity(trace.value(row)))}
        return found


def _head(definition: Node) -> list[str]:
    """What decides how objects of a class behave, but for its methods."""
    bases = [base.source for base in definition["bases"] if base.source != "object"]
    fields = (part for part in definition["body"] if part.type == "AnnAssign")
    parts = (*definition["decorator_list"], *definition["keywords"], *fields)
    special = (each.text if each.type == "Assign" else _EQUAL for each in _looked_up(definition))
    return [*bases, *(part.source for part in parts), *special]


def _looked_up(definition: Node) -> Iterator[Node]:
    """The statements by which a class has what Python looks up without calling it; a class with an ``__eq__`` of its
    own and no ``__hash__`` has none any more.
    """
    assigned = [each for each in definition["body"] if each.type == "Assign"]
    yield from (each for each in assigned if any(map(is_special, targets(each["value"]))))
    methods = {str(each["name"]): each for each in definition["body"] if each.type in FUNCTIONS}
    if _EQUAL in methods and "__hash__" not in methods:
        yield methods[_EQUAL]
