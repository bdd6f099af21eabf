"""Which objects a pointer may mean instead of the run's, and how wide an address is."""

from __future__ import annotations

from afterd.model.term import Apply, Const, Op, Read
from afterd.symbolic.addresses import ADDRESS, WORD, is_place, narrow_address, wide_address
from afterd.symbolic.memory import Memory


def test_what_stands_in_for_an_object() -> None:
    """Not what only a side has that the run did not take, nor a struct of another type."""
    memory = Memory()
    one, other, unknown, member = (memory.allocate(40, "heap 40") for _ in range(4))
    memory.allocate(40, "heap 40", place=1, real=False)
    memory.records = {"%struct.order": {one: None, other: None}, "%struct.member": {member: None}}
    found = memory.object_at(one)
    assert found is not None
    assert [o.start for o in memory.standing_in_for(found)] == [other, unknown]
    nothing_known = memory.object_at(unknown)
    assert nothing_known is not None
    assert [o.start for o in memory.standing_in_for(nothing_known)] == [one, other, member]


def test_a_field_is_told_apart_by_its_object() -> None:
    pointer = wide_address(Read(1, ADDRESS))
    field = Apply(Op.ADD, (pointer, Const(24, WORD)), WORD)
    assert is_place(field, 1024) == is_place(pointer, 1000)
    assert narrow_address(pointer) == Read(1, ADDRESS)
