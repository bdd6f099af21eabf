"""Which rows wrote into a container: its items, and calls that may have changed it.

What frames handed out to whoever called or iterated: RETURN, YIELD, EXIT without either.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Iterator, Sequence
from functools import cached_property

from afterd.limits import PYTHON_TRACE
from afterd.trace.python.read.births import Births
from afterd.trace.python.read.evaluation import Evaluation
from afterd.trace.python.read.frames import Frame
from afterd.trace.python.read.methods import called_method, function_for_effect
from afterd.trace.python.read.names import definition_row
from afterd.trace.python.read.program import Node, called_name
from afterd.trace.python.read.purity import is_mock, leaves_arguments, may_write, pure_function
from afterd.trace.python.read.trace import Trace
from afterd.trace.python.read.tracefile import Recorded
from afterd.trace.python.read.values import (
    UNKNOWN,
    Unknown,
    containers_within,
    identity,
    is_container,
    same_object,
)
from afterd.trace.python.record.rows import Kind


class Handing:
    """Looks up, for a row that received something, the row that handed it out."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    def returned(self, position: int, frame: Frame) -> int | None:
        """The row in a traced callee that handed out what was received at a position.

        The last RETURN, YIELD or EXIT of another frame since this frame's previous row; None when
        no traced frame ran in between.
        """
        previous = self.trace.previous_in_frame(frame, position)
        while previous > frame.entered and self.trace.kind(previous) is Kind.SYNC:
            previous = self.trace.previous_in_frame(frame, previous)  # written on coming back
        rows = self.rows
        index = bisect_left(rows, position) - 1
        if index < 0 or rows[index] <= previous:
            return None
        return self._end_of(rows[index])

    def is_unfollowed(self, call: int) -> bool:
        """Whether the row of a call is in an activation, and no traced frame ran for it."""
        frame = self.trace.frame(call)
        return frame is not None and self.returned(call, frame) is None

    def all_returned(self, position: int, frame: Frame) -> list[int]:
        """The last things that frames entered or resumed from here handed out since the frame's last row.

        Code that is not followed may have looked at any of it: the items of ``list(generator)``.
        """
        previous = self.trace.previous_in_frame(frame, position)
        start, end = (bisect_left(self.rows, row) for row in (previous + 1, position))
        direct = (self._end_of(row) for row in self.rows[start:end] if self._direct(row, frame))
        return list(dict.fromkeys(direct))[-PYTHON_TRACE.handed :]

    def _direct(self, row: int, frame: Frame) -> bool:
        giver = self.trace.frame(row)
        return giver is not None and giver.parent is frame

    def _end_of(self, row: int) -> int:
        """For the EXIT of a frame that returned something, its RETURN: a ``with`` block's exit runs
        code in between.
        """
        left = self.trace.frame(row)
        if self.trace.kind(row) is Kind.EXIT and left is not None:
            for earlier in reversed(left.rows[-PYTHON_TRACE.last_rows :]):
                if self.trace.kind(earlier) is Kind.RETURN:
                    return earlier
        return row

    @cached_property
    def rows(self) -> list[int]:
        """The positions of all RETURN, YIELD and EXIT rows."""
        wanted = {Kind.RETURN, Kind.YIELD, Kind.EXIT}
        return [row for row in range(len(self.trace)) if self.trace.kind(row) in wanted]


_CODE = frozenset({"module", "type", "function", "builtin_function_or_method", "method", "ABCMeta"})
Written = tuple[int, Recorded | Unknown]  # the row, and the key it wrote


