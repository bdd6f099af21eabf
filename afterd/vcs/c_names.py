"""The names that each change of a C or C++ program defines and uses, read once from both versions.

tree-sitter reads each changed file as it is in both versions; where macros or ``#if`` cut through a
statement it goes on behind it, so a name may be missed. What is read here is therefore where to begin;
a compiler has the last word.
"""

from __future__ import annotations

import importlib
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import PurePosixPath

from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser

from afterd.model.change import Change, ChangeForm, ChangeId
from afterd.model.location import LineSpan
from afterd.model.names import ChangeNames, Name, SideNames
from afterd.vcs.tokens import CONDITIONAL, Language, TokenKind, tokens

ReadFile = Callable[[str], bytes | None]
"""A file of one version by its path; None where that version has none."""

_C = frozenset([".c", ".h", ".inc", ".def"])
_CXX = frozenset([".cc", ".cpp", ".cxx", ".c++", ".hpp", ".hh", ".hxx", ".h++", ".ipp", ".tcc"])
_HEADERS = frozenset([".h", ".inc", ".def", ".hpp", ".hh", ".hxx", ".h++", ".ipp", ".tcc"])
_USED = frozenset({"identifier", "type_identifier"})
_WORD = re.compile(r"(\.|->)?\s*\b([A-Za-z_]\w*)")
_EVERY_LINE = LineSpan(1, 1 << 62)
_BRACKETS = {"{": ("{", 1), "}": ("{", -1), "(": ("(", 1), ")": ("(", -1)}
_TYPES = frozenset({"struct_specifier", "union_specifier", "class_specifier", "enum_specifier"})
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


@dataclass(slots=True)
class _Text:
    """The names of one file: by line; parameters of functions and macros; arguments of calls by line."""

    defines: dict[int, set[Name]] = field(default_factory=lambda: defaultdict(set))
    declares: dict[int, set[Name]] = field(default_factory=lambda: defaultdict(set))
    uses: dict[int, set[Name]] = field(default_factory=lambda: defaultdict(set))
    taking: dict[Name, set[int]] = field(default_factory=lambda: defaultdict(set))
    headed: list[tuple[int, Name, int, bool]] = field(default_factory=list)
    called: list[tuple[int, Name, int]] = field(default_factory=list)
    private: set[Name] = field(default_factory=set)

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


def change_names(
    changes: Sequence[Change], good: ReadFile, bad: ReadFile
) -> tuple[Mapping[ChangeId, ChangeNames], frozenset[Name]]:
    """What each change mentions, and the names that changed files define on lines no change has."""
    mine = [change for change in changes if is_named(change.file)]
    cxx = any(PurePosixPath(change.file).suffix in _CXX for change in mine)
    old = _version([(c.old_file, c.old, c.form) for c in mine], good, cxx=cxx)
    new = _version([(c.file, c.new, c.form) for c in mine], bad, cxx=cxx)
    _add_arities(old, new)
    opened, closed = _halves(mine)
    found: dict[ChangeId, ChangeNames] = {}
    for change in mine:
        begun, ended = opened[change.id], closed[change.id]
        found[change.id] = ChangeNames(
            _side(
                old.get(change.old_file), change, change.old, _bracket_names("old", begun, ended)
            ),
            _side(new.get(change.file), change, change.new, _bracket_names("new", begun, ended)),
            change.file,
        )
    return _with_parts(found, mine, new), _standing_names(new, mine)


def _with_parts(
    named: Mapping[ChangeId, ChangeNames], changes: Sequence[Change], texts: Mapping[str, _Text]
) -> Mapping[ChangeId, ChangeNames]:
    """The names, where an added file has what no part of it has that can be undone while the file stays, and each
    part asks for the file: with the file they are all gone.
    """
    files = {each.file: each for each in changes if each.form is ChangeForm.ADDED}
    parts: dict[str, list[Change]] = defaultdict(list)
    for each in changes:
        if each.form is ChangeForm.HUNK and each.file in files:
            parts[each.file].append(each)
    found = dict(named)
    for file, own in parts.items():
        there = frozenset({f"file {file}"})
        in_parts = {line for each in own for line in range(each.new.start, each.new.end)}
        whole = texts[file].side(line for line in texts[file].filled() if line not in in_parts)
        before = found[files[file].id]
        found[files[file].id] = replace(before, new=replace(whole, defines=whole.defines | there))
        for each in own:
            names = found[each.id]
            uses = replace(names.new, uses=names.new.uses | there)
            found[each.id] = replace(names, new=uses)
    return found


