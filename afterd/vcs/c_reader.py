"""The names on each line of a C or C++ file, read by its syntax.

tree-sitter goes on behind what macros or ``#if`` cut through, so a name may be missed.
"""

from __future__ import annotations

import importlib
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate
from pathlib import PurePosixPath

from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser

from afterd.model.location import LineSpan
from afterd.model.names import Name, SideNames

C = frozenset([".c", ".h", ".inc", ".def"])
_CXX_HEADERS = frozenset([".hpp", ".hh", ".hxx", ".h++", ".inl", ".ipp", ".tcc", ".tpp", ".txx"])
CXX = _CXX_HEADERS | {".cc", ".cpp", ".cxx", ".c++"}
_HEADERS = _CXX_HEADERS | {".h", ".inc", ".def"}
_USED = frozenset({"identifier", "type_identifier"})
_WORD = re.compile(r"(\.|->)?\s*\b([A-Za-z_]\w*)")
_CONSTANT = r"\s*(?:-?\d\w*|[A-Z_][A-Z\d_]*|true|false|nullptr)\s*"
_IS_CONSTANT = re.compile(_CONSTANT)
_GIVEN = re.compile(rf"(\.|->)?\s*\b([A-Za-z_]\w*)\s*=(?!=)(?!{_CONSTANT};)")
_SCOPES = frozenset({"function_definition", "compound_statement", "for_statement"})
TYPES = frozenset({"struct_specifier", "union_specifier", "class_specifier", "enum_specifier"})
_MEMBERS = {"type_definition": "", "field_declaration": "."}
_DECLARATORS = frozenset(
    {
        "init_declarator",
        "pointer_declarator",
        "reference_declarator",
        "array_declarator",
        "function_declarator",
        "parenthesized_declarator",
        "attributed_declarator",
    }
)


@dataclass(frozen=True, slots=True)
class LocalName:
    """A variable of a function (``f()n``) on a line, and the line on which that one is declared."""

    line: int
    name: Name
    declared: int

    @property
    def is_declared_here(self) -> bool:
        """Whether this line is the one."""
        return self.line == self.declared


@dataclass(frozen=True, slots=True)
class Counted:
    """A function's or macro's name on some rows, with its parameters or with what a call gives: ``is_body`` where it
    is defined there.
    """

    name: Name
    span: LineSpan
    count: int
    is_body: bool = False


@dataclass(slots=True)
class _Scope:
    """A block with the lines on which its variables are declared."""

    around: _Scope | None = None
    variables: dict[str, int] = field(default_factory=dict)

    def declared(self, name: str) -> int:
        """The line on which a name is declared that is used here; 0 where none is."""
        scope: _Scope | None = self
        while scope is not None and name not in scope.variables:
            scope = scope.around
        return 0 if scope is None else scope.variables[name]


@dataclass(slots=True)
class FileNames:
    """The names of one file, the headers it includes, and what is given a value that is no local variable, by line;
    parameters of functions and macros; arguments of calls by line.
    """

    defines: dict[int, set[Name]] = field(default_factory=lambda: defaultdict(set))
    declares: dict[int, set[Name]] = field(default_factory=lambda: defaultdict(set))
    uses: dict[int, set[Name]] = field(default_factory=lambda: defaultdict(set))
    included: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    taking: dict[Name, set[int]] = field(default_factory=lambda: defaultdict(set))
    headed: list[Counted] = field(default_factory=list)
    called: list[Counted] = field(default_factory=list)
    private: set[Name] = field(default_factory=set)
    own: list[LocalName] = field(default_factory=list)
    assigned: dict[int, set[Name]] = field(default_factory=lambda: defaultdict(set))

    def filled(self) -> Iterable[int]:
        """The lines that any name is on."""
        return sorted({*self.defines, *self.declares, *self.uses})

    def side(self, lines: Iterable[int]) -> SideNames:
        """The names on some lines."""
        wanted = frozenset(lines)

        def on(names: Mapping[int, set[Name]]) -> frozenset[Name]:
            return frozenset().union(*(names[line] for line in wanted if line in names))

        defined = on(self.defines)
        return SideNames(defined, on(self.declares), on(self.uses), defined & self.private)


