"""Values as the recorder keeps them: plain ones as they are, the rest by type and identity.

Nothing here may run the program's code: no ``repr``, no ``==``, no property. A *description* is a
tuple ``(tag, …)``; because tuples of the program are described too, any tuple in a chunk is one.

| tag | rest |
|---|---|
| t | items of a tuple |
| l, d, s | a list, dict or set: identity, length, first items (dict: keys and values in turn) |
| o | any other object: identity, type number, content or None |
| S, B | a long string or bytes: length, hash, head, tail |
| n | nested too deep, or past the item limit |
"""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Callable
from types import FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any

Description = tuple[Any, ...]
Recorded = Any  # None, bool, int, float, str, bytes or a Description

PLAIN = frozenset({bool, float, type(None)})
LONG = 400  # characters of a string that are kept as they are
_KEPT = 160  # of a longer one, at each end
ITEMS = 24
DEPTH = 3
CUT: Description = ("n",)


class TypeTable:
    """Numbers for types, with what the analysis needs of each: names and ancestry."""

    def __init__(self) -> None:
        # By identity, with a weak reference that says whether it is still the same type: a strong
        # one kept classes alive whose collection a test waited for, and hashing a class runs its
        # metaclass's code.
        self.numbers: dict[int, tuple[int, weakref.ref[type]]] = {}
        self.rows: list[tuple[str, str, int, tuple[int, ...]]] = []

    def number(self, kind: type) -> int:
        """The number of ``kind``; a new one is entered with its identity and its MRO's."""
        found = self.numbers.get(id(kind))
        if found is None or found[1]() is not kind:
            found = self.numbers[id(kind)] = (len(self.rows), weakref.ref(kind))
            ancestry = tuple(id(base) for base in type.__dict__["__mro__"].__get__(kind))
            module = type.__getattribute__(kind, "__module__")
            name = type.__dict__["__qualname__"].__get__(kind)
            self.rows.append((module if type(module) is str else "", name, id(kind), ancestry))
        return found[0]


def describer(types: TypeTable) -> Callable[[object], Recorded]:
    """A function from any value to what is recorded of it."""

    def describe(value: object, depth: int = DEPTH) -> Recorded:
        kind = type(value)
        if kind in PLAIN:
            return value
        if kind is int:
            return value if value.bit_length() < 2048 else _long("B", hex(value))  # type: ignore[attr-defined] # kind says so
        if kind is str:
            return value if len(value) <= LONG else _long("S", value)  # type: ignore[arg-type] # kind says so
        if kind is bytes:
            return value if len(value) <= LONG else _long("B", value.decode("latin-1"))  # type: ignore[arg-type,attr-defined] # kind says so
        try:
            return _compound(value, kind, depth)
        except Exception:  # noqa: BLE001 # another thread changed it, or its type lies about itself
            return CUT

    def _compound(value: Any, kind: type, depth: int) -> Recorded:
        if not depth:
            return CUT if kind in _CONTAINERS else ("o", id(value), types.number(kind), None)
        if kind is tuple:
            return ("t", *_items(value, depth))
        if kind in _CONTAINERS:
            return (_CONTAINERS[kind], id(value), len(value), *_items(value, depth))
        return ("o", id(value), types.number(kind), _content(value, kind, depth))

    def _items(value: Any, depth: int) -> list[Recorded]:
        if type(value) is dict:
            flat = [part for pair in _head(value.items()) for part in pair]
        else:
            flat = _head(value)
        found = [describe(item, depth - 1) for item in flat]
        return [*found, CUT] if len(value) > ITEMS else found

    def _content(value: Any, kind: type, depth: int) -> Recorded:
        # issubclass of the real type: isinstance would call a __class__ property.
        try:
            if issubclass(kind, FunctionType):
                return value.__qualname__
            if kind is MethodType:
                return getattr(value.__func__, "__qualname__", None)
            if issubclass(kind, type):
                return f"{types.rows[types.number(value)][1]}"
            if issubclass(kind, ModuleType):
                return ModuleType.__getattribute__(value, "__name__")
            if issubclass(kind, BaseException):
                return ("t", *_items(BaseException.args.__get__(value), depth))  # type: ignore[attr-defined] # a C getter
            if issubclass(kind, str):
                return describe(str.__str__(value))
            if issubclass(kind, int):
                return describe(int.__index__(value))
            return _enumerated(value, kind)
        except Exception:  # noqa: BLE001 # a metaclass or module that lies about itself
            return None

    return describe


def stored_attribute(owner: object, name: str) -> object:
    """An attribute from the object's dict or slot, without running code; raises if there is none."""
    for kind in type.__dict__["__mro__"].__get__(type(owner)):
        slot = type.__dict__["__dict__"].__get__(kind).get(name)
        if type(slot) is MemberDescriptorType:
            return slot.__get__(owner)
    return object.__getattribute__(owner, "__dict__")[name]


def _head(value: Any) -> list[Any]:
    found = []
    for item in value:
        if len(found) == ITEMS:
            break
        found.append(item)
    return found


def _enumerated(value: object, kind: type) -> Recorded:
    if type(kind).__name__ in {"EnumType", "EnumMeta"}:
        name = object.__getattribute__(value, "__dict__").get("_name_")
        return name if type(name) is str else None
    return None


def _long(tag: str, text: str) -> Description:
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return (tag, len(text), digest, text[:_KEPT], text[-_KEPT:])


_CONTAINERS: dict[type, str] = {tuple: "t", list: "l", dict: "d", set: "s", frozenset: "s"}
