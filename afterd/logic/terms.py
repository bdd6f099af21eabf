"""Walks over terms that visit a shared sub-term once: a term is a graph, and its tree may have
2^n nodes. Iterative, because it may also be 10^6 deep. Terms are told apart by identity only.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence

from afterd.model.term import Apply, Concrete, Read, StepId, Term


def operands(term: Term) -> Sequence[Term]:
    """The direct sub-terms; those of a Concrete are the reads it depends on."""
    if isinstance(term, Apply):
        return term.args
    return term.reads if isinstance(term, Concrete) else ()


def nodes(term: Term, met: set[int] | None = None) -> Iterator[Term]:
    """Every sub-term once, ``term`` first, left before right.

    ``met`` holds the identities of terms that are left out, with what they are made of; it grows with those that
    were given.
    """
    seen = set() if met is None else met
    stack = [] if id(term) in seen else [term]
    seen.add(id(term))
    while stack:
        top = stack.pop()
        yield top
        for child in reversed(operands(top)):
            if id(child) not in seen:
                seen.add(id(child))
                stack.append(child)


def bottom_up(term: Term, done: set[int] | None = None) -> Iterator[Term]:
    """Every sub-term once, operands before what is made of them.

    ``done`` holds the identities of terms that are left out; it grows with those that were given.
    """
    finished = set() if done is None else done
    stack = [term]
    while stack:
        top = stack[-1]
        if id(top) in finished:
            stack.pop()
            continue
        pending = [child for child in operands(top) if id(child) not in finished]
        if pending:
            stack.extend(reversed(pending))
            continue
        stack.pop()
        finished.add(id(top))
        yield top


def distinct_reads(term: Term, met: set[int] | None = None) -> list[Read]:
    """The reads of a term, one for each step it reads, left to right; without those below what was ``met``."""
    found: dict[StepId, Read] = {}
    for node in nodes(term, met):
        if isinstance(node, Read):
            found.setdefault(node.step, node)
    return list(found.values())


def terms_of_known(terms: Iterable[Term], known: Container[StepId]) -> set[int]:
    """The identities of those terms that read ``known`` steps only; a sub-term that they share is looked at once."""
    done: set[int] = set()
    strange: set[int] = set()
    found: set[int] = set()
    for term in terms:
        for node in bottom_up(term, done):
            unknown = isinstance(node, Read) and node.step not in known
            if unknown or any(id(part) in strange for part in operands(node)):
                strange.add(id(node))
        if id(term) not in strange:
            found.add(id(term))
    return found
