"""Values as the recorder keeps them: plain ones as they are, the rest by type and identity.

Nothing here may run the program's code: no ``repr``, no ``==``, no property. A *description* is a
tuple ``(tag, …)``; because tuples of the program are described too, any tuple in a chunk is one.

| tag | rest |
|---|---|
| t | items of a tuple |
| l, d, s | a list, dict or set: identity, length, first items (dict: keys and values in turn) |
| o | any other object: identity, type number, content (of a list's subclass, what the list holds) or None |
| q | what a function, method or class is called, as the content of an ``o``: module, qualified name |
| S, B | a long string or bytes: length, hash, head, tail |
| n | nested too deep (of a container its items), or past the item limit |
"""

from __future__ import annotations

import hashlib
import sys
import weakref
from collections.abc import Callable
from types import (
    BuiltinFunctionType,
    FrameType,
    FunctionType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import TypeAlias

Anything = Any  # a value of the traced program

Description: TypeAlias = "tuple[Any, ...]"
Recorded = Any  # None, bool, int, float, str, bytes or a Description

LONG = 400  # characters of a string that are kept as they are
WHOLE = 1 << 16  # of a longer one that is kept beside the rows
WHOLE_OF_ALL = 1 << 22  # of all those together
_KEPT = 160  # of a longer one, at each end
ITEMS = 12
DEPTH = 2
CUT: Description = ("n",)


class TypeTable:
    """Numbers for types, with what the analysis needs of each: names and ancestry.

    Types are known by identity, with a weak reference that says whether it is still the same one:
    a strong one kept classes alive whose collection a test waited for, and hashing a class runs
    its metaclass's code.
    """

    def __init__(self) -> None:
        self.known: dict[int, tuple[Reader | None, int, weakref.ref[type]]] = {}
        self.rows: list[tuple[str, str, int, tuple[int, ...]]] = []

    def enter(self, kind: type) -> tuple[Reader | None, int, weakref.ref[type]]:
        """What reads objects of a type, its number, a reference; a new type is entered."""
        found = self.known.get(id(kind))
        if found is None or found[2]() is not kind:
            found = self.known[id(kind)] = (_reader(kind), len(self.rows), weakref.ref(kind))
            ancestry = tuple(id(base) for base in type.__dict__["__mro__"].__get__(kind))
            module = type.__getattribute__(kind, "__module__")
            name = type.__dict__["__qualname__"].__get__(kind)
            self.rows.append((module if type(module) is str else "", name, id(kind), ancestry))
        return found


class Describer:
    """Turns any value into what is recorded of it; numbers the types it meets."""

    def __init__(self, types: TypeTable) -> None:
        self.types = types
        self.known = types.known
        self.texts: dict[str, str] = {}  # by its hash, a long text that is kept whole
        self.room = WHOLE_OF_ALL

    def long_form(self, tag: str, text: str) -> Description:
        """A long text by its ends; it is kept whole where there is room, as what was printed is looked for in it."""
        form = long_form(tag, text)
        if form[2] not in self.texts and len(text) <= min(WHOLE, self.room):
            self.texts[form[2]] = text
            self.room -= len(text)
        return form

    def describe(self, value: Anything, depth: int = DEPTH) -> Recorded:
        """The description, ``depth`` levels of containers deep."""
        kind = type(value)
        found = self.known.get(id(kind))
        if found is None or found[2]() is not kind:
            try:
                found = self.types.enter(kind)
            except Exception:  # noqa: BLE001 # a type that lies about itself
                return CUT
        read, number, _ = found
        if read is None:
            return ("o", id(value), number, None)
        try:
            return read(self, value, depth, number)
        except Exception:  # noqa: BLE001 # another thread changed it
            return CUT

    def items(self, value: Anything, depth: int, kind: Anything) -> list[Recorded]:
        """The first items of a container, as ``kind`` holds them; a dict's keys and values in turn."""
        if kind is dict:
            flat = [part for pair in _head(dict.items(value)) for part in pair]
        else:
            flat = _head(kind.__iter__(value))
        found = [self.describe(item, depth - 1) for item in flat]
        return [*found, CUT] if kind.__len__(value) > ITEMS else found


Reader: TypeAlias = "Callable[[Describer, Any, int, int], Recorded]"


def _reader(kind: type) -> Reader | None:
    """How objects of a type are described, decided once a type; None: by identity alone.

    ``issubclass`` of the real type: ``isinstance`` would call a ``__class__`` property.
    """
    for exact, read in _EXACT:
        if kind is exact:
            return read
    for base, content in _CONTENTS:
        if issubclass(kind, base):
            return _with_content(content)
    if _is_value(kind):
        return _with_content(_as_text)
    if type(kind).__name__ in {"EnumType", "EnumMeta"}:
        return _with_content(_enumeration_reader)
    return None


def _is_value(kind: type) -> bool:
    """Whether it is a type of the standard library, by name: importing it would be seen."""
    module = type.__getattribute__(kind, "__module__")
    name = type.__dict__["__qualname__"].__get__(kind)
    if type(module) is not str or (module, name) not in _VALUES:
        return False
    return vars(sys.modules[module]).get(name) is kind if module in sys.modules else False


Content: TypeAlias = "Callable[[Describer, Any, int], Recorded]"


def _with_content(content: Content) -> Reader:
    def read(describer: Describer, value: Anything, depth: int, number: int) -> Recorded:
        return ("o", id(value), number, content(describer, value, depth))

    return read


def _plain_reader(_: Describer, value: Anything, __: int, ___: int) -> Recorded:
    return value


def _tuple(describer: Describer, value: Anything, depth: int, _: int) -> Recorded:
    return ("t", *describer.items(value, depth, tuple)) if depth else CUT


def _tagged_reader(tag: str, kind: Anything) -> Reader:
    def read(describer: Describer, value: Anything, depth: int, _: int) -> Recorded:
        size = kind.__len__(value)
        items = describer.items(value, depth, kind) if depth else [CUT] * bool(size)
        return (tag, id(value), size, *items)

    return read


def _inherited(read: Reader) -> Content:
    """What an object of a subclass holds as its base, by the base's own methods."""
    return lambda describer, value, depth: read(describer, value, depth, 0)


def _text(describer: Describer, value: Anything, kind: type) -> Recorded:
    """Strings; long ones by their ends and a hash."""
    if len(value) <= LONG:
        return value
    form = describer.long_form
    return form("S", value) if kind is str else form("B", value.decode("latin-1"))


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


def _enumeration_reader(_: Describer, value: object, _depth: int) -> Recorded:
    name = object.__getattribute__(value, "__dict__").get("_name_")
    return name if type(name) is str else None


def _as_text(describer: Describer, value: Anything, _: int) -> Recorded:
    """A value of a type written in C; a time without its zone, which is the program's own."""
    kind: Anything = type(value)
    if kind.__qualname__ in {"datetime", "time"}:
        value = kind.replace(value, tzinfo=None)
    text = kind.__str__(value)
    return _text(describer, text, type(text)) if type(text) in (str, bytes) else None


def _class(describer: Describer, value: Anything, _: int) -> Recorded:
    """A class by its name; entering it here gives the analysis its ancestry."""
    row = describer.types.rows[describer.types.enter(value)[1]]
    return ("q", row[0], row[1])


def _function(_: Describer, value: Anything, _depth: int) -> Recorded:
    """A function by its name and the module that it says it is of: two modules may have one of that name."""
    if type(value) not in (FunctionType, BuiltinFunctionType):
        return None
    module: object = value.__module__
    name = value.__name__ if type(value) is BuiltinFunctionType else value.__qualname__
    return ("q", module if type(module) is str else "", name)


def _exception(describer: Describer, value: Anything, depth: int) -> Recorded:
    return ("t", *describer.items(_ARGUMENTS.__get__(value), depth, tuple))


def came_through(error: BaseException, frame: FrameType) -> int:
    """The line of a frame at which an exception came through it; 0 where it did not: whoever called the
    frame may be handling another one.
    """
    traceback = _TRACEBACK.__get__(error)
    if traceback is None or traceback.tb_frame is not frame or type(error) is GeneratorExit:
        return 0
    return traceback.tb_lineno or 0


def long_form(tag: str, text: str) -> Description:
    """A long text by its length, hash and both ends."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return (tag, len(text), digest, text[:_KEPT], text[-_KEPT:])


_VALUES = frozenset(("datetime", name) for name in ("date", "datetime", "time", "timedelta")) | {
    ("decimal", "Decimal"),
    ("builtins", "complex"),
    ("builtins", "range"),
    ("re", "Pattern"),
}
"""Types whose values are what they print as."""
_ARGUMENTS: Any = BaseException.__dict__["args"]  # a getter in C
_TRACEBACK: Any = BaseException.__dict__["__traceback__"]
_CONTAINERS: tuple[tuple[type, Reader], ...] = (
    (tuple, _tuple),
    (list, _tagged_reader("l", list)),
    (dict, _tagged_reader("d", dict)),
    (set, _tagged_reader("s", set)),
    (frozenset, _tagged_reader("s", frozenset)),
)
_CONTENTS: tuple[tuple[type, Content], ...] = (
    (FunctionType, _function),
    (BuiltinFunctionType, _function),
    (MethodType, lambda describer, value, depth: _function(describer, value.__func__, depth)),
    (ModuleType, lambda _, value, __: ModuleType.__getattribute__(value, "__name__")),
    (str, lambda describer, value, _: _text(describer, str.__str__(value), str)),
    (int, lambda _, value, __: int.__index__(value)),
    (type, _class),
    (BaseException, _exception),
    *((kind, _inherited(read)) for kind, read in _CONTAINERS),
)
_EXACT: tuple[tuple[type, Reader], ...] = (
    *((kind, _plain_reader) for kind in (int, bool, float, type(None))),
    (str, lambda describer, value, _, __: _text(describer, value, str)),
    (bytes, lambda describer, value, _, __: _text(describer, value, bytes)),
    *_CONTAINERS,
)