def _halves(
    changes: Sequence[Change],
) -> tuple[Mapping[ChangeId, set[Name]], Mapping[ChangeId, set[Name]]]:
    """Names that stand for brackets and conditionals: of the change that opens more than its old lines
    did, and of the one below it in the file that closes more. Neither parses without the other.
    """
    opened, closed = defaultdict[ChangeId, set[Name]](set), defaultdict[ChangeId, set[Name]](set)
    waiting: dict[tuple[str, str], list[tuple[ChangeId, bool]]] = defaultdict(list)
    for change in sorted(changes, key=lambda c: (c.file, c.new.start, c.new.end)):
        for bracket, more in _opened_brackets(change).items():
            begun = waiting[change.file, bracket]
            for _ in range(abs(more)):
                if not begun or begun[-1][1] == (more > 0):
                    begun.append((change.id, more > 0))
                    continue
                other, _opens = begun.pop()
                opened[other].add(f"{bracket}{other}")
                closed[change.id].add(f"{bracket}{other}")
    return opened, closed


def _opened_brackets(change: Change) -> Mapping[str, int]:
    """How many brackets and conditionals more a change's new lines open than its old ones did."""
    found = Counter[str]()
    if change.form is not ChangeForm.HUNK:
        return found
    for sign, way in (("+", 1), ("-", -1)):
        for token in tokens("\n".join(change.lines(sign)), Language.C):
            bracket, more = _BRACKETS.get(token.text, ("", 0))
            if token.kind is TokenKind.DIRECTIVE and (given := CONDITIONAL.match(token.text)):
                bracket, more = "#", {"endif": -1}.get(given[1], int(given[1].startswith("if")))
            found[bracket] += way * more
    return {bracket: more for bracket, more in found.items() if more}


def is_named(path: str) -> bool:
    """Whether names are read from a file of this name."""
    return PurePosixPath(path).suffix in _C | _CXX


def _version(
    places: Iterable[tuple[str, LineSpan, ChangeForm]], read: ReadFile, *, cxx: bool
) -> dict[str, _Text]:
    spans: dict[str, list[LineSpan]] = defaultdict(list)
    for path, span, form in places:
        spans[path].append(span if form is ChangeForm.HUNK else _EVERY_LINE)
    texts = {path: read(path) for path in sorted(spans)}
    return {
        path: _read(path, text, spans[path], cxx=cxx)
        for path, text in texts.items()
        if text is not None
    }


def _bracket_names(version: str, begun: Iterable[Name], ended: Iterable[Name]) -> SideNames:
    """Brackets as names of one version: both have them, and neither has those of the other."""
    return SideNames(
        frozenset(f"{version} {each}" for each in begun),
        uses=frozenset(f"{version} {each}" for each in ended),
    )


def _side(text: _Text | None, change: Change, span: LineSpan, brackets: SideNames) -> SideNames:
    """The names on a change's lines in one version; of a file that is new or gone, on all."""
    if text is None:
        return brackets
    is_part = change.form is ChangeForm.HUNK
    names = text.side(range(span.start, span.end) if is_part else text.filled())
    return replace(names, defines=names.defines | brackets.defines, uses=names.uses | brackets.uses)


def _standing_names(texts: Mapping[str, _Text], changes: Sequence[Change]) -> frozenset[Name]:
    """The names that are defined, or declared, where no change has written."""
    written: dict[str, set[int]] = defaultdict(set)
    for change in changes:
        written[change.file].update(range(change.new.start, change.new.end))
    return frozenset(
        name
        for path, text in texts.items()
        for line, names in text.defines.items()
        if line not in written[path]
        for name in names
    )


def _add_arities(old: Mapping[str, _Text], new: Mapping[str, _Text]) -> None:
    """Functions and macros that take another number of arguments are other ones: ``n/2`` and ``n/3``."""
    before, after = _taking_changes(old), _taking_changes(new)
    other = {
        name
        for name in before.keys() & after.keys()
        if before[name] != after[name] and len(before[name]) == len(after[name]) == 1
    }
    for text in (*old.values(), *new.values()):
        for line, name, count, body in text.headed:
            if name in other:
                (text.defines if body else text.uses)[line].add(f"{name}/{count}")
        for line, name, count in text.called:
            if name in other:
                text.uses[line].add(f"{name}/{count}")


def _taking_changes(texts: Mapping[str, _Text]) -> dict[Name, set[int]]:
    found: dict[Name, set[int]] = defaultdict(set)
    for text in texts.values():
        for name, counts in text.taking.items():
            found[name] |= counts
    return found


@cache
def _parser(grammar: str) -> Parser:
    return Parser(Grammar(importlib.import_module(grammar).language()))


def _read(path: str, content: bytes, spans: Iterable[LineSpan], *, cxx: bool) -> _Text:
    suffix = PurePosixPath(path).suffix
    grammar = "tree_sitter_cpp" if suffix in _CXX or (cxx and suffix == ".h") else "tree_sitter_c"
    is_seen = suffix in _HEADERS
    reader = _Reader(sorted(span for span in spans if span.count), is_seen=is_seen)
    reader.walk(_parser(grammar).parse(content).root_node)
    return reader.found()


