"""Cells: which row defined what an expression reads.

Names are resolved by scope, attributes and items by the identity of their object. A candidate is
believed only when the value it wrote is the value that was read: a definition this trace did not
see (C code, ``exec``, a reused address) then shows as *no* definition, never as a wrong one.
"""

from __future__ import annotations

from afterd.limits import PYTHON_TRACE
from afterd.trace.python.read.attributes import Attributes
from afterd.trace.python.read.births import Births
from afterd.trace.python.read.contents import Contents, Handing
from afterd.trace.python.read.evaluation import Evaluation
from afterd.trace.python.read.frames import Frame
from afterd.trace.python.read.names import Names
from afterd.trace.python.read.program import Node
from afterd.trace.python.read.trace import Trace
from afterd.trace.python.read.values import UNKNOWN, Unknown, identity
from afterd.trace.python.read.written import Written

_OF_TRUTH = frozenset({"__bool__", "__len__"})


class Cells:
    """All look-ups of one trace; indexes are built when they are first asked for."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.births = Births(trace)
        self.handing = Handing(trace)
        self.names = Names(trace)
        self.evaluation = Evaluation(trace, self.names)
        self.attributes = Attributes(trace, self.names, self.evaluation, self.births)
        self.contents = Contents(trace, self.evaluation, self.births, self.handing)
        self.written = Written(trace, self.evaluation, self.handing)
        self.value_of = self.evaluation.value_of
        self.returned = self.handing.returned

    def asked_for_truth(self, operand: Node, position: int, frame: Frame) -> int | None:
        """The row of what a traced ``__bool__`` or ``__len__`` gave asked whether an operand counts as true."""
        row = self.trace.last_at(operand, frame, position + 1)
        after = position if row is None else self.trace.next_in_frame(frame, row)
        given = None if after is None else self.returned(after, frame)
        asked = None if given is None else self.trace.frame(given)
        return given if asked is not None and asked.node["name"] in _OF_TRUTH else None

    def callee(self, call: Node, position: int, frame: Frame) -> int | None:
        """The row of the definition that a call's function expression names."""
        function = call["func"]
        if function.type == "Name":
            return self._imported(self.names.name(function, position, frame))
        if function.type != "Attribute":
            return None
        owner = self.value_of(function["value"], position, frame)
        if isinstance(owner, Unknown) or identity(owner) is None:
            return None
        row = self.attributes.attribute_of(owner, function["attr"], position, UNKNOWN)
        return self._imported(row)

    def _imported(self, row: int | None) -> int | None:
        """The definition behind an import, through as many modules as pass it on."""
        for _ in range(PYTHON_TRACE.imports):
            node = self.trace.node(row) if row is not None else None
            if row is None or node is None or node.type != "alias" or node.parent is None:
                return row
            if node.parent.type != "ImportFrom":
                return row
            module = self.names.imported(node.parent)
            if module is None:
                return row
            value = self.trace.value(row)
            row = self.names.module_variable(module, node["name"], row, value)
        return row
