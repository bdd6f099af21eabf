"""Recorded values: identity, equality between two runs, and how a person reads them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from afterd.execution.scratch import RUN_FOLDER
from afterd.limits import PYTHON_TRACE
from afterd.model.term import BOOL, INT, OPAQUE, STRING, Sort, Value, ieee
from afterd.trace.python.read.addresses import ADDRESS, NO_ADDRESSES, Addresses
from afterd.trace.python.read.clock import NO_CLOCK, Clock
from afterd.trace.python.read.tracefile import Recorded
from afterd.trace.python.record.describe import CUT
from afterd.trace.trees import in_one_tree

Types = Sequence[Sequence[Any]]  # module, name, identity, identities of the ancestry


class Unknown:
    """The type of UNKNOWN: no row says what a value was."""

    def __repr__(self) -> str:
        return "UNKNOWN"


IsOwn = Callable[[str], bool]
"""Whether a module of that dotted name is one of the traced program's files."""

UNKNOWN: Final = Unknown()
_SCRATCH = re.compile(rf"{RUN_FOLDER}\w+(?:/[^\s/'\"]+)*")
"""A path below the folder of one run."""
_DIGITS = re.compile(r"\d+")
_BRACKETS = {"l": ("[", "]"), "s": ("{", "}")}
CONTAINERS = frozenset({"l", "d", "s"})
"""Lists, dictionaries and sets, as ``describe`` calls them: identity, length and items of each are recorded."""
MUTABLE = CONTAINERS | {"o"}


def identity(value: Recorded) -> int | None:
    """The object's identity; None for values that are told apart by content only."""
    if isinstance(value, tuple) and value and value[0] in MUTABLE:
        return int(value[1])
    return None


def is_container(value: Recorded | Unknown) -> bool:
    """Whether a value is a list, a dict or a set."""
    return isinstance(value, tuple) and value[0] in CONTAINERS


def plain_value(value: Recorded) -> Value:
    """The value as a term may hold it; None where it is not a plain one."""
    return None if isinstance(value, tuple) else value


def sort_of(value: Recorded) -> Sort:
    """INT, BOOL, STRING and floats are modelled; everything else is OPAQUE."""
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, int):
        return INT
    if isinstance(value, float):
        return ieee(64)
    return STRING if isinstance(value, str) else OPAQUE


def same_object(left: Recorded, right: Recorded) -> bool:
    """Whether two values recorded in one run are the same: by identity where they have one."""
    mine, other = identity(left), identity(right)
    if mine is not None or other is not None:
        return mine == other
    return type(left) is type(right) and left == right


def _is_nobodys(_module: str) -> bool:
    return False


