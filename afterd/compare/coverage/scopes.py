"""Names that a source text defines and uses, by tree-sitter: what must go along when a part is undone.

A function's names are looked for in itself, in what is around it, and at the top of the program; what
is found nowhere is free (a global of the language, in most texts). A half-undone text that has free
names which neither version has cannot work, nor one that no longer parses, nor, in Go, one that
imports what it does not use.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePosixPath

from tree_sitter import Language, Node, Parser

_GRAMMARS = {
    ".js": ("tree_sitter_javascript", "language"),
    ".mjs": ("tree_sitter_javascript", "language"),
    ".cjs": ("tree_sitter_javascript", "language"),
    ".jsx": ("tree_sitter_javascript", "language"),
    ".ts": ("tree_sitter_typescript", "language_typescript"),
    ".mts": ("tree_sitter_typescript", "language_typescript"),
    ".cts": ("tree_sitter_typescript", "language_typescript"),
    ".tsx": ("tree_sitter_typescript", "language_tsx"),
    ".go": ("tree_sitter_go", "language"),
    ".rs": ("tree_sitter_rust", "language"),
    ".java": ("tree_sitter_java", "language"),
}
_SCOPES = frozenset(
    (
        *("function_declaration", "function_expression", "generator_function", "arrow_function"),
        *(
            "generator_function_declaration",
            "method_definition",
            "class_body",
            "method_declaration",
        ),
        *(
            "function_item",
            "closure_expression",
            "impl_item",
            "trait_item",
            "func_literal",
            "mod_item",
        ),
        # What is only declared: the names of its parameters are nobody else's.
        *("method_elem", "function_type", "function_signature", "function_signature_item"),
        *("method_signature", "construct_signature", "call_signature", "constructor_type"),
        *("constructor_declaration", "interface_body", "enum_body", "annotation_type_body"),
    )
)
_DEFINING = {  # by node: the fields that hold the names it defines; "": all names in it but its value
    "function_declaration": "name",
    "generator_function_declaration": "name",
    "function_signature": "name",
    "class_declaration": "name",
    "abstract_class_declaration": "name",
    "interface_declaration": "name",
    "type_alias_declaration": "name",
    "enum_declaration": "name",
    "variable_declarator": "name",
    "formal_parameters": "",
    "catch_clause": "parameter",
    "import_clause": "",
    "import_specifier": "",
    "namespace_import": "",
    "arrow_function": "parameter",
    "for_in_statement": "left",
    "type_parameters": "",
    # Go
    "type_spec": "name",
    "type_alias": "name",
    "const_spec": "name",
    "var_spec": "name",
    "short_var_declaration": "left",
    "range_clause": "left",
    "parameter_list": "",
    "type_switch_statement": "alias",
    "receive_statement": "left",
    # Rust
    "function_item": "name",
    "function_signature_item": "name",
    "struct_item": "name",
    "enum_item": "name",
    "enum_variant": "name",
    "union_item": "name",
    "trait_item": "name",
    "type_item": "name",
    "associated_type": "name",
    "const_item": "name",
    "static_item": "name",
    "mod_item": "name",
    "macro_definition": "name",
    "let_declaration": "pattern",
    "let_condition": "pattern",
    "match_pattern": "",
    "for_expression": "pattern",
    "closure_parameters": "",
    "parameters": "",
    "use_declaration": "",
    "const_parameter": "name",
    # Java
    "method_declaration": "name",
    "record_declaration": "name",
    "annotation_type_declaration": "name",
    "enum_constant": "name",
    "import_declaration": "",
    "catch_formal_parameter": "name",
    "enhanced_for_statement": "name",
    "resource": "name",
    "lambda_expression": "parameters",
    "instanceof_expression": "name",
    "type_pattern": "",
    "record_pattern_component": "",
}
_NAMES = frozenset({"identifier", "type_identifier", "shorthand_property_identifier"})
_BOUND = frozenset({*_NAMES, "shorthand_property_identifier_pattern"})
_MEMBERS = frozenset({"property_identifier", "field_identifier"})
_ASKED_AS_NAMES = {  # Java: where a member that is asked for is an identifier, the field that it is
    "field_access": "field",
    "method_invocation": "name",
}
_DECLARED_AS_NAMES = {  # Java: where a member is declared by an identifier, the field that holds it
    "method_declaration": "name",
    "field_declaration": "declarator",
    "annotation_type_element_declaration": "name",
    "enum_constant": "name",
    "record_declaration": "parameters",
}
_UNUSED_DEFAULTS = frozenset({"value", "type", "return_type", "trait", "default"})


@dataclass(frozen=True, slots=True)
class Scopes:
    """What a text says of names: those at its ``top``, the ``free`` ones, the ``members`` it defines and
    the ones it ``asks`` for, the imports that are ``idle`` (Go). ``parses`` is False where it does not.
    """

    top: frozenset[str] = frozenset()
    free: frozenset[str] = frozenset()
    members: frozenset[str] = frozenset()
    asks: frozenset[str] = frozenset()
    idle: frozenset[str] = frozenset()
    parses: bool = True


@dataclass(slots=True)
class _Scope:
    """Names that are bound and used in a function, with what is inside it."""

    bound: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)
    inner: list[_Scope] = field(default_factory=list)

    def free(self) -> set[str]:
        return self.used.union(*(scope.free() for scope in self.inner)) - self.bound


def is_known(path: str) -> bool:
    """Whether there is a grammar for a file of this name."""
    return PurePosixPath(path).suffix in _GRAMMARS


def scopes(path: str, content: bytes) -> Scopes:
    """The names of a text, read as the file's name says."""
    root = _parser(PurePosixPath(path).suffix).parse(content).root_node
    if root.has_error:
        return Scopes(parses=False)
    top, members, asks = _Scope(), set[str](), set[str]()
    _walk(root, top, members, asks)
    idle = frozenset(_idle_imports(root, top)) if path.endswith(".go") else frozenset[str]()
    return Scopes(
        frozenset(top.bound), frozenset(top.free()), frozenset(members), frozenset(asks), idle
    )


