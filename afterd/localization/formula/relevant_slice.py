"""Relevant slices: data, control and potential dependences (Gyimóthy et al. 1999; CONBAS, Def. 6).

In the formula of a trace all three are reads: a value reads what it was computed from; a φ reads the
condition that chose between the sides (control), also where only the side that was not executed
would have written (potential dependence). So a slice is what a term reads, transitively.
"""

from __future__ import annotations

from collections.abc import Iterable

from afterd.logic import ProgramFormula, Statement, distinct_reads
from afterd.model.term import Term


def relevant_slice(formula: ProgramFormula, terms: Iterable[Term]) -> frozenset[Statement]:
    """The statements that may have had influence on the value of the terms."""
    by_step = {definition.step: definition for definition in formula.definitions}
    seen: set[int] = set()
    statements: set[Statement] = set()
    waiting = list(terms)
    while waiting:
        for read in distinct_reads(waiting.pop()):
            if read.step in seen or read.step not in by_step:
                continue
            seen.add(read.step)
            definition = by_step[read.step]
            waiting.append(definition.term)
            if definition.statement is not None:
                statements.add(definition.statement)
    return frozenset(statements)
