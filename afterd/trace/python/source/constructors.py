"""What classes take whose constructor is made of their fields: named tuples and data classes.

Undone as a half, such a class is called by its old fields where its new ones stand: attrs's ``_Attributes``, a tuple of
three, became a ``NamedTuple`` of three fields.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FieldArgument:
    """A field that the constructor takes in its place, or by its name."""

    name: str
    has_default: bool


def constructor_fields(node: ast.ClassDef) -> tuple[FieldArgument, ...] | None:
    """The fields that a class's constructor takes, in their order; None where it is not made of them, or more is needed
    to know it: fields of other classes, a constructor of its own, what a decorator was told.
    """
    if any(isinstance(each, ast.FunctionDef) and each.name in _OWN for each in node.body):
        return None
    bases = [_last_name(base) for base in node.bases]
    decorators = [_last_name(each) for each in node.decorator_list]
    made = bases == ["NamedTuple"] and not decorators
    made = made or (not bases and not node.keywords and decorators == ["dataclass"])
    return _in_order(_fields(node)) if made else None


def named_tuple_fields(node: ast.Assign) -> tuple[str, tuple[FieldArgument, ...]] | None:
    """The name and the fields of ``Name = namedtuple("Name", "a b")``; None for other assignments."""
    match node:
        case ast.Assign(
            targets=[ast.Name(id=name)],
            value=ast.Call(func=function, args=[_, listed], keywords=[]),
        ) if _last_name(function) == "namedtuple":
            names = _listed_names(listed)
            if names is not None:
                return name, tuple(FieldArgument(each, has_default=False) for each in names)
    return None


_OWN = frozenset({"__init__", "__new__"})


def _last_name(node: ast.AST) -> str:
    """The last part of a dotted name; of a call with arguments, and of what is no name, nothing."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(func=function, args=[], keywords=[]):
            return _last_name(function)
    return ""


def _fields(node: ast.ClassDef) -> Iterator[FieldArgument | None]:
    """The annotated names of its body; None for what says more than that it is a field."""
    for each in node.body:
        match each:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=value):
                written = ast.unparse(annotation)
                if "ClassVar" in written:
                    continue
                told = isinstance(value, ast.Call) and _last_name(value.func) == "field"
                yield (
                    None if told or "KW_ONLY" in written else FieldArgument(name, value is not None)
                )


def _in_order(fields: Iterator[FieldArgument | None]) -> tuple[FieldArgument, ...] | None:
    found = list(fields)
    known = tuple(each for each in found if each is not None)
    return known if len(known) == len(found) else None


def _listed_names(node: ast.AST) -> list[str] | None:
    """The names in a string with blanks or commas, or in a list of strings."""
    match node:
        case ast.Constant(value=str(text)):
            return text.replace(",", " ").split()
        case ast.List(elts=items) | ast.Tuple(elts=items):
            names = [item.value for item in items if isinstance(item, ast.Constant)]
            if len(names) == len(items) and all(isinstance(name, str) for name in names):
                return [str(name) for name in names]
    return None