@dataclass(slots=True)
class _Reader:
    """Walks a tree without recursion; what is local is known only when all of a function was seen.

    Of blocks without a line of ``spans`` nothing is read: what they define, nobody else sees. ``is_seen``: other
    files include this one.
    """

    spans: list[LineSpan]
    is_seen: bool
    text: _Text = field(default_factory=_Text)
    local: dict[str, set[Name]] = field(default_factory=lambda: defaultdict(set))
    seen: list[tuple[int, Name, str]] = field(default_factory=list)
    last: str = ""

    def walk(self, root: Node) -> None:
        """Note what every node says; children are walked in the order of the text."""
        todo: list[tuple[Node, str]] = [(root, "")]
        while todo:
            node, function = todo.pop()
            function = self._note(node, function)
            if node.type == "compound_statement" and not self._is_touched(node):
                continue
            todo += [(child, function) for child in reversed(node.named_children)]

    def _is_touched(self, node: Node) -> bool:
        at = bisect_right(self.spans, node.end_point[0] + 1, key=lambda span: span.start)
        return at > 0 and self.spans[at - 1].end > _line(node)

    def found(self) -> _Text:
        """All names, those of locals with their function."""
        for line, name, function in self.seen:
            local = function and name in self.local[function]
            self.text.uses[line].add(f"{function}()" * bool(local) + name)
        return self.text

    def _note(self, node: Node, function: str) -> str:
        """The function that the node's children are in."""
        kind = node.type
        if kind in _USED:
            self.seen.append((_line(node), _text(node), function))
        elif kind == "field_identifier":
            self.text.uses[_line(node)].add(f".{_text(node)}")
        elif kind == "function_definition":
            named = _naming_node(node)
            if named is not None:
                self._function(named, body=True)
                if _is_stored(node, "static"):
                    self._keep_private(_text(named))
                return _text(named)
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
        elif kind == "enumerator" or (kind in _TYPES and node.child_by_field_name("body")):
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
                self.text.uses[_line(label)].add(f"{function}():{_text(label)}")
        elif kind == "call_expression":
            self._call(node)

    def _define(self, named: Node | None, prefix: str = "") -> None:
        if named is not None:
            self.text.defines[_line(named)].add(prefix + _text(named))
            self._keep_private(prefix + _text(named))

    def _keep_private(self, name: Name) -> None:
        """Note that other files do not see it: it is a type, a field, a macro, or static."""
        if not self.is_seen:
            self.text.private.add(name)

    def _call(self, node: Node) -> None:
        named, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if named is not None and given is not None and named.type == "identifier":
            self.text.called.append((_line(named), _text(named), _count(given)))

    def _declaration(self, node: Node, function: str) -> None:
        extern, static = _is_stored(node, "extern"), _is_stored(node, "static")
        for declarator in node.children_by_field_name("declarator"):
            named = _declared_identifier(declarator)
            if named is None:
                continue
            if static and not function:
                self._keep_private(_text(named))
            if _is_prototype(declarator):
                self._function(named, body=False)
            elif function:
                self._own([named], function)
            else:
                (self.text.declares if extern else self.text.defines)[_line(named)].add(
                    _text(named)
                )

    def _own(self, named: Iterable[Node], function: str) -> None:
        for each in named:
            self.local[function].add(_text(each))
            self._define(each, f"{function}()")

    def _function(self, named: Node, *, body: bool) -> None:
        name, line = _text(named), _line(named)
        (self.text.defines if body else self.text.declares)[line].add(name)
        self.last = name
        head = named
        while head.parent is not None and head.type != "function_declarator":
            head = head.parent
        if head.parent is not None and _named_by_macro(head.parent) == named:
            head = head.parent
        given = head.child_by_field_name("parameters")
        if given is None or "..." in _text(given):
            return
        count = _count(given)
        if _text(given).strip("() \n\t") in {"void", ""}:
            count = 0
            if not body:
                return  # () tells nothing
        self.text.taking[name].add(count)
        self.text.headed.append((line, name, count, body))

    def _macro(self, node: Node) -> None:
        named, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if named is None:
            return
        name, line = _text(named), _line(named)
        self.text.defines[line].add(name)
        self._keep_private(name)
        given = node.child_by_field_name("parameters")
        own = {_text(child) for child in given.named_children} if given is not None else set()
        if given is not None and "..." not in _text(given):
            self.text.taking[name].add(len(own))
            self.text.headed.append((line, name, len(own), True))
        if value is not None:
            at = _line(value)
            for number, part in enumerate(_text(value).split("\n")):
                for member, word in _WORD.findall(part):
                    if word not in own:
                        self.text.uses[at + number].add("." * bool(member) + word)


def _is_stored(node: Node, how: str) -> bool:
    """Whether a declaration says that it is ``static`` or ``extern``."""
    return any(
        child.type == "storage_class_specifier" and _text(child) == how for child in node.children
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


def _line(node: Node) -> int:
    return node.start_point[0] + 1


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
