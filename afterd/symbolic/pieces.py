"""What sides of a branch wrote, in the same pieces on all of them: one may copy a record as a whole of which
another one writes a field.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise

from afterd.model.term import Apply, Op, SortKind, Term, bitvec

Written = tuple[bytes, Term | None]
Changed = dict[int, Written]
"""By address the bytes that stand there, and their term where it is no constant."""


def cut_alike(changes: Sequence[Changed]) -> Sequence[Changed]:
    """The same writes, cut wherever one of them begins or ends; what is no word of bits stays whole."""
    if _are_alike(changes):
        return changes
    ends = {
        end
        for changed in changes
        for address, (data, _) in changed.items()
        for end in (address, address + len(data))
    }
    cuts = sorted(ends)
    return [
        dict(
            piece for address, written in changed.items() for piece in _cut(address, written, cuts)
        )
        for changed in changes
    ]


def written_over(below: Changed, above: Changed) -> Changed:
    """What was written, and what was written over it."""
    under, over = cut_alike([below, above])
    return {**under, **over}


def _are_alike(changes: Sequence[Changed]) -> bool:
    sizes: dict[int, int] = {}
    for changed in changes:
        for address, (data, _) in changed.items():
            if sizes.setdefault(address, len(data)) != len(data):
                return False
    return all(at + sizes[at] <= following for at, following in pairwise(sorted(sizes)))


def _cut(address: int, written: Written, cuts: Sequence[int]) -> Iterator[tuple[int, Written]]:
    data, term = written
    end = address + len(data)
    inner = cuts[bisect_right(cuts, address) : bisect_left(cuts, end)]
    if not inner or not (term is None or _is_word(term, len(data))):
        yield address, written
        return
    for start, stop in pairwise((address, *inner, end)):
        at = start - address
        part = data[at : at + stop - start]
        bits = bitvec(8 * len(part))
        yield start, (part, None if term is None else Apply(Op.EXTRACT, (term,), bits, 8 * at))


def _is_word(term: Term, size: int) -> bool:
    return term.sort.kind is SortKind.BITVEC and term.sort.width == 8 * size