class Comparison:
    """Values of two runs: equal up to identities, addresses and readings of the clock, which no two runs share."""

    def __init__(
        self,
        types: Types,
        green_types: Types,
        addresses: tuple[Addresses, Addresses] | None = None,
        own: tuple[IsOwn, IsOwn] = (_is_nobodys, _is_nobodys),
        clocks: tuple[Clock, Clock] = (NO_CLOCK, NO_CLOCK),
    ) -> None:
        self.types = types
        self.green_types = green_types
        self._names, self._green_names = _TypeNames(types), _TypeNames(green_types)
        self.addresses = addresses or (NO_ADDRESSES, NO_ADDRESSES)
        self._is_own = own
        self._clocks = clocks

    def equal(self, value: Recorded, green: Recorded) -> bool:
        """Same type, and same content as far as it was recorded."""
        if CUT in (value, green):
            return True
        if not isinstance(value, tuple) or not isinstance(green, tuple):
            same = type(value) is type(green) and (value == green or value != value)  # noqa: PLR0124 # NaN
            return same or self._are_of_the_run(value, green)
        if value[:1] != green[:1]:
            return False
        match value[0]:
            case "o":
                return self._objects(value, green)
            case "s" | "l" | "d":
                alike = self._sets if value[0] == "s" else self._items
                return value[2] == green[2] and alike(recorded_items(value), recorded_items(green))
            case "t":
                return self._items(recorded_items(value), recorded_items(green))
            case "q":
                return value[2] == green[2] and not self._of_other_code(value[1], green[1])
        return bool(value[1:3] == green[1:3]) or self._are_of_the_run(value, green)

    def _are_of_the_run(self, value: Recorded, green: Recorded) -> bool:
        """Whether nothing tells two values apart but addresses, readings of the clock, where the two versions' trees
        lie, or what is within the folder that each run has for its temporary files: names there are drawn at random.
        """
        mine, other = self.addresses
        if isinstance(value, bytes) and isinstance(green, bytes):
            return self._are_of_the_run(value.decode("latin-1"), green.decode("latin-1"))
        if isinstance(value, str) and isinstance(green, str):
            value, green = in_one_tree(value), in_one_tree(green)
            if value == green:
                return True
            if RUN_FOLDER in value and _alike_but_for_drawn_names(value, green):
                return True
            if not (_has_digits(value) and _has_digits(green)):
                return False
            read, read_there = (
                clock.masked(each) for clock, each in zip(self._clocks, (value, green), strict=True)
            )
            return mine.masked(read) == other.masked(read_there)
        if isinstance(value, tuple) and isinstance(green, tuple):
            ends = zip(value[3:], green[3:], strict=True)
            return value[1] == green[1] and all(self._are_of_the_run(*end) for end in ends)
        return (mine.is_address(value) and other.is_address(green)) or self._are_readings(
            value, green
        )

    def _are_readings(self, value: Recorded, green: Recorded) -> bool:
        """Whether both are what the clock said, each in its own run."""
        unit = self._clocks[0].unit(value)
        return bool(unit) and unit == self._clocks[1].unit(green)

    def _objects(self, value: Recorded, green: Recorded) -> bool:
        mine, other = self.types[value[2]], self.green_types[green[2]]
        # The program's own modules are left out: moving a class to another file does not change its objects. So is
        # where a function is defined.
        if mine[1] != other[1] or self._are_of_two_libraries(mine[0], other[0]):
            return False
        if mine[1] == "function" and value[3] and green[3] and self._is_own[0](value[3][1]):
            last, green_last = (each[3][2].rpartition(".")[2] for each in (value, green))
            return bool(last == green_last and self._is_own[1](green[3][1]))
        return self.equal(value[3], green[3])

    def _are_of_two_libraries(self, module: str, green: str) -> bool:
        """Whether a class of one library has the name of another one's."""
        return module != green and not self._is_own[0](module) and not self._is_own[1](green)

    def _of_other_code(self, module: str, green: str) -> bool:
        """Whether what has one name is defined in two modules of which one is no file of the program: what moved
        from one file of the program to another is what it was.
        """
        return module != green and not (self._is_own[0](module) and self._is_own[1](green))

    def of_one_class(self, value: Recorded, green: Recorded) -> bool:
        """Whether they may be: of one name, or one of them of one of Python's own types."""
        if value[0] != "o" or green[0] != "o":
            return True
        return bool(self.types[value[2]][1] == self.green_types[green[2]][1])

    def of_same_type(self, value: Recorded, green: Recorded) -> bool:
        """Whether they are known to be: objects of classes of one name with ancestors of the same names, or plain
        values. A list may be of a class of its own, which was not recorded.
        """
        if CUT in (value, green):
            return False
        if not isinstance(value, tuple) or not isinstance(green, tuple):
            return type(value) is type(green)
        if value[0] != "o" or green[0] != "o":
            return False
        mine, other = self.types[value[2]], self.green_types[green[2]]
        above, above_other = self._names.ancestry(mine), self._green_names.ancestry(other)
        return mine[:2] == other[:2] and above == above_other

    def related(self, value: Recorded, green: Recorded) -> bool:
        """Whether they are objects of two classes of which one was made from the other."""
        if not (
            isinstance(value, tuple) and isinstance(green, tuple) and value[0] == green[0] == "o"
        ):
            return False
        mine, other = self.types[value[2]], self.green_types[green[2]]
        above, above_other = self._names.ancestry(mine), self._green_names.ancestry(other)
        return mine[1] != other[1] and (mine[1] in above_other or other[1] in above)

    def _items(self, value: Sequence[Recorded], green: Sequence[Recorded]) -> bool:
        return len(value) == len(green) and all(map(self.equal, value, green))

    def _sets(self, value: Sequence[Recorded], green: Sequence[Recorded]) -> bool:
        """The order of a set of strings differs from process to process."""
        mine, other = self.addresses
        left = sorted(_sortable_text(item, mine) for item in value)
        right = sorted(_sortable_text(item, other) for item in green)
        return left == right or self._items(value, green)


_FIRST_ITEM = {"l": 3, "s": 3, "d": 3, "t": 1}


def recorded_items(value: Recorded) -> Sequence[Recorded]:
    """The first items of a list, set, tuple or dict (keys and values in turn), ``CUT`` last where there are more than
    were recorded; nothing of any other value.
    """
    begin = _FIRST_ITEM.get(value[0]) if isinstance(value, tuple) else None
    return value[begin:] if begin is not None else ()