@cache
def _parser(grammar: str) -> Parser:
    """tree-sitter's parser by the name of its module."""
    return Parser(Grammar(importlib.import_module(grammar).language()))


def syntax_tree(path: str, content: bytes, *, of_cxx: bool = False) -> Node:
    """The root of a file's syntax tree. ``of_cxx``: its headers are C++."""
    grammar = "tree_sitter_cpp" if _is_cxx(path, of_cxx=of_cxx) else "tree_sitter_c"
    return _parser(grammar).parse(content).root_node


def file_names(path: str, content: bytes, spans: Iterable[LineSpan], *, of_cxx: bool) -> FileNames:
    """The names of a file; of functions without a line of ``spans`` only what others see. ``of_cxx``: its headers
    are C++.
    """
    is_seen = PurePosixPath(path).suffix in _HEADERS
    is_cxx = _is_cxx(path, of_cxx=of_cxx)
    reader = _Reader(_Touched(spans), is_seen=is_seen, is_cxx=is_cxx)
    reader.walk(syntax_tree(path, content, of_cxx=of_cxx))
    return reader.found()


def _is_cxx(path: str, *, of_cxx: bool) -> bool:
    suffix = PurePosixPath(path).suffix
    return suffix in CXX or (of_cxx and suffix == ".h")


class _Touched:
    """The lines of some spans, of which one may lie within another: parts of an added file."""

    def __init__(self, spans: Iterable[LineSpan]) -> None:
        known = sorted(span for span in spans if span.count)
        self._starts = [span.start for span in known]
        self._farthest = list(accumulate((span.end for span in known), max))

    def has(self, node: Node) -> bool:
        """Whether a node is on one of them."""
        at = bisect_right(self._starts, node.end_point[0] + 1)
        return at > 0 and self._farthest[at - 1] > _line(node)


