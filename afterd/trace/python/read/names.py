"""Which row bound the name that an expression reads: by scope, and across modules by import.

Where the binding of a name, an attribute or an item leaves its row.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property

from afterd.limits import PYTHON_TRACE
from afterd.trace.python.read.frames import Frame
from afterd.trace.python.read.program import BUILTIN, COMPREHENSIONS, MODULE_SCOPE, Module, Node
from afterd.trace.python.read.trace import Trace
from afterd.trace.python.read.tracefile import Recorded
from afterd.trace.python.read.values import UNKNOWN, Unknown, same_object
from afterd.trace.python.record.rows import Kind

_BINDING_STATEMENTS = {
    "For": Kind.TRUE,
    "AsyncFor": Kind.TRUE,
    "comprehension": Kind.TRUE,
    "With": Kind.MARK,
    "AsyncWith": Kind.MARK,
}

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
    return (binding, Kind.TRUE if binding.type == "ExceptHandler" else Kind.VALUE)


def _unpacked_row(target: Node) -> Row | None:
    """An attribute or item as a target of unpacking, of a loop or of an augmented assignment."""
    for node in target.ancestors():
        if node.type == "Assign":
            return (node["value"], Kind.VALUE)
        if node.type == "AugAssign":
            return (target, Kind.PEEK)
        if node.type in _BINDING_STATEMENTS:
            return (node, _BINDING_STATEMENTS[node.type])
        if node.type not in {"Tuple", "List", "Starred", "withitem"}:
            break
    return None


class Names:
    """Look-ups of names in one trace."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self._names: dict[tuple[Node, int, int], int | None] = {}
        self._stars: dict[Module, Sequence[Module]] = {}

    def name(self, node: Node, position: int, frame: Frame) -> int | None:
        """The row that bound the name read at ``node`` before a position."""
        key = (node, position, frame.number)
        if key not in self._names:
            self._names[key] = self._name(node, position, frame)
        return self._names[key]

    def _name(self, node: Node, position: int, frame: Frame) -> int | None:
        owner, name = node["owner"], node["id"]
        if owner == BUILTIN:
            return self._starred(node.module, name, position, UNKNOWN)
        scope = node.module.nodes[owner]
        bindings = node.module.bindings(owner, name)
        home = scope.frame if scope.type in COMPREHENSIONS else scope
        if owner != MODULE_SCOPE and home is frame.node:
            own = self.latest(bindings, frame, position)
            inner = [binding for binding in bindings if binding.frame is not home]
            return self._rebound(node, inner, position, frame, own) if inner else own
        read = self.trace.last_at(node, frame, position + 1)
        if read is None or self.trace.previous_in_frame(frame, position) > read:
            return self.latest(bindings, None, position)
        return self._believed(bindings, position, self.trace.value(read))

    def _rebound(
        self, node: Node, inner: list[Node], position: int, frame: Frame, own: int | None
    ) -> int | None:
        """The row at which a function inside gave a frame's name its value (``nonlocal``), where that came after the
        frame's ``own`` and has the value that was read.
        """
        found = self.latest(inner, None, position)
        if found is None or (own is not None and found < own):
            return own
        read = self.trace.last_at(node, frame, position + 1)
        is_it = read is None or same_object(self.trace.value(found), self.trace.value(read))
        return found if is_it else own

    def latest(self, bindings: list[Node], frame: Frame | None, position: int) -> int | None:
        """The last row of any of these bindings before a position, in ``frame`` (None: in any)."""
        rows = [
            row
            for binding in bindings
            if (at := definition_row(binding)) is not None
            and (row := self.trace.last_at(at[0], frame, position, at[1])) is not None
        ]
        return max(rows, default=None)

    def _believed(self, bindings: list[Node], position: int, value: Recorded) -> int | None:
        """The latest definition that wrote this value, in whichever frame."""
        for tries, row in enumerate(self._definitions(bindings, position)):
            if same_object(self.trace.value(row), value):
                return row
            if tries >= PYTHON_TRACE.candidates:
                break
        return None

    def _definitions(self, bindings: list[Node], position: int) -> Iterator[int]:
        rows: list[int] = []
        for binding in bindings:
            at = definition_row(binding)
            if at is not None:
                found = self.trace.at_site(*at)
                index = bisect_left(found, position)
                rows.extend(found[max(0, index - PYTHON_TRACE.candidates) : index])
        yield from sorted(rows, reverse=True)

    def _starred(
        self, module: Module, name: str, position: int, value: Recorded | Unknown
    ) -> int | None:
        """The same in the modules whose names it took with a star, and in those of which these did; the last one's."""
        for source in self._sources_of_stars(module):
            row = self._own_variable(source, name, position, value)
            if row is not None:
                return row
        return None

    def _sources_of_stars(self, module: Module) -> Sequence[Module]:
        """The modules of which a module has all, what it took last first, each followed by those of which it has all;
        each once: of VisiData's modules every one takes all of the others.
        """
        if module not in self._stars:
            found = dict.fromkeys([module])
            waiting = [*map(self.imported, module.star_imports)]
            while waiting:
                source = waiting.pop()
                if source is not None and source not in found:
                    found[source] = None
                    waiting += map(self.imported, source.star_imports)
            self._stars[module] = tuple(found)[1:]
        return self._stars[module]

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
            found[module.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")] = (
                module
            )
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
        self,
        module: Module,
        name: str,
        position: int,
        value: Recorded | Unknown = UNKNOWN,
    ) -> int | None:
        """The row that bound a module's variable, from whatever function, also in a module of which it has all."""
        if not module.bindings(MODULE_SCOPE, name):
            return self._starred(module, name, position, value)
        return self._own_variable(module, name, position, value)

    def _own_variable(
        self, module: Module, name: str, position: int, value: Recorded | Unknown
    ) -> int | None:
        bindings = module.bindings(MODULE_SCOPE, name)
        if isinstance(value, Unknown):
            return self.latest(bindings, None, position)
        return self._believed(bindings, position, value)
