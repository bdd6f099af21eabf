"""Cells: which row defined what an expression reads.

Names are resolved by scope, attributes and items by the identity of their object. A candidate is
believed only when the value it wrote is the value that was read: a definition this trace did not
see (C code, ``exec``, a reused address) then shows as *no* definition, never as a wrong one.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator
from functools import cached_property
from typing import Final

from afterd.tracing.python.births import Births
from afterd.tracing.python.constants import constant, folded
from afterd.tracing.python.frames import Frame
from afterd.tracing.python.program import BUILTIN, COMPREHENSIONS, MODULE_SCOPE, Module, Node
from afterd.tracing.python.purity import may_write, pure_function
from afterd.tracing.python.runtime.rows import Kind
from afterd.tracing.python.trace import Trace
from afterd.tracing.python.tracefile import Recorded
from afterd.tracing.python.values import identity, same_object


class Unknown:
    """The type of UNKNOWN: no row says what the value was."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = Unknown()
_CODE = frozenset({"module", "type", "function", "builtin_function_or_method", "method", "ABCMeta"})
_LAST_ROWS = 8  # of a frame, between its RETURN and its EXIT
_TRIES = 400  # candidates looked at before a look-up gives up

Row = tuple[Node, Kind]


def definition_row(binding: Node) -> Row | None:
    """Where a binding leaves its row: the assigned expression's, or its own."""
    parent = binding.parent
    if parent is not None and binding["store"]:
        if parent.type == "Assign" and binding in parent["targets"]:
            return (parent["value"], Kind.VALUE)
        if parent.type in {"AnnAssign", "NamedExpr"} and binding is parent["target"]:
            return (parent["value"], Kind.VALUE) if parent["value"] is not None else None
        if binding.type != "Name":
            return _unpacked_row(binding)
    if binding.type == "ExceptHandler":
        return (binding, Kind.TRUE)
    return (binding, Kind.VALUE)


def _unpacked_row(target: Node) -> Row | None:
    """An attribute or item as a target of unpacking, of a loop or of an augmented assignment."""
    for node in target.ancestors():
        match node.type:
            case "Assign":
                return (node["value"], Kind.VALUE)
            case "AugAssign":
                return (target, Kind.PEEK)
            case "For" | "AsyncFor":
                return (node, Kind.TRUE)
            case "With" | "AsyncWith":
                return (node, Kind.MARK)
            case "comprehension":
                return (node, Kind.TRUE)
            case "Tuple" | "List" | "Starred" | "withitem":
                continue
        return None
    return None


