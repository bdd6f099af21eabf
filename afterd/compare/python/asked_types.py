"""Reads that asked for nothing but an object's type, where green's object was of the same type.

A release changes a field of an object that everything holds; that an ``isinstance`` of it was asked is no way by which
that field came to the failure. Without this, what led to each object in a condition is suspected.
"""

from __future__ import annotations

from dataclasses import replace

from afterd.compare.python.likeness import Likeness
from afterd.model.term import Apply, Concrete, Read, Term, reads


class AskedTypes:
    """Tells such reads of the failing run beside the green one."""

    def __init__(self, likeness: Likeness) -> None:
        self._likeness = likeness

    def left_out(self, term: Term) -> Term:
        """The term without them."""
        return self._without(term) if any(read.of_type for read in reads(term)) else term

    def _without(self, term: Term) -> Term:
        if isinstance(term, Apply):
            return replace(term, args=tuple(map(self._without, term.args)))
        if not isinstance(term, Concrete):
            return term
        kept = [read for read in term.reads if not (read.of_type and self._is_of_greens_type(read))]
        return replace(term, reads=tuple(kept))

    def _is_of_greens_type(self, read: Read) -> bool:
        likeness = self._likeness
        position = likeness.steps.trace.position(read.step)
        row = likeness.alignment.row(position)
        if row is None:
            return False
        mine, other = likeness.steps.effect(position), likeness.green.effect(row)
        return likeness.comparison.of_same_type(mine, other)
