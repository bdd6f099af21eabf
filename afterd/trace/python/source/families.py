"""Classes that inherit from each other, and the attributes that they give and read of themselves.

``self.x`` in a method is meant for an object of the class, a base of it or a class derived from it.
Where none of these, nor anybody else, gives objects an ``x`` any more, it fails.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from afterd.trace.python.source.scoping import Use
from afterd.trace.python.source.statements import Places
from afterd.trace.python.source.syntax import child_nodes, nodes_below

_OWN = frozenset({"self", "cls"})
_WORD = re.compile(r"[^\W\d]\w*")
_BY_STRING = frozenset({"setattr", "__setattr__"})


@dataclass(frozen=True, slots=True)
class ClassPart:
    """A class, or some of its members: its bases, what it ``gives`` its objects, what it ``reads``."""

    name: str
    bases: frozenset[str]
    gives: frozenset[str]
    reads: frozenset[Use]


def class_parts(nodes: Iterable[ast.AST], places: Places) -> Iterator[ClassPart]:
    """Every class among these nodes."""
    for node in nodes:
        if not isinstance(node, ast.ClassDef):
            continue
        own = [each for member in _members(node) for each in _own_attributes(member)]
        loads = [each for each in own if isinstance(each.ctx, ast.Load)]
        yield ClassPart(
            node.name,
            frozenset(name for base in node.bases for name in _base_names(base)),
            frozenset(
                {each.attr for each in own if each not in loads}.union(_given_attributes(node))
            ),
            frozenset(Use(each.attr, places.of(each)) for each in loads),
        )


def merged_class_parts(parts: Iterable[ClassPart]) -> Iterator[ClassPart]:
    """The parts of each class as one."""
    together: dict[str, list[ClassPart]] = defaultdict(list)
    for part in parts:
        together[part.name].append(part)
    for name, each in together.items():
        yield ClassPart(
            name,
            frozenset[str]().union(*(part.bases for part in each)),
            frozenset[str]().union(*(part.gives for part in each)),
            frozenset[Use]().union(*(part.reads for part in each)),
        )


def foreign_attributes(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Attributes that are given to objects which are not the method's own."""
    for node in nodes:
        match node:
            case ast.Attribute(value=ast.Name(id=name)) if name in _OWN:
                continue
            case ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
            case ast.Call(
                func=ast.Name(id=called) | ast.Attribute(attr=called),
                args=[_, ast.Constant(value=str(name)), *_],
            ) if called in _BY_STRING:
                yield name


def orphans(parts: Iterable[ClassPart], others: frozenset[str]) -> Iterator[tuple[str, Use]]:
    """What a class reads of its own objects and no class of its family, nor ``others``, gives them."""
    parts = list(parts)
    family = _families(parts)
    gives: dict[str, set[str]] = defaultdict(set)
    for part in parts:
        gives[family[part.name]] |= part.gives
    for part in parts:
        given = gives[family[part.name]]
        for use in part.reads:
            if use.name not in given and use.name not in others and not _special(use.name):
                yield part.name, use


def _families(parts: Iterable[ClassPart]) -> dict[str, str]:
    """For each class the name that stands for all that it is related to."""
    family: dict[str, str] = {}

    def head(name: str) -> str:
        family.setdefault(name, name)
        while family[name] != name:
            family[name] = name = family[family[name]]
        return name

    for part in parts:
        own = head(part.name)
        for base in part.bases:
            family[head(base)] = own = head(own)
    return {name: head(name) for name in list(family)}


def _members(node: ast.ClassDef) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The methods, also those below a condition."""
    for child in _body(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield child


def _body(node: ast.AST) -> Iterator[ast.AST]:
    """What is executed with the body of a class: nothing below its functions and classes."""
    waiting = child_nodes(node)
    while waiting:
        child = waiting.pop()
        yield child
        if not isinstance(
            child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda
        ):
            waiting += child_nodes(child)


def _own_attributes(method: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.Attribute]:
    arguments = [*method.args.posonlyargs, *method.args.args]
    if not arguments:
        return
    first = arguments[0].arg
    for node in nodes_below(method):
        match node:
            case ast.Attribute(value=ast.Name(id=name)) if name == first:
                yield node


def _given_attributes(node: ast.ClassDef) -> Iterator[str]:
    """What the body binds, what it says in ``__slots__``, fields of a named tuple."""
    for child in (*_body(node), *(each for base in node.bases for each in nodes_below(base))):
        match child:
            case (
                ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name)
            ):
                yield name
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.alias(name=name, asname=other):
                yield other or name.partition(".")[0]
            case ast.Constant(value=str(text)):
                yield from _WORD.findall(text)


def _base_names(base: ast.expr) -> Iterator[str]:
    match base:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            yield name
        case ast.Subscript(value=value):
            yield from _base_names(value)


def _special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")
