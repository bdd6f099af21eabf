"""Indirect influence (AFTER, Def. 2): branches whose other side could have redefined a cell."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain

from afterd.limits import PYTHON_TRACE
from afterd.trace.python.read.flow import region
from afterd.trace.python.read.methods import called_method
from afterd.trace.python.read.program import FUNCTIONS, Module, Node
from afterd.trace.python.read.purity import leaves_arguments, may_write, pure_function
from afterd.trace.python.read.ssa import Steps
from afterd.trace.python.read.trace import Trace
from afterd.trace.python.read.values import MUTABLE
from afterd.trace.python.record.rows import Kind

_BRANCHING = frozenset({"If", "While", "For", "AsyncFor", "Assert", "ExceptHandler"})


class Influence:
    """Potential dependences in one trace."""

    def __init__(self, steps: Steps) -> None:
        self.steps = steps
        self.trace: Trace = steps.trace
        self._written: dict[tuple[Node, bool], frozenset[str]] = {}
        self._by_function: dict[tuple[Node, int], frozenset[str]] = {}
        self._functions: dict[str, list[Node]] = {}
        for module in self.trace.all_modules():
            self._collect(module)

    def _collect(self, module: Module) -> None:
        for node in module.of_type(*FUNCTIONS):
            if node["name"]:
                self._functions.setdefault(node["name"], []).append(node)

    def branches(self, use: int, definition: int) -> Iterator[int]:
        """Rows of branches between the two, nearest to ``use`` first."""
        wanted = self._cell(definition)
        if not wanted:
            return
        local = not wanted[0].startswith(".")
        home = self.trace.frame(definition)
        first = max(definition, use - PYTHON_TRACE.rows_between) + 1
        sites = {id(rows): rows for name in wanted for rows in self._overwriting.get(name, ())}
        between = (
            rows[bisect_left(rows, first) : bisect_left(rows, use)] for rows in sites.values()
        )
        for row in sorted(chain.from_iterable(between), reverse=True):
            if not local or self.trace.frame(row) is home:
                yield row

    @cached_property
    def _overwriting(self) -> Mapping[str, list[list[int]]]:
        """By cell: the rows, of each branch and way, whose other side writes it."""
        found: dict[str, list[list[int]]] = {}
        for node, kind, rows in self.trace.branches():
            if node.type in _BRANCHING:
                for name in self.written(node, taken=kind is Kind.FALSE):
                    found.setdefault(name, []).append(rows)
        return found

    def _cell(self, definition: int) -> Sequence[str]:
        """What a row defined: ``name``, ``.name`` of an attribute, ``…[]`` of a content."""
        node = self.trace.node(definition)
        if node is None:
            return ()
        names = _defined_cells(node)
        value = self.trace.value(definition)
        mutable = isinstance(value, tuple) and value[0] in MUTABLE
        return (*names, *(f"{name}[]" for name in names)) if mutable else names

    def written(self, branch: Node, *, taken: bool) -> frozenset[str]:
        """What the statements of one side write, calls followed by name."""
        found = self._written.get((branch, taken))
        if found is None:
            self._written[branch, taken] = frozenset()  # recursion ends here
            found = frozenset(self._writes(region(branch, taken=taken), PYTHON_TRACE.calls_deep))
            self._written[branch, taken] = found
        return found

    def _writes(self, nodes: Iterable[Node], depth: int) -> Iterator[str]:
        for node in nodes:
            if node["store"]:
                yield _spelled_target(node)
            elif node.type == "Call":
                yield from _contents(node)
                yield from self._called(node["func"], depth)

    def _called(self, function: Node, depth: int) -> Iterator[str]:
        """The attributes that functions of this name write, and what they call."""
        name = function["attr"] if function.type == "Attribute" else function["id"]
        targets = self._functions.get(name, []) if isinstance(name, str) and depth else []
        for target in targets[:4]:
            yield from self._function_writes(target, depth - 1)

    def _function_writes(self, function: Node, depth: int) -> frozenset[str]:
        found = self._by_function.get((function, depth))
        if found is None:
            self._by_function[function, depth] = frozenset()  # recursion ends here
            body = function["body"]
            parts = body if isinstance(body, list) else [body]
            inside = (node for part in parts for node in part.walk())
            names = self._writes(inside, depth)
            found = frozenset(name for name in names if name.startswith("."))
            self._by_function[function, depth] = found
        return found


def _spelled_target(node: Node) -> str:
    match node.type:
        case "Attribute":
            return f".{node['attr']}"
        case "Subscript":
            return f"{_spelled_target(node['value'])}[]"
        case "Name":
            return str(node["id"])
    return str(node["arg"] or node["asname"] or node["name"] or "")


def _defined_cells(node: Node) -> tuple[str, ...]:
    """The cells that the row of a node defined."""
    if node["store"] or node.type in {"arg", "alias"}:
        return (_spelled_target(node),)
    parent = node.parent
    if parent is not None and parent.type in {"Assign", "AnnAssign", "NamedExpr"}:
        return tuple(_spelled_target(target) for target in parent["targets"] or [parent["target"]])
    return tuple(_contents(node)) if node.type == "Call" else ()


def _contents(call: Node) -> Iterator[str]:
    """What a call may change: its object's content, and that of what it is given."""
    method = called_method(call)
    if method is not None and may_write(method["attr"]):
        yield f"{_spelled_target(method['value'])}[]"
    if not pure_function(call) and not (method and leaves_arguments(method["attr"])):
        for argument in call["args"]:
            if argument.type in {"Name", "Attribute"}:
                yield f"{_spelled_target(argument)}[]"
