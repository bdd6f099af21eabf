"""Blocks of a function beside those of its other version, by their signatures alone."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from afterd.compare.c.block_matching import Signature, matched, shape_of
from afterd.trace.c.ir.ir import Instruction

KEPT = (True, True)
SIGNATURES = st.lists(
    st.builds(
        Signature,
        st.sampled_from(["br i1 %", "ret i32 %", "load\nbr label %", "call\nswitch %", "store"]),
        st.tuples(st.integers(1, 6), st.integers(1, 6)),
        st.tuples(st.booleans(), st.booleans()),
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=150)
@given(blocks=SIGNATURES)
def test_a_function_that_was_not_changed_is_paired_with_itself(blocks: list[Signature]) -> None:
    assert matched(blocks, blocks) == {block: block for block in range(len(blocks))}


@settings(max_examples=150)
@given(here=SIGNATURES, there=SIGNATURES)
def test_pairs_are_blocks_of_both_and_the_entry_has_one(
    here: list[Signature], there: list[Signature]
) -> None:
    pairs = matched(here, there)
    assert set(pairs) <= set(range(len(here)))
    assert set(pairs.values()) <= set(range(len(there)))
    assert 0 in pairs
    several = [there[g].end for g in pairs.values() if list(pairs.values()).count(g) > 1]
    assert all(end[0].startswith(("br i1", "switch")) or end == there[0].end for end in several), (
        "only a branch, and the entry that is taken for one, stands for several"
    )


def test_a_block_that_was_put_in_moves_the_others() -> None:
    there = [Signature("load\nbr i1 %", (1, 1), KEPT), Signature("ret i32 %", (4, 4), KEPT)]
    new = Signature("call\nbr label %", (2, 2), (False, False))
    assert matched([there[0], new, there[1]], there) == {0: 0, 2: 1}


def test_rewritten_text_on_a_line_that_was_kept_is_the_same_block() -> None:
    there = [Signature("load\nbr i1 %", (1, 2), KEPT), Signature("ret i32 %", (4, 4), KEPT)]
    here = [Signature("load\nadd\nbr i1 %", (1, 2), KEPT), there[1]]
    assert matched(here, there) == {0: 0, 1: 1}


def test_a_branch_that_was_doubled_is_the_one_that_there_was() -> None:
    branch = Signature("br i1 %", (3, 3), KEPT)
    there = [Signature("load", (1, 1), KEPT), branch]
    again = Signature("add\nbr i1 %", (2, 3), (False, True))
    assert matched([there[0], branch, again], there)[2] == 1


def test_the_shape_of_an_instruction_names_no_register_and_no_literal_by_number() -> None:
    def shape(text: str, result: str = "") -> str:
        return shape_of(
            Instruction(text, text.rsplit(" = ", maxsplit=1)[-1].split(maxsplit=1)[0], result)
        )

    assert shape("  %7 = add nsw i32 %5, %6, !dbg !12", "%7") == "add nsw i32 %, %"
    assert shape("  store i32 %x.addr, ptr %y, align 4, !dbg !3") == "store i32 %, ptr %, align 4"
    assert shape("  call void @f(ptr @.str.17)") == shape("  call void @f(ptr @.str.2)")
    assert "%struct.s" in shape("  %1 = alloca %struct.s, align 8", "%1")
