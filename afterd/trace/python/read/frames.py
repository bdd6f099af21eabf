"""Which frame each row belongs to: one walk over the trace.

Rows say it only where it changes (ENTER, EXIT, SYNC); in between they belong to the frame on top.
Two exceptions, both told by the row's own node: a generator expression's rows appear while somebody
else iterates over it, and a lambda that was left by an exception has no EXIT.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from afterd.trace.python.read.program import Node
from afterd.trace.python.record.rows import Kind


@dataclass(eq=False, slots=True)
class Frame:
    """An activation of ``node`` (module, class body, function, lambda).

    ``rows`` are its own rows in order, ``children`` the frames entered from it. ``entered`` is -1
    for a frame that was open before the window. ``synthetic``: guessed, no ENTER was seen.
    """

    number: int
    node: Node
    parent: Frame | None
    entered: int
    left: int | None = None
    rows: list[int] = field(default_factory=list)
    children: list[Frame] = field(default_factory=list)

    def with_callers(self) -> Iterator[Frame]:
        """The activation and those that it is in, the innermost first."""
        outer: Frame | None = self
        while outer is not None:
            yield outer
            outer = outer.parent

    def __repr__(self) -> str:
        return f"<Frame {self.number} {self.node.type} {self.node['name']} row {self.entered}>"


@dataclass(slots=True)
class _Thread:
    """``handed_out``: the row at which a generator last handed something out."""

    stack: list[Frame] = field(default_factory=list)
    handed_out: int = -1


class FrameBuilder:
    """Feeds rows one by one; ``of_row`` afterwards says which frame each belongs to."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []
        self.of_row: list[Frame | None] = []
        self.by_address: dict[int, Frame] = {}
        self.latest: dict[Node, Frame] = {}
        self.thread = _Thread()
        self.threads: dict[int, _Thread] = {}
        self._process: int | None = None
        self._left_in: dict[int, _Thread] = {}  # by a process, the thread that ran last

    def opened_before(self, node: Node, address: int, row: int) -> None:
        """A frame that was open where a span of rows begins."""
        known = self.by_address.get(address)
        if known is None or known.entered != row:
            self._push(node, address, row)

    def goes_on_in(self, process: int) -> None:
        """The rows that follow are of that process; of one that starts, they are below what runs now."""
        running = self.thread
        if self._process is not None:
            self._left_in[self._process] = running
        self.thread = self._left_in.setdefault(process, _Thread(list(running.stack)))
        self._process = process

    def row(self, number: int, owner: Node | None, kind: Kind) -> None:
        """One row of the frame that runs; ``owner`` is the frame node its node is in."""
        stack = self.thread.stack
        frame = stack[-1] if stack else None
        if owner is not None and (frame is None or frame.node is not owner):
            frame = self._mismatch(owner, number)
        self.of_row.append(frame)
        if frame is not None:
            frame.rows.append(number)
            if kind is Kind.YIELD and frame in stack:
                del stack[stack.index(frame) :]  # whoever iterates goes on; a SYNC brings it back
                self.thread.handed_out = number

    def addressed_row(
        self, number: int, node: Node | None, owner: Node | None, kind: Kind, address: int
    ) -> None:
        """One row that names its frame, or its thread, by its address."""
        frame: Frame | None = None
        if kind is Kind.THREAD:
            self.thread = self.threads.setdefault(address, _Thread())
        elif kind is Kind.ENTER and node is not None:
            frame = self._push(node, address, number)
        elif kind is Kind.ENTER:
            self.row(number, owner, kind)
            return
        else:
            frame = self._at_address(owner, address, number)
            if kind is Kind.EXIT:
                self._leave(frame, number)
        if frame is not None:
            frame.rows.append(number)
        self.of_row.append(frame)

    def _resume(self, index: int) -> Frame:
        """The frame at this place of the stack goes on, not the one on top.

        Those in between are called by code that is not followed and iterates over an expression
        of this frame; or ``yield from`` handed out what one above them did, and they wait as well.
        """
        stack = self.thread.stack
        frame, above = stack[index], stack[index + 1 :]
        if all(self._waits(each) for each in above):
            del stack[index + 1 :]
        return frame

    def _waits(self, frame: Frame) -> bool:
        """Whether nothing was seen of it since something was handed out, maybe through it."""
        if frame.rows and frame.rows[-1] > self.thread.handed_out:
            return False
        return "YieldFrom" in frame.node.yields

    def _push(self, node: Node, address: int, row: int) -> Frame:
        stack = self.thread.stack
        parent = stack[-1] if stack else None
        frame = Frame(len(self.frames), node, parent, row)
        if parent is not None:
            parent.children.append(frame)
        self.frames.append(frame)
        self.by_address[address] = frame
        self.latest[node] = frame
        stack.append(frame)
        return frame

    def _at_address(self, owner: Node | None, address: int, row: int) -> Frame | None:
        frame = self.by_address.get(address)
        if frame is None or (owner is not None and frame.node is not owner):
            return self._mismatch(owner, row) if owner is not None else None
        stack = self.thread.stack
        if frame in stack:
            del stack[stack.index(frame) + 1 :]
        else:
            stack.append(frame)
        return frame

    def _leave(self, frame: Frame | None, row: int) -> None:
        if frame is not None:
            frame.left = row
            stack = self.thread.stack
            if frame in stack:
                del stack[stack.index(frame) :]

    def _mismatch(self, owner: Node, row: int) -> Frame:
        stack = self.thread.stack
        while stack and stack[-1].node.type == "Lambda" and stack[-1].node is not owner:
            stack.pop()  # left by an exception
        for index in reversed(range(len(stack))):
            if stack[index].node is owner:
                return self._resume(index)
        known = self.latest.get(owner)
        return known if known is not None else self._push(owner, -row - 1, row)