def containers_within(value: Recorded) -> Iterator[Recorded]:
    """The lists, dicts and sets that a value holds, as deep as it was recorded."""
    for item in recorded_items(value):
        if is_container(item):
            yield item
        yield from containers_within(item)


def recorded_pairs(value: Recorded | Unknown) -> Sequence[tuple[Recorded, Recorded]] | None:
    """The keys and values of a dict, as far as they were recorded; None: it is none."""
    if not isinstance(value, tuple) or value[0] != "d":
        return None
    items = recorded_items(value)
    return list(zip(items[::2], items[1::2], strict=False))


def _alike_but_for_drawn_names(value: str, green: str) -> bool:
    """Whether nothing tells two texts apart but names that were drawn at random, or numbered, within the folders of
    their runs: ``ffmpeg`` and ``ffprobe`` were not.
    """
    if _SCRATCH.sub("", value) != _SCRATCH.sub("", green):
        return False
    pairs = zip(_SCRATCH.findall(value), _SCRATCH.findall(green), strict=True)
    names = ((mine.split("/")[1:], other.split("/")[1:]) for mine, other in pairs)
    return all(
        len(mine) == len(other) and all(map(_may_be_drawn, mine, other)) for mine, other in names
    )


def _may_be_drawn(name: str, other: str) -> bool:
    """Whether two names differ by numbers alone, or as two that were drawn at random do."""
    if _DIGITS.sub("0", name) == _DIGITS.sub("0", other):
        return True
    apart = [pair for pair in zip(name, other, strict=False) if pair[0] != pair[1]]
    drawn = all(each.isalnum() or each in "_-" for pair in apart for each in pair)
    mixed = any(not each.isalpha() for pair in apart for each in pair)
    return len(name) == len(other) and len(apart) >= PYTHON_TRACE.drawn and drawn and mixed


class _TypeNames:
    """The names of recorded types by their identities."""

    def __init__(self, types: Types) -> None:
        self._names = {each[2]: str(each[1]) for each in types}

    def ancestry(self, kind: Sequence[Any]) -> list[str]:
        """The names of a class's ancestors among the recorded ones, without ``object``."""
        found = (self._names.get(each) for each in kind[3])
        return [name for name in found if name is not None and name != "object"]


def _has_digits(text: str) -> bool:
    """Whether there can be an address or a time in a text."""
    return any(map(str.isdigit, text))


def _sortable_text(value: Recorded, addresses: Addresses) -> str:
    if not isinstance(value, tuple):
        return ADDRESS if addresses.is_address(value) else repr(value)
    return f"{value[0]}" if identity(value) is not None else repr(value)


def render(value: Recorded, types: Types, *, limit: int = 120) -> str:
    """What a person reads, at most ``limit`` characters."""
    text = _render(value, types)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _render(value: Recorded, types: Types) -> str:
    if not isinstance(value, tuple):
        return repr(value)
    match value[0]:
        case "t":
            items = [_render(item, types) for item in recorded_items(value)]
            return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"
        case "d":
            pairs = [
                f"{_render(key, types)}: {_render(item, types)}"
                for key, item in recorded_pairs(value) or ()
            ]
            return "{" + ", ".join(pairs) + ("}" if len(pairs) == value[2] else ", …}")
        case "l" | "s":
            opening, closing = _BRACKETS[value[0]]
            if value[0] == "s" and not value[2]:
                return "set()"
            items = [_render(item, types) for item in recorded_items(value)]
            return opening + ", ".join(items) + closing
        case "o":
            return _render_object(value, types)
        case "S" | "B":
            return repr(f"{value[3]}…{value[4]}")
        case "q":
            return f"{value[1]}.{value[2]}".removeprefix("builtins.").removeprefix(".")
    return "…"


def _render_object(value: Recorded, types: Types) -> str:
    name = str(types[value[2]][1])
    content = value[3]
    if content is None:
        return f"<{name}>"
    if isinstance(content, tuple) and content[:1] == ("t",):
        return f"{name}{_render(content, types)}".replace(",)", ")")
    if name == "module" or (isinstance(content, tuple) and content[:1] == ("q",)):
        return f"<{name} {content if name == 'module' else _render(content, types)}>"
    return f"{name}({_render(content, types)})"


def truth(value: Recorded) -> bool | None:
    """Whether the value is true; None where its type decides that for itself."""
    if not isinstance(value, tuple):
        return bool(value)
    if value[0] in CONTAINERS:
        return bool(value[2])
    if value[0] == "t":
        return len(value) > 1
    return True if value[0] in {"S", "B"} else None