@dataclass(slots=True)
class _Reader:
    """Walks a tree without recursion; what is local is known only when all of a function was seen.

    Of blocks without a ``touched`` line nothing is read: what they define, nobody else sees. ``is_seen``: other
    files include this one. ``is_cxx``: a plain name may be a member's, in a function of its class or behind ``::``.
    """

    touched: _Touched
    is_seen: bool
    is_cxx: bool
    text: FileNames = field(default_factory=FileNames)
    scope: _Scope = field(default_factory=_Scope)
    seen: list[tuple[int, Name, str, _Scope]] = field(default_factory=list)
    members: list[tuple[int, Name, str, _Scope]] = field(default_factory=list)
    given: list[tuple[int, Name, str, _Scope]] = field(default_factory=list)
    last: str = ""

    def walk(self, root: Node) -> None:
        """Note what every node says; children are walked in the order of the text."""
        todo: list[tuple[Node, str, _Scope]] = [(root, "", self.scope)]
        while todo:
            node, function, self.scope = todo.pop()
            if node.is_missing:
                continue  # what the grammar asks for where a macro is given an operator
            if node.type in _SCOPES:
                self.scope = _Scope(self.scope)
            function = self._note(node, function)
            if node.type == "compound_statement" and not self.touched.has(node):
                self._skim(node)
                continue
            scope = self.scope
            todo += [(child, function, scope) for child in reversed(node.named_children)]

    def _skim(self, node: Node) -> None:
        """Note what is given a value in a block of which nothing else is read: a local variable may be among it."""
        found = _GIVEN.finditer(node_text(node))
        self.text.assigned[_line(node)] |= {f"{'.' * bool(each[1])}{each[2]}" for each in found}

    def found(self) -> FileNames:
        """All names, those of locals with their function."""
        for line, name, function, scope in self.seen:
            declared = scope.declared(name) if function else 0
            if not declared:
                self.text.uses[line].add(name)
            elif declared != line:
                self.text.own.append(LocalName(line, f"{function}(){name}", declared))
        for line, name, function, scope in self.given:
            if name[0] == "." or not (function and scope.declared(name)):
                self.text.assigned[line].add(name)
        for line, name, function, scope in self.members:
            if not (function and scope.declared(name)):
                self.text.uses[line].add(f".{name}")
        return self.text

    def _note(self, node: Node, function: str) -> str:
        """The function that the node's children are in."""
        kind = node.type
        if kind in _USED:
            self.seen.append((_line(node), node_text(node), function, self.scope))
            if self.is_cxx and kind == "identifier" and not _is_declared(node):
                self.members.append(self.seen[-1])
        elif kind == "field_identifier":
            self.text.uses[_line(node)].add(f".{node_text(node)}")
        elif kind == "function_definition":
            named = _naming_node(node)
            if named is not None and not named.is_missing:
                self._function(named, body=True)
                if named.type == "field_identifier":  # in its class
                    self._define(named, ".")
                if _is_stored(node, "static"):
                    self._keep_private(node_text(named))
                return node_text(named)
        elif kind == "compound_statement" and not function:
            return self.last  # of a K&R definition, whose head is read as a declaration
        elif kind == "declaration":
            self._declaration(node, function)
        else:
            self._other(node, kind, function)
        return function

    def _other(self, node: Node, kind: str, function: str) -> None:
        if kind in {"parameter_declaration", "optional_parameter_declaration"}:
            if function:
                self._own(_all_named(node), function)
        elif kind in {"preproc_def", "preproc_function_def"}:
            self._macro(node)
        elif kind == "enumerator" or (kind in TYPES and node.child_by_field_name("body")):
            self._define(node.child_by_field_name("name"))
        elif kind in _MEMBERS:
            for named in _all_named(node):
                self._define(named, _MEMBERS[kind])
        elif kind == "labeled_statement":
            self._define(node.child_by_field_name("label"), f"{function}():")
        else:
            self._refer(node, kind, function)

    def _refer(self, node: Node, kind: str, function: str) -> None:
        if kind == "goto_statement":
            for label in node.children_by_field_name("label"):
                self.text.uses[_line(label)].add(f"{function}():{node_text(label)}")
        elif kind == "call_expression":
            self._call(node)
        elif kind == "assignment_expression":
            self._assign(node, function)
        elif kind == "preproc_include" and (path := node.child_by_field_name("path")) is not None:
            self.text.included[_line(node)].add(node_text(path).strip('"<>'))

    def _define(self, named: Node | None, prefix: str = "") -> None:
        if named is not None and not named.is_missing:
            self.text.defines[_line(named)].add(prefix + node_text(named))
            self._keep_private(prefix + node_text(named))

    def _keep_private(self, name: Name) -> None:
        """Note that other files do not see it: it is a type, a field, a macro, or static."""
        if not self.is_seen:
            self.text.private.add(name)

    def _call(self, node: Node) -> None:
        named, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if named is not None and given is not None and named.type == "identifier":
            self.text.called.append(Counted(node_text(named), _rows(named, given), _count(given)))

    def _assign(self, node: Node, function: str) -> None:
        """What gets a value that is worked out: what is set to a constant may be set to it anywhere first."""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if (
            left is None
            or left.is_missing
            or right is None
            or _IS_CONSTANT.fullmatch(node_text(right))
        ):
            return
        member = left.child_by_field_name("field")
        if left.type == "identifier":
            self.given.append((_line(left), node_text(left), function, self.scope))
        elif member is not None and not member.is_missing:
            self.given.append((_line(member), f".{node_text(member)}", function, self.scope))

    def _declaration(self, node: Node, function: str) -> None:
        extern, static = _is_stored(node, "extern"), _is_stored(node, "static")
        for declarator in node.children_by_field_name("declarator"):
            named = _declared_identifier(declarator)
            if named is None:
                continue
            if static and not function:
                self._keep_private(node_text(named))
            if _is_prototype(declarator):
                self._function(named, body=False)
            elif function:
                self._own([named], function)
            else:
                (self.text.declares if extern else self.text.defines)[_line(named)].add(
                    node_text(named)
                )

    def _own(self, named: Iterable[Node], function: str) -> None:
        for each in named:
            name, line = node_text(each), _line(each)
            self.scope.variables[name] = line
            self.text.own.append(LocalName(line, f"{function}(){name}", line))

    def _function(self, named: Node, *, body: bool) -> None:
        name, line = node_text(named), _line(named)
        (self.text.defines if body else self.text.declares)[line].add(name)
        self.last = name
        head = named
        while head.parent is not None and head.type != "function_declarator":
            head = head.parent
        if head.parent is not None and _named_by_macro(head.parent) == named:
            head = head.parent
        given = head.child_by_field_name("parameters")
        if given is None or "..." in node_text(given):
            return
        count = _count(given)
        if node_text(given).strip("() \n\t") in {"void", ""}:
            count = 0
            if not body:
                return  # () tells nothing
        self.text.taking[name].add(count)
        self.text.headed.append(Counted(name, _rows(named, given), count, body))

    def _macro(self, node: Node) -> None:
        named, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if named is None:
            return
        name, line = node_text(named), _line(named)
        self.text.defines[line].add(name)
        self._keep_private(name)
        given = node.child_by_field_name("parameters")
        own = {node_text(child) for child in given.named_children} if given is not None else set()
        if given is not None and "..." not in node_text(given):
            self.text.taking[name].add(len(own))
            self.text.headed.append(Counted(name, _rows(named, given), len(own), is_body=True))
        if value is not None:
            at = _line(value)
            for number, part in enumerate(node_text(value).split("\n")):
                self.text.uses[at + number] |= mentioned_names(part, own)


