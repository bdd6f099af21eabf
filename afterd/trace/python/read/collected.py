"""What a comprehension collected: a row for each of its elements. Those of the last round alone are found as parts of
the expression.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from afterd.limits import PYTHON_TRACE
from afterd.trace.python.read.frames import Frame
from afterd.trace.python.read.program import Node
from afterd.trace.python.read.trace import Trace

_COLLECTING = frozenset({"ListComp", "SetComp", "DictComp"})
_ELEMENTS = ("elt", "key", "value")


def collected_elements(trace: Trace, node: Node, position: int, frame: Frame) -> Iterator[int]:
    """The rows of the last elements that a comprehension collected, whose own row is at a position; else none."""
    if node.type not in _COLLECTING:
        return
    begun = trace.last_at(node, frame, position) or 0
    for element in map(node.__getitem__, _ELEMENTS):
        if isinstance(element, Node):
            rows = trace.at_site(element)
            start, end = bisect_left(rows, begun), bisect_left(rows, position)
            last = rows[max(start, end - PYTHON_TRACE.reads) : end]
            yield from (row for row in last if trace.frame(row) is frame)