class Contents:
    """Look-ups of items and of what changed an object, in one trace."""

    def __init__(
        self, trace: Trace, evaluation: Evaluation, births: Births, handing: Handing
    ) -> None:
        self.trace = trace
        self.evaluation = evaluation
        self.births = births
        self.handing = handing

    def item(self, node: Node, position: int, frame: Frame) -> int | None:
        """The row that wrote the item loaded at a subscript."""
        owner = self.evaluation.value_of(node["value"], position, frame)
        key = self.evaluation.value_of(node["slice"], position, frame)
        if isinstance(owner, Unknown):
            return None
        return self.item_of(owner, key, position, self.evaluation.value_of(node, position, frame))

    def item_of(
        self,
        owner: Recorded,
        key: Recorded | Unknown,
        position: int,
        loaded: Recorded | Unknown,
    ) -> int | None:
        """The row that wrote ``owner[key]``; an unknown key may be any."""
        rows = self._item_writes.get(identity(owner) or 0, [])
        born = self.births.born(owner, position) or 0
        index = bisect_left(rows, position, key=lambda entry: entry[0]) - 1
        while index >= 0 and rows[index][0] >= born:
            row, written = rows[index]
            if isinstance(written, Unknown) or isinstance(key, Unknown) or written == key:
                believed = isinstance(loaded, Unknown) or same_object(self.trace.value(row), loaded)
                return row if believed else None
            index -= 1
        return None

    @cached_property
    def _item_writes(self) -> dict[int, list[Written]]:
        found: dict[int, list[Written]] = {}
        for module in self.trace.all_modules():
            for target in module.of_type("Subscript"):
                if not target["store"]:
                    continue
                at = definition_row(target)
                for row in self.trace.at_site(*at) if at else ():
                    frame = self.trace.frame(row)
                    owner = (
                        self.evaluation.target_value(target["value"], row, frame)
                        if frame
                        else UNKNOWN
                    )
                    kind = None if isinstance(owner, Unknown) else identity(owner)
                    if kind is not None and frame is not None:
                        key = self.evaluation.target_value(target["slice"], row, frame)
                        found.setdefault(kind, []).append((row, key))
        for rows in found.values():
            rows.sort(key=lambda entry: entry[0])
        return found

    @cached_property
    def _item_rows(self) -> dict[int, list[int]]:
        return {kind: [row for row, _ in rows] for kind, rows in self._item_writes.items()}

    def content_writes(self, owner: Recorded, position: int, limit: int = 8) -> list[int]:
        """The last rows that wrote into an object, latest first: items, calls on or with it."""
        kind = identity(owner)
        if kind is None:
            return []
        written = (self._item_rows.get(kind, []), self._opaque_writes.get(kind, []))
        return self._last_of(owner, position, limit, written)

    def writes_within(self, value: Recorded, position: int, limit: int = 4) -> Iterator[int]:
        """The last rows that wrote into each of the lists, dicts and sets that a value holds, latest first."""
        for part in containers_within(value):
            yield from self.content_writes(part, position, limit)

    def unseen_writes(self, owner: Recorded, position: int, limit: int = 8) -> list[int]:
        """The last calls, latest first, that are not followed and were made for what they do, or gave a mock, since a
        mock was there: one that stands for such a function keeps what it was called with, and gives a mock.
        """
        if not self.is_mock(owner):
            return []
        unseen = (self._calls_for_effect, self._calls_that_gave_mocks)
        return self._last_of(owner, position, limit, unseen)

    def _last_of(
        self, owner: Recorded, position: int, limit: int, written: Sequence[list[int]]
    ) -> list[int]:
        """The last of some rows, each list ascending, that lie in an object's life before a position; latest first."""
        found = (self.births.since(owner, position, rows, limit) for rows in written)
        return sorted({row for rows in found for row in rows}, reverse=True)[:limit]

    def is_mock(self, value: Recorded | Unknown) -> bool:
        """Whether it is a mock of ``unittest.mock`` (or its backport), each of which has a class of its own."""
        return not isinstance(value, Unknown) and is_mock(self._class_name(value))

    @cached_property
    def _calls_for_effect(self) -> list[int]:
        """Rows of calls that entered no traced frame and whose result nobody takes, but of methods."""
        found: list[int] = []
        for module in self.trace.all_modules():
            for node in module.of_type("Call"):
                function = function_for_effect(node)
                rows = () if function is None else self.trace.at_site(node)
                found += (row for row in rows if self._is_unfollowed(function, row))
        return sorted(found)

    @cached_property
    def _calls_that_gave_mocks(self) -> list[int]:
        """Rows of calls that entered no traced frame and gave a mock, but of a class of mocks."""
        found: list[int] = []
        for module in self.trace.all_modules():
            for node in module.of_type("Call"):
                rows = () if is_mock(called_name(node)) else self.trace.at_site(node)
                found += (row for row in rows if self._gave_mock(row))
        return sorted(found)

    def _gave_mock(self, row: int) -> bool:
        return self.is_mock(self.trace.value(row)) and self.handing.is_unfollowed(row)

    def _is_unfollowed(self, function: Node | None, row: int) -> bool:
        """Whether a call entered no traced frame, and is of a function: by its name, or of a module."""
        frame = self.trace.frame(row)
        if function is None or frame is None or not self.handing.is_unfollowed(row):
            return False
        if function.type == "Name":
            return True
        owner = self.evaluation.value_of(function["value"], row, frame)
        return not isinstance(owner, Unknown) and self._is_code(owner)

    @cached_property
    def _opaque_writes(self) -> dict[int, list[int]]:
        """Rows of calls that entered no traced frame and may have changed an object, and of ``a += b`` that did."""
        found: dict[int, list[int]] = {}
        for row, exposed in self._unfollowed_calls:
            for changed in self._and_held(exposed, row):
                insort(found.setdefault(changed, []), row)
        for module in self.trace.all_modules():
            for node in module.of_type("AugAssign"):
                for row, kind in self._extended_in_place(node):
                    insort(found.setdefault(kind, []), row)
        return found

    @cached_property
    def _unfollowed_calls(self) -> list[tuple[int, Sequence[Recorded]]]:
        """Rows of calls that entered no traced frame, and the objects that each may have changed."""
        found: list[tuple[int, Sequence[Recorded]]] = []
        for module in self.trace.all_modules():
            for node in module.of_type("Call"):
                if pure_function(node):
                    continue
                exposed = _exposed_expressions(node)
                for row in self.trace.at_site(node):
                    frame = self.trace.frame(row)
                    if frame is not None and self.handing.is_unfollowed(row):
                        found.append((row, self._changed(exposed, row, frame)))
        return found

    def kept_method(
        self, node: Node, position: int, frame: Frame
    ) -> tuple[Node, int, Frame] | None:
        """Of a call by a name that a method was given (``write = stream.write``; what pytest makes of an assertion) the
        expression whose method it is, and where it was evaluated.
        """
        function = node["func"] if node.type == "Call" else None
        if not isinstance(function, Node) or function.type != "Name":
            return None
        row = self.evaluation.names.name(function, position, frame)
        method, home = (
            (None, None) if row is None else (self.trace.node(row), self.trace.frame(row))
        )
        if row is None or method is None or home is None or method.type != "Attribute":
            return None
        return method["value"], row, home

    @cached_property
    def _held(self) -> dict[int, Sequence[Recorded]]:
        """By the row at which such a call made an object, what it was given: the object may hold it, as a writer holds
        its stream, and an element of a tree that tree.
        """
        made = ((row, exposed) for row, exposed in self._unfollowed_calls if exposed)
        return {row: exposed for row, exposed in made if self._is_made_at(row)}

    def _is_made_at(self, row: int) -> bool:
        value = self.trace.value(row)
        return self.births.made(value, row) == row and not self._is_code(value)

    def _and_held(self, objects: Sequence[Recorded], row: int) -> set[int]:
        """The identities of objects, and of what these may hold that are of no code that is followed: the nearest, as
        each of a chain of ten thousand holds all before it.
        """
        found = {kind for kind in map(identity, objects) if kind is not None}
        waiting = deque(objects)
        while waiting and len(found) < PYTHON_TRACE.reads:
            born = self.births.made(waiting.popleft(), row)
            for held in self._held.get(born, ()) if born is not None else ():
                kind = identity(held)
                if kind is not None and kind not in found:
                    found.add(kind)
                    waiting.append(held)
        return found

    def _extended_in_place(self, node: Node) -> Iterator[tuple[int, int]]:
        """The rows of ``a += b`` that gave a container, with its identity: it is the one that was there."""
        at = definition_row(node["target"])
        for row in self.trace.at_site(*at) if at else ():
            value = self.trace.value(row)
            if is_container(value):
                yield row, value[1]

    def _changed(self, exposed: Sequence[Node], row: int, frame: Frame) -> Sequence[Recorded]:
        values = (self._own_object(node, row, frame) for node in exposed)
        return [
            value
            for value in values
            if not isinstance(value, Unknown)
            and identity(value) is not None
            and not self._is_code(value)
        ]

    def _own_object(self, node: Node, row: int, frame: Frame) -> Recorded | Unknown:
        """What an expression gave; of ``super()`` the object whose method was called with it."""
        first = _first_parameter(frame.node) if _is_super(node) else None
        if first is None:
            return self.evaluation.value_of(node, row, frame)
        handed = self.trace.last_at(first, frame, row)
        return UNKNOWN if handed is None else self.trace.value(handed)

    def _is_code(self, value: Recorded) -> bool:
        """Modules, classes and functions are not what a call that mentions them changes."""
        return self._class_name(value) in _CODE

    def _class_name(self, value: Recorded) -> str:
        """Of an object that is not of one of Python's own types; else empty."""
        if not isinstance(value, tuple) or value[0] != "o":
            return ""
        return str(self.trace.raw.header["types"][value[2]][1])


def _is_super(node: Node) -> bool:
    return node.type == "Call" and not node["args"] and node["func"]["id"] == "super"


def _first_parameter(function: Node) -> Node | None:
    """The parameter that a method has its object in."""
    arguments = function["args"]
    given = [*arguments["posonlyargs"], *arguments["args"]] if isinstance(arguments, Node) else []
    return given[0] if given else None


def _exposed_expressions(call: Node) -> list[Node]:
    """The expressions of which a call may change the object: what it is given, and what its method is of."""
    given = [*call["args"], *(word["value"] for word in call["keywords"])]
    method = called_method(call)
    if method is None:
        return given
    kept = [] if leaves_arguments(method["attr"]) else given
    return [*kept, method["value"]] if may_write(method["attr"]) else kept
