"""Which statements decide all that others have to say (Mangassarian et al., ICCAD 2011).

A statement *dominates* another one if whatever the other defines reaches the obligations only
through what it defines itself. Dropping the dominator then repairs all that dropping the other one
does, so that a solver need not be asked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from afterd.logic.gates import Literal
from afterd.logic.program_formula import Definition
from afterd.logic.terms import distinct_reads
from afterd.model.term import StepId, Term

Dominators = Mapping[Literal, frozenset[Literal]]
"""Selector → the selectors of the statements that dominate its statement, without itself."""


def dominators(
    definitions: Sequence[Definition],
    needed: Collection[StepId],
    roots: Iterable[Term],
    selectors: Mapping[tuple[str, int], Literal],
) -> Dominators:
    """Of the statements whose definitions are ``needed`` for the roots.

    One pass from the last definition to the first: every reader's dominators are known by then.
    """
    lines = {line: 1 << at for at, line in enumerate(selectors)}
    over: dict[StepId, int] = {}  # per step the lines, as bits, on every way from it to a root
    of_line: dict[tuple[str, int], int] = {}

    def read(term: Term, by: int) -> None:
        for found in distinct_reads(term):
            over[found.step] = over.get(found.step, -1) & by

    for root in roots:
        read(root, 0)
    for definition in reversed(definitions):
        if definition.step not in needed:
            continue
        above = over.get(definition.step, 0)
        if definition.statement is not None:
            line = definition.statement.line
            above |= lines[line]
            of_line[line] = of_line.get(line, -1) & above
        read(definition.term, above)
    return {
        selectors[line]: frozenset(selectors[d] for d, bit in lines.items() if above & bit)
        - {selectors[line]}
        for line, above in of_line.items()
    }
