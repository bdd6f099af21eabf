"""The calls of other text that gave parameters their values.

A constant leaves no row, so where a call gives another one than green's, or lets the default stand, nothing in the
failing run but the call itself says why. Most values are followed through what the call gave back; what a constructor
keeps is read of the object later, and no step of that is a changed one.
"""

from __future__ import annotations

from collections.abc import Callable

from afterd.compare.python.absence import Ties
from afterd.compare.python.alignment import Alignment
from afterd.trace.python.read import Frame, Node, Steps


class ChangedCalls:
    """Of a parameter, the call that a change altered; ``differs``: whether a row's value is known not to be green's."""

    def __init__(
        self,
        steps: Steps,
        green: Steps,
        alignment: Alignment,
        ties: Ties,
        differs: Callable[[int], bool],
    ) -> None:
        self._steps = steps
        self._green = green
        self._alignment = alignment
        self._ties = ties
        self._differs = differs

    def giving(self, position: int) -> tuple[Node, Frame] | None:
        """The changed call, and who made it, that gave the parameter at a row what green's run never bound, or
        something else by another text; of the call what is for this parameter, where that was altered.
        """
        trace = self._steps.trace
        node, frame = trace.node(position), trace.frame(position)
        if node is None or frame is None or node.type != "arg" or node.frame is not frame.node:
            return None
        site = self._steps.parameters.call_site(frame)
        if site is None or not self._ties.of_node(site[1]):
            return None
        if self._alignment.frame(frame) is None or self._is_given_otherwise(position):
            _, call, caller = site
            argument = self._steps.parameters.argument(position, call, caller)
            if argument is not None and self._ties.of_node(argument):
                return argument, caller
            return call, caller
        return None

    def _is_given_otherwise(self, position: int) -> bool:
        """Whether green's call gave the same parameter something else by another text."""
        twin = self._alignment.row(position)
        if twin is None or not self._differs(position):
            return False
        here, there = self._steps.parameters.given(position), self._green.parameters.given(twin)
        return here is not None and there is not None and here != there
