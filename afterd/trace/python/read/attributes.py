"""Which row wrote the attribute that is read: on the object, its class or its module."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator
from functools import cached_property

from afterd.trace.python.read.births import Births
from afterd.trace.python.read.evaluation import Evaluation
from afterd.trace.python.read.frames import Frame
from afterd.trace.python.read.names import Names, definition_row
from afterd.trace.python.read.program import Node
from afterd.trace.python.read.trace import Trace
from afterd.trace.python.read.tracefile import Recorded
from afterd.trace.python.read.values import UNKNOWN, Unknown, identity, same_object
from afterd.trace.python.record.rows import Kind


class Attributes:
    """Look-ups of attributes in one trace; writes are indexed by name when first asked for."""

    def __init__(self, trace: Trace, names: Names, evaluation: Evaluation, births: Births) -> None:
        self.trace = trace
        self.names = names
        self.evaluation = evaluation
        self.births = births
        self._attributes: dict[str, dict[int, list[int]]] = {}

    def attribute(self, node: Node, position: int, frame: Frame) -> int | None:
        """The row that wrote the attribute loaded at ``node``."""
        owner = self.evaluation.value_of(node["value"], position, frame)
        if isinstance(owner, Unknown):
            return None
        loaded = self.evaluation.value_of(node, position, frame)
        return self.attribute_of(owner, node["attr"], position, loaded)

    def attribute_of(
        self, owner: Recorded, name: str, position: int, loaded: Recorded | Unknown
    ) -> int | None:
        """The row that wrote ``owner.name``: on the object, its class, or its module."""
        row = self._written(owner, name, position, loaded)
        if row is not None or not isinstance(owner, tuple) or owner[0] != "o":
            return row
        if isinstance(owner[3], str) and (module := self.names.module_named(owner[3])) is not None:
            return self.names.module_variable(module, name, position, loaded)
        return self._class_attribute(owner, name, position, loaded)

    def _written(
        self, owner: Recorded, name: str, position: int, loaded: Recorded | Unknown
    ) -> int | None:
        rows = self._writes(name).get(identity(owner) or 0, [])
        rows = self.births.since(owner, position, rows, 1)
        if not rows:
            return None
        row = rows[-1]
        stored = self.stored(row)
        known = not isinstance(loaded, Unknown) and not isinstance(stored, Unknown)
        return row if not known or same_object(stored, loaded) else None

    def stored(self, row: int) -> Recorded | Unknown:
        """What a writing row wrote (a ``setattr`` call's row is of its result, None)."""
        node = self.trace.node(row)
        frame = self.trace.frame(row)
        if node is not None and frame is not None and node.type == "Call" and _setattr(node):
            return self.evaluation.value_of(node["args"][-1], row, frame)
        return UNKNOWN if self.trace.kind(row) is Kind.MARK else self.trace.value(row)

    def _writes(self, name: str) -> dict[int, list[int]]:
        """Rows that write an attribute of this name, by the object's identity, ascending."""
        found = self._attributes.get(name)
        if found is None:
            found = self._attributes[name] = {}
            for target in self._attribute_targets.get(name, []):
                at = definition_row(target)
                rows = self.trace.at_site(*at) if at else []
                for row in [*rows, *self.trace.at_site(target, Kind.MARK)]:
                    self._enter(found, target["value"], row)
            for call, attribute, row in self._setattr_calls:
                if attribute == name:
                    self._enter(found, call["args"][-3] if len(call["args"]) > 2 else call, row)
        return found

    def _enter(self, index: dict[int, list[int]], owner: Node, row: int) -> None:
        frame = self.trace.frame(row)
        value = self.evaluation.target_value(owner, row, frame) if frame is not None else UNKNOWN
        key = None if isinstance(value, Unknown) else identity(value)
        if key is not None:
            insort(index.setdefault(key, []), row)

    @cached_property
    def _attribute_targets(self) -> dict[str, list[Node]]:
        found: dict[str, list[Node]] = {}
        for module in self.trace.all_modules():
            for node in module.of_type("Attribute"):
                if node["store"]:
                    found.setdefault(node["attr"], []).append(node)
        return found

    @cached_property
    def _setattr_calls(self) -> list[tuple[Node, str, int]]:
        found = []
        for module in self.trace.all_modules():
            for node in module.of_type("Call"):
                if not _setattr(node) or len(node["args"]) < 3:
                    continue
                for row in self.trace.at_site(node):
                    frame = self.trace.frame(row)
                    name = (
                        self.evaluation.value_of(node["args"][-2], row, frame) if frame else UNKNOWN
                    )
                    if isinstance(name, str):
                        found.append((node, name, row))
        return found

    def _class_attribute(
        self, owner: Recorded, name: str, position: int, loaded: Recorded | Unknown
    ) -> int | None:
        types = self.trace.raw.header["types"]
        ancestry = [owner[1], *types[owner[2]][3]]
        if owner[1] in self._ancestry:  # the object is a class itself
            ancestry = [*self._ancestry[owner[1]], *ancestry]
        for kind in ancestry:
            for row in self._class_rows(kind, name, position):
                if isinstance(loaded, Unknown) or same_object(self.trace.value(row), loaded):
                    return row
        return None

    def _class_rows(self, kind: int, name: str, position: int) -> Iterator[int]:
        written = self._writes(name).get(kind, [])
        index = bisect_left(written, position) - 1
        if index >= 0:
            yield written[index]
        for frame in self._class_frames.get(kind, ()):
            bindings = frame.node.module.bindings(frame.node.number, name)
            row = self.names.latest(bindings, frame, position)
            if row is not None:
                yield row

    @cached_property
    def _ancestry(self) -> dict[int, list[int]]:
        return {kind: ancestry for _, _, kind, ancestry in self.trace.raw.header["types"]}

    @cached_property
    def _class_frames(self) -> dict[int, list[Frame]]:
        """The body's frame of each class object, by the class's identity."""
        bodies: dict[Node, list[Frame]] = {}
        for frame in self.trace.frames:
            if frame.node.type == "ClassDef":
                bodies.setdefault(frame.node, []).append(frame)
        found: dict[int, list[Frame]] = {}
        for node, frames in bodies.items():
            for row in self.trace.at_site(node):
                kind = identity(self.trace.value(row))
                before = [frame for frame in frames if frame.entered < row]
                if kind is not None and before:
                    found.setdefault(kind, []).append(before[-1])
        return found

    def attribute_writes(self, owner: Recorded, position: int, limit: int = 12) -> list[int]:
        """The last write of each attribute of an object before a position, latest first."""
        return sorted(self.attributes(owner, position).values(), reverse=True)[:limit]

    def attributes(self, owner: Recorded, position: int) -> dict[str, int]:
        """The last row that wrote each attribute of an object before a position."""
        kind = identity(owner)
        born = self.births.born(owner, position) or 0
        writes = self._object_writes.get(kind, []) if kind is not None else []
        first, behind = bisect_left(writes, (born, "")), bisect_left(writes, (position, ""))
        return {name: row for row, name in writes[first:behind]}

    @cached_property
    def _object_writes(self) -> dict[int, list[tuple[int, str]]]:
        found: dict[int, list[tuple[int, str]]] = {}
        for name in self._attribute_targets:
            for kind, rows in self._writes(name).items():
                found.setdefault(kind, []).extend((row, name) for row in rows)
        for entries in found.values():
            entries.sort()
        return found


def _setattr(call: Node) -> bool:
    function = call["func"]
    name = function["id"] if function.type == "Name" else function["attr"]
    return isinstance(name, str) and name.strip("_") == "setattr"