@lru_cache
def _parser(suffix: str) -> Parser:
    module, function = _GRAMMARS[suffix]
    return Parser(Language(getattr(importlib.import_module(module), function)()))


def _walk(root: Node, top: _Scope, members: set[str], asks: set[str]) -> None:
    """Without recursion: a minified text nests as deep as it likes."""
    todo: list[tuple[Node, _Scope]] = [(root, top)]
    while todo:
        node, scope = todo.pop()
        kind = node.type
        if kind in _DEFINING:
            _define(node, scope)
        if kind in _DECLARED_AS_NAMES:
            members.update(_declared_members(node))
        if kind in _SCOPES:
            inner = _Scope()
            scope.inner.append(inner)
            own = node.child_by_field_name("name")
            todo += [(child, scope if child == own else inner) for child in node.children]
            continue
        if kind in _NAMES:
            scope.used.add(_text(node))
        elif kind in _MEMBERS:
            _member(node, members, asks)
        elif (asked := _asked_member(node)) is not None:
            asks.add(_text(asked))
            todo += [(child, scope) for child in node.children if child != asked]
            continue
        todo += [(child, scope) for child in node.children]


def _define(node: Node, scope: _Scope) -> None:
    wanted = _DEFINING[node.type]
    parts = node.children_by_field_name(wanted) if wanted else [node]
    for part in parts:
        scope.bound.update(_bound_names(part))


def _bound_names(node: Node) -> Iterator[str]:
    todo = [node]
    while todo:
        part = todo.pop()
        if part.type in _BOUND:
            yield _text(part)
        skipped = {
            id_of(child) for name in _UNUSED_DEFAULTS for child in part.children_by_field_name(name)
        }
        todo += [child for child in part.children if id_of(child) not in skipped]


def id_of(node: Node) -> int:
    """The node's identity: two objects may stand for one node."""
    return int(node.id)


def _member(node: Node, members: set[str], asks: set[str]) -> None:
    """A property or field that is defined here (declared, or given a value), or asked for."""
    parent = node.parent
    if parent is None:
        return
    asked = parent.type in {"member_expression", "selector_expression", "field_expression"}
    above = parent.parent
    assigned = (
        above is not None
        and above.type == "assignment_expression"
        and (above.child_by_field_name("left") == parent)
    )
    (asks if asked and not assigned else members).add(_text(node))


def _asked_member(node: Node) -> Node | None:
    """In Java, the name that something is asked for: a method of nothing is one of the class itself, or inherited."""
    if node.type == "method_reference":
        last = node.named_children[-1]
        return last if last.type == "identifier" and len(node.named_children) > 1 else None
    field_name = _ASKED_AS_NAMES.get(node.type, "")
    if not field_name or node.child_by_field_name("object") is None:
        return None
    return node.child_by_field_name(field_name)


def _declared_members(node: Node) -> Iterator[str]:
    for part in node.children_by_field_name(_DECLARED_AS_NAMES[node.type]):
        yield from _bound_names(part)


def _idle_imports(root: Node, top: _Scope) -> Iterator[str]:
    """The imports of a Go file of which no name is used (which Go does not compile)."""
    used = top.used.union(*(scope.free() for scope in top.inner))
    asked = set(_qualifiers(root))
    for node in root.children:
        if node.type == "import_declaration":
            for spec in _of_type(node, "import_spec"):
                alias, path = spec.child_by_field_name("name"), spec.child_by_field_name("path")
                said = _text(alias) if alias else _text(path).strip('"`') if path else ""
                words = {
                    word
                    for part in said.split("/")[-2:]
                    for word in part.replace("go-", "").split(".")
                }
                if said not in {"_", "."} and not words & (used | asked):
                    yield said


def _qualifiers(root: Node) -> Iterator[str]:
    for part in root.children:
        if part.type not in {
            "package_clause",
            "import_declaration",
        }:  # an alias is no use of itself
            yield from map(_text, _of_type(part, "package_identifier"))


def _of_type(root: Node, kind: str) -> Iterator[Node]:
    todo = [root]
    while todo:
        node = todo.pop()
        if node.type == kind:
            yield node
        todo += node.children


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
