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

Anything = Any  # a value of the traced program

Description = tuple[Any, ...]
Recorded = Any  # None, bool, int, float, str, bytes or a Description

PLAIN = frozenset({bool, float, type(None)})
LONG = 400  # characters of a string that are kept as they are
_KEPT = 160  # of a longer one, at each end
ITEMS = 24
DEPTH = 3
_BITS = 2048  # of an integer that is kept as it is
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


class Describer:
    """Turns any value into what is recorded of it; numbers the types it meets."""

    def __init__(self, types: TypeTable) -> None:
        self.types = types

    def describe(self, value: Anything, depth: int = DEPTH) -> Recorded:
        """The description, ``depth`` levels of containers deep."""
        kind = type(value)
        if kind in PLAIN:
            return value
        if kind in _TEXTS:
            return _text(value, kind)
        try:
            return self._compound(value, kind, depth)
        except Exception:  # noqa: BLE001 # another thread changed it, or its type lies about itself
            return CUT

    def _compound(self, value: Anything, kind: type, depth: int) -> Recorded:
        if not depth:
            return CUT if kind in _CONTAINERS else ("o", id(value), self.types.number(kind), None)
        if kind is tuple:
            return ("t", *self._items(value, depth))
        if kind in _CONTAINERS:
            return (_CONTAINERS[kind], id(value), len(value), *self._items(value, depth))
        return ("o", id(value), self.types.number(kind), self._content(value, kind, depth))

    def _items(self, value: Anything, depth: int) -> list[Recorded]:
        if type(value) is dict:
            flat = [part for pair in _head(value.items()) for part in pair]
        else:
            flat = _head(value)
        found = [self.describe(item, depth - 1) for item in flat]
        return [*found, CUT] if len(value) > ITEMS else found

    def _content(self, value: Anything, kind: type, depth: int) -> Recorded:
        # issubclass of the real type: isinstance would call a __class__ property.
        for base, read in _CONTENTS:
            if issubclass(kind, base):
                return read(value)
        if issubclass(kind, type):
            return self.types.rows[self.types.number(value)][1]
        if issubclass(kind, BaseException):
            return ("t", *self._items(_ARGUMENTS.__get__(value), depth))
        return _enumerated(value, kind)


def _text(value: Anything, kind: type) -> Recorded:
    """Numbers and strings; long ones by their ends and a hash."""
    if kind is int:
        return value if value.bit_length() < _BITS else _long("B", hex(value))
    if len(value) <= LONG:
        return value
    return _long("S", value) if kind is str else _long("B", value.decode("latin-1"))


def stored_attribute(owner: object, name: str) -> object:
    """An attribute from the object's dict or slot, without running code; raises without one."""
    for kind in type.__dict__["__mro__"].__get__(type(owner)):
        slot = type.__dict__["__dict__"].__get__(kind).get(name)
        if type(slot) is MemberDescriptorType:
            return slot.__get__(owner)
    return object.__getattribute__(owner, "__dict__")[name]


def _head(value: Anything) -> list[Any]:
    found: list[Anything] = []
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


_TEXTS = frozenset({int, str, bytes})
_ARGUMENTS: Any = BaseException.__dict__["args"]  # a getter in C
_CONTENTS: tuple[tuple[type, Callable[[Anything], Recorded]], ...] = (
    (FunctionType, lambda value: value.__qualname__),
    (MethodType, lambda value: getattr(value.__func__, "__qualname__", None)),
    (ModuleType, lambda value: ModuleType.__getattribute__(value, "__name__")),
    (str, lambda value: _text(str.__str__(value), str)),
    (int, lambda value: _text(int.__index__(value), int)),
)
_CONTAINERS: dict[type, str] = {tuple: "t", list: "l", dict: "d", set: "s", frozenset: "s"}
