"""Loads, stores and address arithmetic where the address is a term.

An address is what it was in the run, or another one that the same expression may have: another
element of the same array, the same field of another object of its kind (a list's other nodes), or what
it is on another side of a branch (the list's head).
What is read there is chosen by the address; elsewhere it is free. Memory outside of an array is
nobody's way to repair a program. In a long run (``alternatives`` off) only the address of the run
is followed: the others would be most of the formula. What a write elsewhere does is then not known,
so nothing is asked behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from afterd.limits import MACHINE
from afterd.logic import Statement, signed_value
from afterd.model.term import BOOL, Apply, Const, Op, Sort, SortKind, Term, Value
from afterd.symbolic.addresses import WORD, is_place, points_somewhere
from afterd.symbolic.code import Code
from afterd.symbolic.collecting import TRUE, Collector, any_of, negation_of
from afterd.symbolic.memory import FIRST, Cell, Memory, data_of
from afterd.symbolic.operations import Known
from afterd.symbolic.refusal import SideEndedError
from afterd.trace.c.ir.arithmetic import resized_term
from afterd.trace.c.ir.constants import from_word

CONTENT = "the bytes of "


@dataclass(frozen=True, slots=True)
class _Element:
    """An address in an array: ``start`` + ``index`` · ``stride``, where there is only one index (else None).

    ``address`` is its term, which stays alive; ``array`` an address in the array.
    """

    address: Term
    index: Term | None
    start: int
    stride: int
    array: int

    def is_at(self, place: int) -> Term:
        """Whether it is this place, said of the index: that needs no arithmetic of addresses."""
        if self.index is None:
            return is_place(self.address, place)
        number, rest = divmod(place - self.start, self.stride)
        sort = self.index.sort
        if rest or not -(1 << sort.width - 1) <= number < 1 << (sort.width - 1):
            return negation_of(TRUE)
        return Apply(Op.EQ, (self.index, Const(number % (1 << sort.width), sort)), BOOL)


class Pointers:
    """Memory accesses of one execution."""

    def __init__(
        self,
        memory: Memory,
        collector: Collector,
        declared: Callable[[str], Statement | None],
        symbolic: Callable[[], bool],
        forced: Callable[[], int],
        *,
        alternatives: bool = True,
    ) -> None:
        self._memory = memory
        self.forced = forced
        self._declared = declared
        self.symbolic = symbolic
        self._alternatives = alternatives
        self._collector = collector
        self._elements: dict[int, _Element] = {}  # by identity of the address's term
        self._stored = 0

    def copy(
        self,
        memory: Memory,
        collector: Collector,
        symbolic: Callable[[], bool],
        forced: Callable[[], int],
    ) -> Pointers:
        """The same accesses of an execution that goes on with a memory and a collector of its own."""
        other = Pointers(
            memory, collector, self._declared, symbolic, forced, alternatives=self._alternatives
        )
        other._elements, other._stored = dict(self._elements), self._stored
        return other

    def element(self, code: Code, given: Sequence[Known]) -> Known:
        """The result of a getelementptr."""
        offset, scales, record = code.detail
        base, term = self._of_record(given[0], record) if record else given[0]
        assert isinstance(base, int)
        fixed, total = base + offset, base + offset
        varying: list[tuple[Term, int]] = []
        for operand, (index, of_index), scale in zip(
            code.operands[1:], given[1:], scales, strict=True
        ):
            assert isinstance(index, int)
            step = signed_value(index, operand.sort.width) * scale
            total += step
            if of_index is not None:
                varying.append((of_index, scale))
            else:
                fixed += step
        if term is None and not varying:
            return total % (1 << 64), None
        return total % (1 << 64), self._moved((base, term), fixed, varying)

    def _of_record(self, pointer: Known, record: str) -> Known:
        """A pointer to a struct. A null pointer that is followed on a side that leaves the run (it is only taken
        where the pointer is not null) is what it is on another side of a branch, else the newest struct of its
        type. Where nothing else is known of it on sides of sides, it ends them.
        """
        base, term = pointer
        assert isinstance(base, int)
        known = self._memory.records.setdefault(record, {})
        if base >= FIRST:
            if not self.forced():
                known[base] = None
            return pointer
        if term is None or not self.forced():
            return pointer
        elsewhere = [place for place in self._collector.meanings(term) if place >= FIRST]
        if not elsewhere and (not known or self.forced() > 1):
            return pointer
        base = max(elsewhere) if elsewhere else next(reversed(known))
        self._stored += 1
        return base, self._collector.define(("followed", self._stored), term, base, None)

    def _moved(self, pointer: Known, fixed: int, varying: Sequence[tuple[Term, int]]) -> Term:
        """The address that is ``fixed`` in this run but for some indices; what is known of it is kept."""
        base, term = pointer
        assert isinstance(base, int)
        known = None if term is None else self._elements.get(id(term))
        moved: Term = Const(fixed % (1 << 64), WORD) if term is None else term
        for index, scale in varying:
            wide = resized_term(index, WORD, signed=True)
            by = Apply(Op.MUL, (wide, Const(scale, WORD)), WORD)
            moved = Apply(Op.ADD, (moved, by), WORD)
        if term is not None and fixed != base:
            moved = Apply(Op.ADD, (moved, Const((fixed - base) % (1 << 64), WORD)), WORD)
        array = base if known is None else known.array
        if varying:
            only = term is None and len(varying) == 1
            index, stride = varying[-1]
            self._keep(_Element(moved, index if only else None, fixed, stride, array))
        elif known is not None:
            start = known.start + fixed - base
            self._keep(_Element(moved, known.index, start, known.stride, array))
        return moved

    def _keep(self, element: _Element) -> None:
        if element.stride:
            self._elements[id(element.address)] = element

    def indexed(self, base: int, index: Known, scale: int) -> Known:
        """The address of an element of an array of the library's own."""
        value, term = index
        assert isinstance(value, int)
        if term is None or not self.symbolic():
            return base + value * scale, None
        return base + value * scale, self._moved((base, None), base, [(term, scale)])

    def behind(self, pointer: Known, offset: int) -> Known:
        """The address so many bytes further on: a field of the same record."""
        address, term = pointer
        assert isinstance(address, int)
        if term is None or not offset:
            return address + offset, term
        return address + offset, self._moved(pointer, address + offset, [])

    def load(
        self,
        pointer: Known,
        size: int,
        sort: Sort,
        key: int,
        *,
        is_pointer: bool = False,
        parts: int = 1,
    ) -> Known:
        """What is read through a pointer; ``is_pointer``: it is one itself; ``parts``: of so many scalars of a record
        it is one, which together are chosen among as few places as a scalar is.
        """
        address, term = pointer
        assert isinstance(address, int)
        self._check(address, term, size)
        value, here = self._held(address, size, sort)
        if term is None or sort.kind is SortKind.FLOAT:
            return value, here
        places, complete = self._places(address, term, size, parts)
        # Where the places are all that are legal there is nothing else that could be read.
        free = None
        if not complete:
            free = self._collector.free(("load", key), sort, value, is_pointer=is_pointer)
        alike: dict[Value, list[Term]] = {}  # the places that hold a constant
        others: list[tuple[Term, Term]] = []
        for place in reversed(places):
            held, held_term = self._held(place, size, sort)
            if held_term is None:
                alike.setdefault(held, []).append(self._is(term, place))
            else:
                others.append((self._is(term, place), held_term))
        result = _one_of({held: any_of(there) for held, there in alike.items()}, free, sort)
        for there, held_term in others:
            result = Apply(Op.ITE, (there, held_term, result), sort)
        self._legal(term, places, complete=complete)
        return value, self._collector.define(("loaded", key), result, value, None)

    def store(self, pointer: Known, known: Known, sort: Sort, size: int, *, parts: int = 1) -> None:
        """Write through a pointer; see ``load``."""
        address, term = pointer
        value, given = known
        assert isinstance(address, int)
        self._check(address, term, size)
        data = data_of(value, sort, size)
        if term is None:
            self._memory.write(address, data, given)
            return
        places, complete = self._places(address, term, size, parts)
        self._legal(term, places, complete=complete)
        if not self._alternatives:
            self._collector.lose(negation_of(self._is(term, address)))
        new = Const(value, sort) if given is None else given
        for place in places:
            was, of_it = self._held(place, size, sort)
            old = Const(was, sort) if of_it is None else of_it
            chosen = Apply(Op.ITE, (self._is(term, place), new, old), sort)
            word = data if place == address else data_of(was, sort, size)
            self._stored += 1
            now = from_word(int.from_bytes(word, "little"), sort)
            name = self._collector.define(("stored", self._stored), chosen, now, None)
            self._memory.write(place, word, name)

    def text_places(self, address: int, term: Term) -> list[int]:
        """Where a pointer to a string may point."""
        return self._places(address, term, 1)[0]

    def _held(self, address: int, size: int, sort: Sort) -> Known:
        """What memory holds; a global that was never written holds what its declaration says."""
        value, term = self._memory.load(address, size, sort)
        if term is not None or not self.symbolic():
            return value, term
        found = self._memory.object_at(address)
        declared = self._declared(found.kind) if found is not None else None
        if declared is None or sort.kind not in {SortKind.BITVEC, SortKind.BOOL}:
            return value, None
        key = ("initial", address, size)
        name = self._collector.define(key, Const(value, sort), value, declared)
        self._memory.cells[address] = Cell(size, name)  # no write: it is so on every side
        return value, name

    def _check(self, address: int, term: Term | None, size: int) -> None:
        try:
            self._memory.check(address, size)
        except SideEndedError as ended:
            raise SideEndedError(
                ended.reason, Const(address, WORD) if term is None else term, address
            ) from ended

    def _places(
        self, address: int, term: Term, size: int, parts: int = 1
    ) -> tuple[list[int], bool]:
        """The addresses that a term may mean, the run's first; whether they are all that are legal."""
        found = self._memory.object_at(address)
        array = self._elements.get(id(term))
        if array is not None and found is None:  # the run left the array
            found = self._memory.object_at(array.array)
        if found is None or not self._alternatives:
            return [address], False
        if array is not None:
            first = found.start + (address - found.start) % array.stride
            every = list(range(first, found.start + found.size - size + 1, array.stride))
            most = MACHINE.file_bytes if found.kind.startswith(CONTENT) else MACHINE.elements
            near = sorted(every, key=lambda place: abs(place - address))[: -(-most // parts)]
            if address not in every:
                return [address, *near], False
            return near or [address], len(near) == len(every) > 0
        offset = address - found.start
        others = [o.start + offset for o in self._memory.standing_in_for(found)]
        others = [
            *sorted(self._elsewhere(term, size)),
            *others[-max(1, MACHINE.objects // parts) :],
        ]
        return list(dict.fromkeys([address, *others])), False

    def _elsewhere(self, term: Term, size: int) -> Iterator[int]:
        """Where it points on other sides of branches: the head of a list, where a node is meant in the run."""
        for place in self._collector.meanings(term):
            found = self._memory.object_at(place)
            if found is not None and place + size <= found.start + found.size:
                yield place

    def _legal(self, term: Term, places: Sequence[int], *, complete: bool) -> None:
        if complete:
            self._collector.keep_sane(any_of([self._is(term, place) for place in places]))
        else:
            self._collector.keep_sane(points_somewhere(term))

    def _is(self, term: Term, place: int) -> Term:
        known = self._elements.get(id(term))
        if known is not None:
            return known.is_at(place)
        return is_place(term, place)


def _one_of(constants: Mapping[Value, Term], otherwise: Term | None, sort: Sort) -> Term:
    """The constant whose condition holds; no two do. A word is put together bit by bit: the zeros of a
    constant then say nothing, which makes a table a third of what a chain of choices is.
    """
    nothing = Const(False if sort == BOOL else 0, sort)
    if sort.kind is not SortKind.BITVEC or len(constants) < 2:
        result = nothing if otherwise is None else otherwise
        for constant, there in constants.items():
            result = Apply(Op.ITE, (there, Const(constant, sort), result), sort)
        return result
    parts = [
        Apply(Op.ITE, (there, Const(c, sort), nothing), sort) for c, there in constants.items()
    ]
    if otherwise is not None:
        known = any_of(list(constants.values()))
        parts.append(Apply(Op.ITE, (known, nothing, otherwise), sort))
    return Apply(Op.BITOR, tuple(parts), sort)
