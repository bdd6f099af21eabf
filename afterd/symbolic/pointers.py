"""Loads, stores and address arithmetic where the address is a term.

An address is what it was in the run, or another one that the same expression may have: another
element of the same array, or the same field of another object of its kind (a list's other nodes).
What is read there is chosen by the address; elsewhere it is free. Memory outside of an array is
nobody's way to repair a program. In a long run (``alternatives`` off) only the address of the run
is followed: the others would be most of the formula. What a write elsewhere does is then not known,
so nothing is asked behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from afterd.logic import Statement, signed_value
from afterd.model.term import BOOL, Apply, Const, Op, Sort, SortKind, Term, bitvec
from afterd.symbolic.code import Code
from afterd.symbolic.collecting import Collector, any_of, negated
from afterd.symbolic.memory import FIRST, Cell, Memory, data_of
from afterd.symbolic.operations import Known
from afterd.symbolic.refusal import SideEndedError
from afterd.trace.c.ir.arithmetic import resized_term
from afterd.trace.c.ir.constants import from_word

_WORD = bitvec(64)
MOST_ELEMENTS = 32
MOST_OBJECTS = 12
MOST_BYTES = 8  # of a file: the sides of a branch stand only a few bytes apart
CONTENT = "the bytes of "


class Pointers:
    """Memory accesses of one execution."""

    def __init__(
        self,
        memory: Memory,
        collector: Collector,
        declared: Callable[[str], Statement | None],
        symbolic: Callable[[], bool],
        *,
        alternatives: bool = True,
    ) -> None:
        self._memory = memory
        self._declared = declared
        self.symbolic = symbolic
        self._alternatives = alternatives
        self._collector = collector
        # By identity of an address's term, which stays alive: the elements' size, the array's address.
        self._strides: dict[int, tuple[Term, int, int]] = {}
        self._stored = 0

    def element(self, code: Code, given: Sequence[Known]) -> Known:
        """The result of a getelementptr."""
        offset, scales = code.detail
        base, term = given[0]
        assert isinstance(base, int)
        total = base + offset
        moved = term
        known = None if term is None else self._strides.get(id(term))
        stride, start_of_all = (0, base) if known is None else known[1:]
        for operand, (index, of_index), scale in zip(
            code.operands[1:], given[1:], scales, strict=True
        ):
            assert isinstance(index, int)
            step = signed_value(index, operand.sort.width) * scale
            total += step
            if of_index is not None:
                wide = resized_term(of_index, _WORD, signed=True)
                by = Apply(Op.MUL, (wide, Const(scale, _WORD)), _WORD)
                start: Term = Const(base, _WORD) if moved is None else moved
                moved, stride = Apply(Op.ADD, (start, by), _WORD), scale
            elif moved is not None and step:
                moved = Apply(Op.ADD, (moved, Const(step % (1 << 64), _WORD)), _WORD)
        if moved is not None and offset:
            moved = Apply(Op.ADD, (moved, Const(offset % (1 << 64), _WORD)), _WORD)
        if moved is not None and stride:
            self._strides[id(moved)] = (moved, stride, start_of_all)
        return total % (1 << 64), moved

    def indexed(self, base: int, index: Known, scale: int) -> Known:
        """The address of an element of an array of the library's own."""
        value, term = index
        assert isinstance(value, int)
        if term is None or not self.symbolic():
            return base + value * scale, None
        by = Apply(Op.MUL, (term, Const(scale, _WORD)), _WORD)
        moved = Apply(Op.ADD, (Const(base, _WORD), by), _WORD)
        self._strides[id(moved)] = (moved, scale, base)
        return base + value * scale, moved

    def load(self, pointer: Known, size: int, sort: Sort, key: int) -> Known:
        """What is read through a pointer."""
        address, term = pointer
        assert isinstance(address, int)
        self._check(address, term, size)
        value, here = self._held(address, size, sort)
        if term is None or sort.kind is SortKind.FLOAT:
            return value, here
        places, complete = self._places(address, term, size)
        result: Term = self._collector.free(("load", key), sort, value)
        for place in reversed(places):
            held, held_term = self._held(place, size, sort)
            found = Const(held, sort) if held_term is None else held_term
            result = Apply(Op.ITE, (_is(term, place), found, result), sort)
        self._legal(term, places, complete=complete)
        return value, self._collector.define(("loaded", key), result, value, None)

    def store(self, pointer: Known, known: Known, sort: Sort, size: int) -> None:
        """Write through a pointer."""
        address, term = pointer
        value, given = known
        assert isinstance(address, int)
        self._check(address, term, size)
        data = data_of(value, sort, size)
        if term is None:
            self._memory.write(address, data, given)
            return
        places, complete = self._places(address, term, size)
        self._legal(term, places, complete=complete)
        if not self._alternatives:
            self._collector.lose(negated(_is(term, address)))
        new = Const(value, sort) if given is None else given
        for place in places:
            was, of_it = self._held(place, size, sort)
            old = Const(was, sort) if of_it is None else of_it
            chosen = Apply(Op.ITE, (_is(term, place), new, old), sort)
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
                ended.reason, Const(address, _WORD) if term is None else term, address
            ) from ended

    def _places(self, address: int, term: Term, size: int) -> tuple[list[int], bool]:
        """The addresses that a term may mean, the run's first; whether they are all that are legal."""
        found = self._memory.object_at(address)
        array = self._strides.get(id(term))
        if array is not None and found is None:  # the run left the array
            found = self._memory.object_at(array[2])
        if found is None or not self._alternatives:
            return [address], False
        if array is not None:
            first = found.start + (address - found.start) % array[1]
            every = list(range(first, found.start + found.size - size + 1, array[1]))
            most = MOST_BYTES if found.kind.startswith(CONTENT) else MOST_ELEMENTS
            near = sorted(every, key=lambda place: abs(place - address))[:most]
            if address not in every:
                return [address, *near], False
            return near or [address], len(near) == len(every) > 0
        offset = address - found.start
        others = [o.start + offset for o in self._memory.of_kind[found.kind] if o is not found]
        return [address, *others[-MOST_OBJECTS:]], False

    def _legal(self, term: Term, places: Sequence[int], *, complete: bool) -> None:
        if complete:
            self._collector.keep_sane(any_of([_is(term, place) for place in places]))
        else:
            null = Apply(Op.UGE, (term, Const(FIRST, _WORD)), BOOL)
            self._collector.keep_sane(null)


def _is(term: Term, place: int) -> Term:
    return Apply(Op.EQ, (term, Const(place, _WORD)), BOOL)
