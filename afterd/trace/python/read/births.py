"""When each object came to be: identities are addresses, and addresses are used again.

An object is born where a display or comprehension made it, where ``__init__`` first saw it, where a
class was called, where a call gave an empty container of which more was seen before, or where the
address turns up with another type than before.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from enum import Enum, auto
from functools import cached_property

from afterd.trace.python.read.program import BUILTIN, COMPREHENSIONS, Node, called_name
from afterd.trace.python.read.trace import Trace
from afterd.trace.python.read.tracefile import Recorded
from afterd.trace.python.read.values import identity, is_container
from afterd.trace.python.record.rows import Kind

_MAKERS = COMPREHENSIONS | {"List", "Dict", "Set", "Lambda", "BinOp"}
_COPYING = frozenset({"list", "dict", "set", "sorted"})
_FINDING = {"type": 1, "getattr": 3}
"""Functions that give what was there before, where they are given no more arguments."""
_HANDING_OUT = frozenset({Kind.RETURN, Kind.YIELD})
FIRST_SEEN_IN = frozenset({"__init__", "__new__", "__post_init__"})
"""Methods of which the first parameter may be an object that was not there before."""
_DEFINITIONS = frozenset({"FunctionDef", "AsyncFunctionDef", "ClassDef"})


class _Making(Enum):
    """How the object came to be that the rows of a site show."""

    NOT = auto()  # it was there before, as far as this site tells
    ALWAYS = auto()  # a display, a definition: a new one each time
    PARAMETER = auto()  # new if it is the ``self`` of a constructor
    CALL = auto()  # new if a class was called, or an empty container came that was filled before


def _makes_new_object(node: Node) -> bool:
    """Whether an expression always gives a new object: a display, ``a + b``, ``list(…)``, ``sorted(…)``."""
    if node.type in _MAKERS:
        return True
    if node.type == "BoolOp":
        return all(map(_makes_new_object, node["values"]))
    if node.type == "IfExp":
        return _makes_new_object(node["body"]) and _makes_new_object(node["orelse"])
    function = node["func"] if node.type == "Call" else None
    return (
        isinstance(function, Node)
        and function.type == "Name"
        and function["owner"] == BUILTIN
        and function["id"] in _COPYING
    )


def _finds(call: Node) -> bool:
    """Whether a call only looks something up: ``type(a)`` makes no class."""
    function = call["func"]
    builtin = function.type == "Name" and function["owner"] == BUILTIN
    return builtin and len(call["args"]) <= _FINDING.get(function["id"], -1)


def is_empty(value: Recorded) -> bool:
    """Whether a value is a list, a set or a dictionary with nothing in it."""
    return is_container(value) and value[2] == 0


class Births:
    """Looks births up in one trace."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self._makings: dict[int, _Making] = {}

    def born(self, value: Recorded, position: int) -> int | None:
        """The row at or before a position at which the object with this identity was born."""
        kind = identity(value)
        rows = self._rows.get(kind, []) if kind is not None else []
        index = bisect_right(rows, position) - 1
        return rows[index] if index >= 0 else None

    def made(self, value: Recorded, position: int) -> int | None:
        """Like ``born``, but None where the object was only seen for the first time."""
        born = self.born(value, position)
        return born if born in self._made else None

    def since(self, value: Recorded, position: int, rows: list[int], limit: int) -> list[int]:
        """Those of ascending ``rows`` that lie in the object's life before a position: the last ones, at most
        ``limit``.
        """
        born = self.born(value, position)
        start = 0 if born is None else bisect_left(rows, born)
        end = bisect_left(rows, position)
        return rows[max(start, end - limit) : end]

    @property
    def _rows(self) -> dict[int, list[int]]:
        return self._index[0]

    @property
    def _made(self) -> set[int]:
        return self._index[1]

    @cached_property
    def _index(self) -> tuple[dict[int, list[int]], set[int]]:
        described = [self._described(value) for value in self.trace.raw.values]
        empty = [is_empty(value) for value in self.trace.raw.values]
        types: dict[int, object] = {}
        sites, makings = self.trace.sites, self._makings
        filled: set[int] = set()  # identities of containers that held something when last seen
        found: dict[int, list[int]] = {}
        made: set[int] = set()
        for position, number in enumerate(self.trace.numbers):
            about = described[number]
            if about is None:
                continue
            kind, shape = about
            known = types.get(kind)
            types[kind] = shape
            site = sites[position]
            making = makings.get(site)
            if making is None:
                making = makings[site] = self._making(site)
            fresh = self._is_made(making, position, kind, found) or (
                making is _Making.CALL and kind in filled and empty[number]
            )
            (filled.discard if empty[number] else filled.add)(kind)
            if fresh or known != shape:
                found.setdefault(kind, []).append(position)
            if fresh or (known != shape and making is _Making.CALL):
                made.add(position)
        return found, made

    @staticmethod
    def _described(value: Recorded) -> tuple[int, object] | None:
        kind = identity(value)
        if kind is None:
            return None
        return kind, value[2] if value[0] == "o" else value[0]

    def _making(self, site: int) -> _Making:
        """What the rows of a site tell of how their objects came to be."""
        node, kind = self.trace.decode(site)
        if node is None:
            return _Making.NOT
        if kind in _HANDING_OUT:
            given = node["value"] or node["body"]
            made = isinstance(given, Node) and _makes_new_object(given)
        else:
            made = kind is Kind.VALUE and (node.type in _DEFINITIONS or _makes_new_object(node))
        if made:
            return _Making.ALWAYS
        if node.type == "Call":
            return _Making.NOT if _finds(node) else _Making.CALL
        return _Making.PARAMETER if kind is Kind.VALUE and node.type == "arg" else _Making.NOT

    def _is_made(
        self, making: _Making, position: int, kind: int, found: dict[int, list[int]]
    ) -> bool:
        if making is _Making.NOT or making is _Making.ALWAYS:
            return making is _Making.ALWAYS
        node, how = self.trace.decode(self.trace.sites[position])
        assert node is not None
        if making is _Making.PARAMETER:
            return self._first_init(node, position, kind)
        last = found[kind][-1] if kind in found else -1
        return how is Kind.VALUE and self._constructed(node, position, last)

    def _first_init(self, node: Node, position: int, kind: int) -> bool:
        """``self`` of an ``__init__`` that no ``__init__`` of the same object called."""
        frame = self.trace.frame(position)
        if frame is None or frame.node["name"] not in FIRST_SEEN_IN:
            return False
        first = frame.node["args"]["args"] or frame.node["args"]["posonlyargs"]
        if not first or first[0] is not node:
            return False
        outer = frame.parent
        while outer is not None and outer.node["name"] in FIRST_SEEN_IN:
            row = outer.entered + 1
            if row < len(self.trace) and identity(self.trace.value(row)) == kind:
                return False
            outer = outer.parent
        return True

    def _constructed(self, node: Node, position: int, last: int) -> bool:
        """A class was called, and no ``__init__`` of the program has been seen since."""
        types = self.trace.raw.header["types"]
        value = self.trace.value(position)
        if value[0] != "o":
            return False
        name = str(types[value[2]][1]).rpartition(".")[2]
        frame = self.trace.frame(position)
        if called_name(node) != name or frame is None:
            return False
        return last < self.trace.previous_in_frame(frame, position)
