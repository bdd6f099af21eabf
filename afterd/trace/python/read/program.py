"""The program's syntax as the tracer exported it (``runtime/tree.py``): nodes with parents."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from afterd.errors import TraceError
from afterd.trace.linemap import one_line_of

Field = Any  # of a node: a Node, a list, a string, a constant; None where there is none

FRAMES = frozenset({"Module", "FunctionDef", "AsyncFunctionDef", "ClassDef", "Lambda"})
FUNCTIONS = frozenset({"FunctionDef", "AsyncFunctionDef", "Lambda"})
COMPREHENSIONS = frozenset({"ListComp", "SetComp", "DictComp", "GeneratorExp"})
STATEMENTS = FRAMES - {"Module", "Lambda"} | frozenset(
    """Return Delete Assign TypeAlias AugAssign AnnAssign For AsyncFor While If With AsyncWith Match
    Raise Try TryStar Assert Import ImportFrom Global Nonlocal Expr Pass Break Continue
    ExceptHandler match_case""".split()  # noqa: SIM905 # a table of words
)
IMPORTS = frozenset({"Import", "ImportFrom"})
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")

MODULE_SCOPE = 0
BUILTIN = -1


@dataclass(eq=False, slots=True)
class Node:
    """A syntax node; ``number`` is unique in its module, positions count from 1 (0: none). ``yields``: for a
    function, the kinds of yield expressions that are its own.

    Compared by identity. Not frozen only because children and parents refer to each other.
    """

    type: str
    number: int
    line: int
    column: int
    end_line: int
    end_column: int
    fields: dict[str, Any]
    module: Module
    parent: Node | None = None
    yields: frozenset[str] = frozenset()
    _children: tuple[Node, ...] | None = None

    def __getitem__(self, name: str) -> Field:
        return self.fields.get(name)

    def children(self) -> tuple[Node, ...]:
        """Child nodes in source order of their fields."""
        if self._children is None:  # a tree that was read changes no more
            found: list[Node] = []
            for value in self.fields.values():
                if isinstance(value, Node):
                    found.append(value)
                elif isinstance(value, list):
                    found.extend(item for item in value if isinstance(item, Node))
            self._children = tuple(found)
        return self._children

    def walk(self) -> Iterator[Node]:
        """This node and everything below it."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children()))

    def ancestors(self) -> Iterator[Node]:
        """The nodes around this one, nearest first."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    @property
    def is_statement(self) -> bool:
        """Whether it stands in a block (handlers and cases do too)."""
        return self.type in STATEMENTS

    @property
    def statement(self) -> Node:
        """The innermost statement (or handler, or case) around it; itself where it is one."""
        node = self
        while node.parent is not None and not node.is_statement:
            node = node.parent
        return node

    @property
    def frame(self) -> Node:
        """The function, class, lambda or module whose frame executes it.

        Decorators, defaults and bases belong to the frame outside.
        """
        child, below = self, None
        given_outside = False  # it is part of a parameter's default or annotation
        for node in self.ancestors():
            if node.type == "arguments":
                given_outside = child.type != "arg" or below is not None
            outside = given_outside and child.type == "arguments"
            if node.type in FRAMES and not outside and _frame_is_inside(node, child):
                return node
            child, below = node, child
        return self.module.root

    @property
    def text(self) -> str:
        """The first line of its source, without the indentation; all lines of a statement, in one, without
        those of its blocks.
        """
        last = self.end_line if self.is_statement else self.line
        for name in BLOCKS:
            if isinstance(block := self[name], list) and block and self.is_statement:
                first = [block[0], *(block[0]["decorator_list"] or [])]
                last = min(last, max(self.line, min(node.line for node in first) - 1))
        return one_line_of(self.module.text[max(self.line - 1, 0) : last])

    @property
    def source(self) -> str:
        """Its own source text; empty where that is not known: of what stands for a part of an assert, with pytest of
        before 7, only where the whole is.
        """
        lines = self.module.text
        if not self.is_statement and self.statement.type != "Expr" and self._is_all_of_statement():
            return ""
        if not 0 < self.line <= self.end_line <= len(lines):
            return ""
        if self.line == self.end_line:
            line = lines[self.line - 1].encode()
            return line[self.column - 1 : self.end_column - 1].decode("utf-8", "replace")
        return "\n".join(lines[self.line - 1 : self.end_line])

    def _is_all_of_statement(self) -> bool:
        """Whether it stands where its whole statement does."""
        mine, whole = (
            (each.line, each.column, each.end_line, each.end_column)
            for each in (self, self.statement)
        )
        return mine == whole


def _frame_is_inside(frame: Node, child: Node) -> bool:
    if frame.type == "Lambda":
        return child is frame["body"] or child is frame["args"]
    if frame.type in {"FunctionDef", "AsyncFunctionDef"}:
        return child in frame["body"] or child is frame["args"]
    return child in frame["body"]


@dataclass(eq=False, slots=True, weakref_slot=True)
class Module:
    """One text of one module: ``path`` in the tree, its lines, its nodes by number."""

    key: int
    path: str
    text: list[str]
    nodes: dict[int, Node] = field(default_factory=dict)
    _bindings: dict[tuple[int, str], list[Node]] | None = None
    _stars: list[Node] | None = None
    _types: dict[str, list[Node]] | None = None

    def of_type(self, *types: str) -> Iterator[Node]:
        """Its nodes of these types; those of one type in their order."""
        if self._types is None:
            self._types = {}
            for node in self.nodes.values():
                self._types.setdefault(node.type, []).append(node)
        for kind in sorted(types):
            yield from self._types.get(kind, ())

    @property
    def root(self) -> Node:
        """The module node."""
        return self.nodes[MODULE_SCOPE]

    @property
    def star_imports(self) -> list[Node]:
        """Its ``from … import *`` statements."""
        if self._stars is None:
            aliases = [node for node in self.of_type("alias") if node["name"] == "*"]
            self._stars = [alias.parent for alias in aliases if alias.parent is not None]
        return self._stars

    def bindings(self, owner: int, name: str) -> list[Node]:
        """The nodes that bind ``name`` in the scope with number ``owner``."""
        if self._bindings is None:
            self._bindings = {}
            for node in self.nodes.values():
                if (bound := bound_name(node)) and (node["store"] or node.type != "Name"):
                    self._bindings.setdefault((node["owner"], bound), []).append(node)
        return self._bindings.get((owner, name), [])


def called_name(call: Node) -> str:
    """By what name a function or a method is called; empty where it has none."""
    function = call["func"]
    return str(function["id"] or function["attr"] or "")


def bound_name(node: Node) -> str:
    """The name that a node binds or reads; empty where it does neither."""
    match node.type:
        case "Name":
            return str(node["id"])
        case "arg":
            return str(node["arg"])
        case "FunctionDef" | "AsyncFunctionDef" | "ClassDef" | "ExceptHandler" | "MatchAs":
            return str(node["name"] or "")
        case "MatchStar":
            return str(node["name"] or "")
        case "alias":
            return str(node["asname"] or node["name"].partition(".")[0])
    return ""


_loaded: WeakValueDictionary[tuple[int, str], Module] = WeakValueDictionary()


def load_module(key: int, path: str, exported: Path) -> Module:
    """The module whose tree is at ``exported``; raises TraceError when it is gone.

    Two runs that loaded the same text have one module between them.
    """
    shared = _loaded.get((key, str(exported)))
    if shared is not None and shared.path == path:
        return shared
    try:
        content = json.loads(exported.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise TraceError(
            f"The syntax tree of {path} cannot be read from {exported}: {error}."
        ) from error
    module = Module(key, path, content["text"])
    _build(content["tree"], module)
    _loaded[key, str(exported)] = module
    return module


def load_lines(path: str, table: Path) -> array[int]:
    """The line of each node of a module by its number; raises TraceError when its table is gone."""
    found = array("I")
    try:
        found.frombytes(table.read_bytes())
    except (OSError, ValueError) as error:
        raise TraceError(f"The lines of {path} cannot be read from {table}: {error}.") from error
    return found


def _build(exported: list[Any], module: Module) -> None:
    """Nodes from the export; iterative, because expressions can be deep."""
    stack: list[tuple[list[Any], Node | None, list[Any] | dict[str, Any], Any]] = []
    root: list[Any] = [None]
    stack.append((exported, None, root, 0))
    while stack:
        (kind, number, *position, fields), parent, holder, place = stack.pop()
        line, column, end_line, end_column = position
        node = Node(kind, number, line, column, end_line, end_column, dict(fields), module, parent)
        holder[place] = node
        module.nodes[number] = node
        for name, value in fields.items():
            if _is_node(value):
                stack.append((value, node, node.fields, name))
            elif isinstance(value, list):
                items = list(value)
                node.fields[name] = items
                stack.extend(
                    (item, node, items, index) for index, item in enumerate(value) if _is_node(item)
                )
    for node in module.of_type("Yield", "YieldFrom"):
        node.frame.yields |= {node.type}


def _is_node(value: object) -> bool:
    """A list that starts with a type name and a number: names of ``global`` hold no numbers."""
    return isinstance(value, list) and len(value) == 7 and isinstance(value[6], dict)


def innermost_statement(root: Node, line: int) -> Node | None:
    """The innermost statement whose lines cover ``line``; rewritten asserts share theirs."""
    found: Node | None = None
    stack = [root]
    while stack:
        node = stack.pop()
        if node.is_statement and node.line:  # a case has no lines of its own
            first = min([node.line, *(item.line for item in node["decorator_list"] or [])])
            if not first <= line <= node.end_line:
                continue  # nor does anything below it cover the line
            if node.type != "ExceptHandler" and (
                found is None or (node.line >= found.line and node.end_line <= found.end_line)
            ):
                found = node
        stack.extend(reversed(node.children()))
    return found


def qualified_name(node: Node) -> str:
    """``Class.method`` of a function or class; empty for a module."""
    names = [_own_name(node)] if node.type != "Module" else []
    names.extend(_own_name(outer) for outer in node.ancestors() if outer.type in FRAMES)
    return ".".join(name for name in reversed(names) if name)


def _own_name(node: Node) -> str:
    return "<lambda>" if node.type == "Lambda" else str(node["name"] or "")