class Cells:
    """Look-ups in one trace; indexes are built when they are first asked for."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.births = Births(trace)
        self._attributes: dict[str, dict[int, list[int]]] = {}
        self._names: dict[tuple[Node, int, int], int | None] = {}

    # -- values ------------------------------------------------------------------------------

    def value_of(self, node: Node, position: int, frame: Frame) -> Recorded | Unknown:
        """What an expression evaluated at or before a position was."""
        if node.type == "Constant":
            return constant(node["value"])
        row = self.trace.last_at(node, frame, position + 1)
        if row is not None:
            return self.trace.value(row)
        if node.type == "Name":
            definition = self.name(node, position, frame)
            return UNKNOWN if definition is None else self.trace.value(definition)
        if node.type == "NamedExpr":
            return self.value_of(node["value"], position, frame)
        parts = [self.value_of(child, position, frame) for child in node.children()]
        if any(isinstance(part, Unknown) for part in parts):
            return UNKNOWN
        known, result = folded(node, parts)
        return result if known else UNKNOWN

    def target_value(self, node: Node, position: int, frame: Frame) -> Recorded | Unknown:
        """A part of an assignment's target: evaluated after the value, so its row comes after."""
        rows = self.trace.at_site(node)
        following = self.trace.next_in_frame(frame, position)
        limit = position
        while following is not None and (below := self.trace.node(following)) is not None:
            if below.statement is not node.statement:
                break
            limit = following
            following = self.trace.next_in_frame(frame, following)
        index = bisect_left(rows, position + 1)
        if index < len(rows) and rows[index] <= limit and self.trace.frame(rows[index]) is frame:
            return self.trace.value(rows[index])
        return self.value_of(node, position, frame)

    # -- names -------------------------------------------------------------------------------

    def name(self, node: Node, position: int, frame: Frame) -> int | None:
        """The row that bound the name read at ``node`` before a position."""
        key = (node, position, frame.number)
        if key not in self._names:
            self._names[key] = self._name(node, position, frame)
        return self._names[key]

    def _name(self, node: Node, position: int, frame: Frame) -> int | None:
        owner, name = node["owner"], node["id"]
        if owner == BUILTIN:
            return self._starred(node.module, name, position)
        scope = node.module.nodes[owner]
        bindings = node.module.bindings(owner, name)
        home = scope.frame if scope.type in COMPREHENSIONS else scope
        if owner != MODULE_SCOPE and home is frame.node:
            return self._latest(bindings, frame, position)
        read = self.trace.last_at(node, frame, position + 1)
        if read is None or self.trace.previous_in_frame(frame, position) > read:
            return self._latest(bindings, None, position)
        return self._believed(bindings, position, self.trace.value(read))

    def _latest(self, bindings: list[Node], frame: Frame | None, position: int) -> int | None:
        rows = [
            row
            for binding in bindings
            if (at := definition_row(binding)) is not None
            and (row := self.trace.last_at(at[0], frame, position, at[1])) is not None
        ]
        return max(rows, default=None)

    def _believed(self, bindings: list[Node], position: int, value: Recorded) -> int | None:
        """The latest definition that wrote this value, in whichever frame."""
        tries = 0
        for row in self._definitions(bindings, position):
            if same_object(self.trace.value(row), value):
                return row
            tries += 1
            if tries > _TRIES:
                break
        return None

    def _definitions(self, bindings: list[Node], position: int) -> Iterator[int]:
        rows: list[int] = []
        for binding in bindings:
            at = definition_row(binding)
            if at is not None:
                found = self.trace.at_site(*at)
                index = bisect_left(found, position)
                rows.extend(found[max(0, index - _TRIES) : index])
        yield from sorted(rows, reverse=True)

    def _starred(self, module: Module, name: str, position: int) -> int | None:
        for node in module.root.walk():
            if node.type == "ImportFrom" and any(item["name"] == "*" for item in node["names"]):
                source = self.imported(node)
                if source is not None and source.bindings(MODULE_SCOPE, name):
                    return self.module_variable(source, name, position)
        return None

    # -- modules -----------------------------------------------------------------------------

    @cached_property
    def _modules(self) -> dict[str, Module]:
        """Traced modules by every dotted suffix of their path: nobody tells where the roots are."""
        found: dict[str, Module] = {}
        for module in self.trace.all_modules():
            parts = module.path.removesuffix(".py").removesuffix("/__init__").split("/")
            for start in range(len(parts)):
                found.setdefault(".".join(parts[start:]), module)
        for module in self.trace.all_modules():  # a full path beats another one's suffix
            found[module.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")] = module
        return found

    def module_named(self, name: str) -> Module | None:
        """The traced module with this dotted name."""
        return self._modules.get(name)

    def imported(self, node: Node) -> Module | None:
        """The traced module that ``from … import`` names."""
        name = node["module"] or ""
        level = node["level"] or 0
        if level:
            path = node.module.path.removesuffix(".py")
            parts = path.split("/")
            keep = len(parts) - level
            if path.endswith("/__init__") or path == "__init__":
                parts = parts[:-1]
                keep = len(parts) - level + 1
            name = ".".join([*parts[: max(0, keep)], *([name] if name else [])])
        return self.module_named(name)

    def module_variable(
        self, module: Module, name: str, position: int, value: Recorded | Unknown = UNKNOWN
    ) -> int | None:
        """The row that bound a module's variable, from whatever function."""
        bindings = module.bindings(MODULE_SCOPE, name)
        if isinstance(value, Unknown):
            return self._latest(bindings, None, position)
        return self._believed(bindings, position, value)

    # -- attributes --------------------------------------------------------------------------

    def attribute(self, node: Node, position: int, frame: Frame) -> int | None:
        """The row that wrote the attribute loaded at ``node``."""
        owner = self.value_of(node["value"], position, frame)
        if isinstance(owner, Unknown):
            return None
        loaded = self.value_of(node, position, frame)
        return self.attribute_of(owner, node["attr"], position, loaded)

    def attribute_of(
        self, owner: Recorded, name: str, position: int, loaded: Recorded | Unknown
    ) -> int | None:
        """The row that wrote ``owner.name``: on the object, its class, or its module."""
        row = self._written(owner, name, position, loaded)
        if row is not None or not isinstance(owner, tuple) or owner[0] != "o":
            return row
        if isinstance(owner[3], str) and (module := self.module_named(owner[3])) is not None:
            return self.module_variable(module, name, position, loaded)
        return self._class_attribute(owner, name, position, loaded)

    def _written(
        self, owner: Recorded, name: str, position: int, loaded: Recorded | Unknown
    ) -> int | None:
        rows = self._writes(name).get(identity(owner) or 0, [])
        rows = self.births.since(owner, position, rows)
        if not rows:
            return None
        row = rows[-1]
        stored = self._stored(row)
        known = not isinstance(loaded, Unknown) and not isinstance(stored, Unknown)
        return row if not known or same_object(stored, loaded) else None

    def _stored(self, row: int) -> Recorded | Unknown:
        """What a writing row wrote (a ``setattr`` call's row is of its result, None)."""
        node = self.trace.node(row)
        frame = self.trace.frame(row)
        if node is not None and frame is not None and node.type == "Call" and _setattr(node):
            return self.value_of(node["args"][-1], row, frame)
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
        value = self.target_value(owner, row, frame) if frame is not None else UNKNOWN
        key = None if isinstance(value, Unknown) else identity(value)
        if key is not None:
            insort(index.setdefault(key, []), row)

    @cached_property
    def _attribute_targets(self) -> dict[str, list[Node]]:
        found: dict[str, list[Node]] = {}
        for module in self.trace.all_modules():
            for node in module.nodes.values():
                if node.type == "Attribute" and node["store"]:
                    found.setdefault(node["attr"], []).append(node)
        return found

    @cached_property
    def _setattr_calls(self) -> list[tuple[Node, str, int]]:
        found = []
        for module in self.trace.all_modules():
            for node in module.nodes.values():
                if node.type != "Call" or not _setattr(node) or len(node["args"]) < 3:
                    continue
                for row in self.trace.at_site(node):
                    frame = self.trace.frame(row)
                    name = self.value_of(node["args"][-2], row, frame) if frame else UNKNOWN
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
            row = self._latest(bindings, frame, position)
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

    # -- items and contents ------------------------------------------------------------------

    def item(self, node: Node, position: int, frame: Frame) -> int | None:
        """The row that wrote the item loaded at a subscript."""
        owner = self.value_of(node["value"], position, frame)
        key = self.value_of(node["slice"], position, frame)
        if isinstance(owner, Unknown):
            return None
        return self.item_of(owner, key, position, self.value_of(node, position, frame))

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
    def _item_writes(self) -> dict[int, list[tuple[int, Recorded | Unknown]]]:
        found: dict[int, list[tuple[int, Recorded | Unknown]]] = {}
        for module in self.trace.all_modules():
            for target in module.nodes.values():
                if target.type != "Subscript" or not target["store"]:
                    continue
                at = definition_row(target)
                for row in self.trace.at_site(*at) if at else ():
                    frame = self.trace.frame(row)
                    owner = self.target_value(target["value"], row, frame) if frame else UNKNOWN
                    kind = None if isinstance(owner, Unknown) else identity(owner)
                    if kind is not None and frame is not None:
                        key = self.target_value(target["slice"], row, frame)
                        found.setdefault(kind, []).append((row, key))
        for rows in found.values():
            rows.sort(key=lambda entry: entry[0])
        return found

    def content_writes(self, owner: Recorded, position: int, limit: int = 8) -> list[int]:
        """The last rows that wrote into an object, latest first: items, calls on it, calls with it."""
        kind = identity(owner)
        if kind is None:
            return []
        items = [row for row, _ in self._item_writes.get(kind, [])]
        items = self.births.since(owner, position, items)
        calls = self.births.since(owner, position, self._opaque_writes.get(kind, []))
        return sorted({*items[-limit:], *calls[-limit:]}, reverse=True)[:limit]

    @cached_property
    def _opaque_writes(self) -> dict[int, list[int]]:
        """Rows of calls that entered no traced frame and may have changed an object."""
        found: dict[int, list[int]] = {}
        for module in self.trace.all_modules():
            for node in module.nodes.values():
                if node.type != "Call" or pure_function(node):
                    continue
                for row in self.trace.at_site(node):
                    frame = self.trace.frame(row)
                    if frame is not None and self.returned(row, frame) is None:
                        for changed in self._changed(node, row, frame):
                            insort(found.setdefault(changed, []), row)
        return found

    def _changed(self, call: Node, row: int, frame: Frame) -> set[int]:
        function = call["func"]
        exposed = [*call["args"], *(word["value"] for word in call["keywords"])]
        if function.type == "Attribute" and may_write(function["attr"]):
            exposed.append(function["value"])
        found = set()
        for node in exposed:
            value = self.value_of(node, row, frame)
            kind = None if isinstance(value, Unknown) else identity(value)
            if kind is not None and not self._is_code(value):
                found.add(kind)
        return found

    def _is_code(self, value: Recorded) -> bool:
        """Modules, classes and functions are not what a call that mentions them changes."""
        return value[0] == "o" and self.trace.raw.header["types"][value[2]][1] in _CODE

    def attribute_writes(self, owner: Recorded, position: int, limit: int = 12) -> list[int]:
        """The last write of each attribute of an object before a position, latest first."""
        kind = identity(owner)
        born = self.births.born(owner, position) or 0
        latest: dict[str, int] = {}
        for row, name in self._object_writes.get(kind, []) if kind is not None else ():
            if born <= row < position:
                latest[name] = row
        return sorted(latest.values(), reverse=True)[:limit]

    @cached_property
    def _object_writes(self) -> dict[int, list[tuple[int, str]]]:
        found: dict[int, list[tuple[int, str]]] = {}
        for name in self._attribute_targets:
            for kind, rows in self._writes(name).items():
                found.setdefault(kind, []).extend((row, name) for row in rows)
        for entries in found.values():
            entries.sort()
        return found

    # -- calls -------------------------------------------------------------------------------

    def callee(self, call: Node, position: int, frame: Frame) -> int | None:
        """The row of the definition that a call's function expression names, where it is the program's."""
        function = call["func"]
        if function.type == "Name":
            return self.name(function, position, frame)
        if function.type != "Attribute":
            return None
        owner = self.value_of(function["value"], position, frame)
        if isinstance(owner, Unknown) or identity(owner) is None:
            return None
        return self.attribute_of(owner, function["attr"], position, UNKNOWN)

    def returned(self, position: int, frame: Frame) -> int | None:
        """The row in a traced callee that handed out what was received at a position.

        The last RETURN, YIELD or EXIT of another frame since this frame's previous row; None when
        no traced frame ran in between.
        """
        previous = self.trace.previous_in_frame(frame, position)
        rows = self.handed_out
        index = bisect_left(rows, position) - 1
        if index < 0 or rows[index] <= previous:
            return None
        return self._end_of(rows[index])

    def _end_of(self, row: int) -> int:
        """For the EXIT of a frame that returned something, its RETURN: a ``with`` block's exit runs
        code in between."""
        left = self.trace.frame(row)
        if self.trace.kind(row) is Kind.EXIT and left is not None:
            for earlier in reversed(left.rows[-_LAST_ROWS:]):
                if self.trace.kind(earlier) is Kind.RETURN:
                    return earlier
        return row

    @cached_property
    def handed_out(self) -> list[int]:
        """The positions of all RETURN, YIELD and EXIT rows."""
        wanted = {Kind.RETURN, Kind.YIELD, Kind.EXIT}
        return [row for row in range(len(self.trace)) if self.trace.kind(row) in wanted]


def _setattr(call: Node) -> bool:
    function = call["func"]
    name = function["id"] if function.type == "Name" else function["attr"]
    return isinstance(name, str) and name.strip("_") == "setattr"