def mentioned_names(text: str, own: Container[str] = ()) -> set[Name]:
    """The words of a text that need not be C alone, but for its ``own``; members begin with a dot."""
    found = _WORD.findall(text)
    return {"." * bool(member) + word for member, word in found if word not in own}


def _is_declared(named: Node) -> bool:
    """Whether a name stands where it is declared, not where it is used."""
    above = named.parent
    return above is not None and above.child_by_field_name("declarator") == named


def _is_stored(node: Node, how: str) -> bool:
    """Whether a declaration says that it is ``static`` or ``extern``."""
    return any(
        child.type == "storage_class_specifier" and node_text(child) == how
        for child in node.children
    )


def _is_prototype(declarator: Node) -> bool:
    """Whether a declarator is a function's, not a pointer to one."""
    while declarator.type in {"pointer_declarator", "reference_declarator"}:
        inner = declarator.child_by_field_name("declarator")
        if inner is None:
            return False
        declarator = inner
    if _named_by_macro(declarator) is not None:
        return True
    inner = declarator.child_by_field_name("declarator")
    return (
        declarator.type == "function_declarator"
        and inner is not None
        and inner.type in {"identifier", "qualified_identifier", "field_identifier"}
    )


def _naming_node(node: Node) -> Node | None:
    return next(_all_named(node), None)


def _all_named(node: Node) -> Iterator[Node]:
    for declarator in node.children_by_field_name("declarator"):
        named = _declared_identifier(declarator)
        if named is not None:
            yield named


def _declared_identifier(declarator: Node) -> Node | None:
    """The identifier that a declarator declares; None where it has none."""
    node: Node | None = declarator
    while node is not None and node.type in _DECLARATORS:
        if (named := _named_by_macro(node)) is not None:
            return named
        inner = node.child_by_field_name("declarator")
        node = (
            inner
            if inner is not None
            else next(
                (
                    c
                    for c in node.named_children
                    if c.type in _DECLARATORS or "identifier" in c.type
                ),
                None,
            )
        )
    if node is not None and node.type == "qualified_identifier":
        node = node.child_by_field_name("name")
    return node if node is not None and node.type.endswith("identifier") else None


def _named_by_macro(declarator: Node) -> Node | None:
    """``name`` of ``MACRO(name)(int a)``, which reads as a function that returns a function; else None."""
    called = declarator.child_by_field_name("declarator")
    if declarator.type != "function_declarator" or called is None:
        return None
    given = called.child_by_field_name("parameters")
    if called.type != "function_declarator" or given is None or given.named_child_count != 1:
        return None
    within = given.named_children[0].named_children
    return within[0] if [node.type for node in within] == ["type_identifier"] else None


def _count(given: Node) -> int:
    return sum(child.type != "comment" for child in given.named_children)


def _rows(first: Node, last: Node) -> LineSpan:
    """From the line where one node begins to that where another one ends."""
    return LineSpan(_line(first), last.end_point[0] + 2 - _line(first))


def _line(node: Node) -> int:
    return node.start_point[0] + 1


def node_text(node: Node) -> str:
    """The text of a node, whatever its encoding."""
    return (node.text or b"").decode("utf-8", "replace")
