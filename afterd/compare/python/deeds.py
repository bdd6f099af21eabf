"""What an activation was given, and what it did with it, as far as others can see.

It does what it returns, yields and raises, and what it leaves in objects that are not its own, by
stores and by calls into code that is not followed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

from afterd.limits import PYTHON_PAIR
from afterd.trace.python.read import (
    CONTAINERS,
    UNKNOWN,
    Frame,
    Node,
    Recorded,
    Steps,
    Unknown,
    called_method,
    definition_row,
    function_for_effect,
    identity,
    is_generator,
    is_unchanging,
    may_write,
    pure_function,
    recorded_pairs,
    same_object,
    takes_the_rest,
)
from afterd.trace.python.record.describe import CUT
from afterd.trace.python.record.rows import Kind

_HANDED = {Kind.RETURN: "return", Kind.YIELD: "yield", Kind.RAISE: "raise"}

_NEW = "new"
_KEPT = "kept"
_CALLED = "()"


@dataclass(frozen=True, slots=True)
class Deed:
    """What was done at a ``row``: where to (``place``), the value, and into which object, where it is one; into an item
    of which ``keys``: one, or the bounds and the step of a slice. ``in_container`` tells what may be written otherwise,
    ``in_new`` what may have another name.
    """

    place: str
    value: Recorded
    row: int
    owner: Recorded | Unknown = UNKNOWN
    keys: tuple[Recorded | Unknown, ...] = ()


def in_container(deed: Deed) -> bool:
    """Whether it is a store into a list, dict or set: ``d.update(…)`` is ``d[k] = …`` as well."""
    return _is_inside(deed.place)


def _is_inside(where: str) -> bool:
    return where.startswith("[]")


def called_for_effect(deed: Deed) -> bool:
    """Whether it is a call of a function that is not followed and whose result nobody takes: ``os.remove(path)``."""
    return deed.place.startswith(_CALLED)


def name_of_called(place: str) -> str:
    """By what name such a function was called."""
    return place.removeprefix(_CALLED)


def kept_unseen(deed: Deed) -> bool:
    """Whether it is a store into an object of its own, by code that is not followed: a cache may keep it on disk."""
    return deed.place.startswith(_KEPT)


def in_new(place: str) -> bool:
    """Whether it is an attribute that a constructor gave its object."""
    return place.startswith(_NEW)


@dataclass(frozen=True, slots=True)
class _Write:
    """A store, or a call that may store: ``place`` tells it from stores into other places, ``where`` is how
    a deed calls it. The ``value`` of a call is what it was given, read when it is asked for (``is_call``).
    """

    place: object
    where: str
    row: int
    owner: Recorded | Unknown
    value: Recorded = None
    is_call: bool = False
    keys: tuple[Recorded | Unknown, ...] = ()


@dataclass(frozen=True, slots=True)
class _Site:
    """What the rows of one site write: targets stored into, targets deleted, a method called that may write, and a
    function called for what it does.
    """

    stored: tuple[Node, ...] = ()
    deleted: tuple[Node, ...] = ()
    method: Node | None = None
    function: Node | None = None


class Deeds:
    """Of the activations of one run."""

    def __init__(self, run: Steps) -> None:
        self.run = run
        self._known: dict[int, list[_Write]] = {}
        self._sites: dict[int, _Site | None] = {}  # None: its rows write nothing, as most do

    def given(self, frame: Frame) -> Iterator[Deed]:
        """The parameters of an activation, and each option by its own name: a parameter may take it out of them."""
        for row in frame.rows[: PYTHON_PAIR.rows]:
            node = self.run.trace.node(row)
            if node is None or node.type != "arg" or node.frame is not frame.node:
                continue
            value = self.run.trace.value(row)
            options = _options(value) if takes_the_rest(node) else None
            if options is None:
                yield Deed(str(node["arg"]), value, row)
            else:
                yield from (Deed(name, option, row) for name, option in options)

    def done(self, frame: Frame) -> Iterator[Deed]:
        """What it did: what it handed out, then what it left in objects that are not its own."""
        trace = self.run.trace
        for row in frame.rows[: PYTHON_PAIR.rows]:
            if trace.kind(row) in _HANDED:
                yield Deed(_HANDED[trace.kind(row)], trace.value(row), row)
        yield from self.left(frame)
        if self._left_by_exception(frame) and frame.left is not None:
            yield Deed("exception", trace.raised.error(frame.left), frame.left)

    def left(self, frame: Frame) -> Iterator[Deed]:
        """What it, or what it called, left in objects that are not its own.

        Of several stores into one place the last, in the order of the first ones.
        """
        for each in {each.place: each for each in self._writes(frame)}.values():
            value = self.run.effect(each.row) if each.is_call else each.value
            yield Deed(each.where, value, each.row, each.owner, each.keys)

    def _writes(self, frame: Frame) -> list[_Write]:
        """In order, those of its callees among them."""
        found = self._known.get(frame.number)
        if found is None:
            self._known[frame.number] = []
            rows = (
                each
                for row, site in self._writing_rows(frame)
                for each in self._written(row, site, frame)
            )
            below = (each for child in frame.children for each in self._writes(child))
            merged = sorted([*rows, *below], key=lambda each: each.row)
            found = list(islice(self._seen(merged, frame), PYTHON_PAIR.rows))
            self._known[frame.number] = found
        return found

    def _seen(self, writes: Sequence[_Write], frame: Frame) -> Iterator[_Write]:
        """The stores that others see, also those into a container that was made here and is held by what they see."""
        held = set[int]()
        for write in writes:
            seen = list(self._seen_of(write, frame))
            yield from seen
            owner = None if isinstance(write.owner, Unknown) else identity(write.owner)
            if not seen and _is_inside(write.where) and owner in held:
                yield write
            held.update(
                kept for w in seen if not w.is_call and (kept := identity(w.value)) is not None
            )

    def _writing_rows(self, frame: Frame) -> Iterator[tuple[int, _Site]]:
        sites, known = self.run.trace.sites, self._sites
        for row in frame.rows[: PYTHON_PAIR.rows]:
            site = sites[row]
            if site not in known:
                known[site] = self._writing_site(site)
            if (found := known[site]) is not None:
                yield row, found

    def _writing_site(self, site: int) -> _Site | None:
        node, kind = self.run.trace.decode(site)
        if node is None:
            return None
        deleted = node["targets"] if kind is Kind.MARK and node.type == "Delete" else []
        found = _Site(
            tuple(self._targets.get((node, kind), ())),
            tuple(target for target in deleted if target.type in {"Attribute", "Subscript"}),
            _writing_method(node) if kind is Kind.VALUE else None,
            function_for_effect(node) if kind is Kind.VALUE else None,
        )
        return None if found == _Site() else found

    def _written(self, row: int, site: _Site, frame: Frame) -> Iterator[_Write]:
        for target in site.stored:
            yield from self._stored(target, row, frame)
        for target in site.deleted:
            owner = self.run.cells.value_of(target["value"], row, frame)
            inside = "[]" if target.type == "Subscript" else f".{target['attr']}"
            yield _Write(row, f"{inside} deleted", row, owner)
        called = site.method or site.function
        if called is None or self.run.cells.returned(row, frame) is not None:
            return
        if site.method is not None:
            yield from self._called(frame, site.method, row)
        if site.function is not None:
            yield from self._effected(frame, site.function, row)

    def _stored(self, target: Node, row: int, frame: Frame) -> Iterator[_Write]:
        evaluation = self.run.cells.evaluation
        owner = evaluation.target_value(target["value"], row, frame)
        kind = None if isinstance(owner, Unknown) else identity(owner)
        value = self.run.trace.value(row)
        if target.type == "Attribute":
            where = f".{target['attr']}"
            yield _Write((kind, where), where, row, owner, value)
            return
        within = target["slice"]
        bounds = (
            (within["lower"], within["upper"], within["step"])
            if within.type == "Slice"
            else (within,)
        )
        keys = tuple(None if b is None else evaluation.target_value(b, row, frame) for b in bounds)
        key = keys[0] if len(keys) == 1 else UNKNOWN
        if not _is_held(owner, key, value):
            place = (kind, "[]", row if isinstance(key, Unknown) else key)
            yield _Write(place, "[]", row, owner, value, keys=keys)

    @cached_property
    def _targets(self) -> dict[tuple[Node, Kind], list[Node]]:
        """The attributes and items that are stored into, by where that leaves its row."""
        found: dict[tuple[Node, Kind], list[Node]] = {}
        for module in self.run.trace.all_modules():
            for node in module.of_type("Attribute", "Subscript"):
                if node["store"]:
                    at = definition_row(node)
                    if at is not None:
                        found.setdefault(at, []).append(node)
        return found

    def _called(self, frame: Frame, method: Node, row: int) -> Iterator[_Write]:
        """A method that may write, called on an object by code that is not followed."""
        owner = self.run.cells.value_of(method["value"], row, frame)
        types = self.run.trace.raw.header["types"]
        if isinstance(owner, tuple) and not (owner[0] == "o" and is_unchanging(types[owner[2]][1])):
            inside = "[]" if owner[0] in CONTAINERS else ""
            yield _Write(row, f"{inside}.{method['attr']}()", row, owner, is_call=True)

    def _effected(self, frame: Frame, function: Node, row: int) -> Iterator[_Write]:
        """A function, of a module or by a name, that is not followed and was called for what it does."""
        known = function["value"] if function.type == "Attribute" else function
        owner = self.run.cells.value_of(known, row, frame)
        if isinstance(owner, Unknown) or not isinstance(owner, tuple) or owner[0] != "o":
            return
        kind = self.run.trace.raw.header["types"][owner[2]][1]
        if function.type == "Name" or kind == "module":
            name = f"{_CALLED}{function['attr'] or function['id']}"
            yield _Write(row, name, row, UNKNOWN, is_call=True)

    def _seen_of(self, write: _Write, frame: Frame) -> Iterator[_Write]:
        """The store as others see it; none into an object that the activation made, or that is not known.

        The ``self`` of a constructor was made for it, and is what it is called for. What code that is not followed does
        with what is stored into another object of its own, nobody knows.
        """
        if write.where.startswith((_CALLED, _KEPT)):
            yield write  # into what, nobody knows
            return
        if isinstance(write.owner, Unknown) or identity(write.owner) is None:
            return
        born = self.run.cells.births.made(write.owner, write.row)
        if born is None or born <= frame.entered:
            yield write
            return
        node = self.run.trace.node(born)
        if node is not None and node.type == "arg" and self.run.trace.frame(born) is frame:
            yield replace(write, where=_NEW + write.where)
        elif write.owner[0] == "o" and (write.is_call or self._is_kept_unseen(write)):
            yield replace(write, where=_KEPT + write.where)

    def _is_kept_unseen(self, write: _Write) -> bool:
        """Whether an item was stored by code that is not followed."""
        frame = self.run.trace.frame(write.row)
        if frame is None or not _is_inside(write.where):
            return False
        return self.run.cells.returned(write.row, frame) is None

    def _left_by_exception(self, frame: Frame) -> bool:
        """Whether the caller did not get a value: it left at once, or caught something."""
        trace, caller = self.run.trace, frame.parent
        if caller is None or frame.left is None or is_generator(frame.node):
            return False
        row = trace.next_in_frame(caller, frame.left)
        while row is not None and trace.kind(row) is Kind.SYNC:
            row = trace.next_in_frame(caller, row)
        if row is None or trace.kind(row) is Kind.EXIT:
            return True
        node = trace.node(row)
        return node is not None and node.type == "ExceptHandler"


def _writing_method(node: Node) -> Node | None:
    """The method that a call is of, if it may write into its object."""
    method = called_method(node) if node.type == "Call" and not pure_function(node) else None
    return method if method is not None and may_write(method["attr"]) else None


def _options(value: Recorded) -> Sequence[tuple[str, Recorded]] | None:
    """The items of a dictionary, if all of them were recorded."""
    pairs = recorded_pairs(value)
    return None if pairs is None or CUT in value else pairs


def _is_held(owner: Recorded | Unknown, key: Recorded | Unknown, value: Recorded) -> bool:
    """Whether a dictionary is seen to hold the value already that is stored into it."""
    pairs = recorded_pairs(owner) or ()
    return any(same == key and same_object(held, value) for same, held in pairs)
