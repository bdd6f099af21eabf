"""Circuits mean what ``evaluate`` says: the right value is allowed, and no other one is."""

from __future__ import annotations

from generated_terms import READS_OF_A_SORT, SORTS, terms, values
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pysat.solvers import Solver

from afterd.logic.bitblast import Blaster
from afterd.logic.evaluation import UNKNOWN, Known, evaluate
from afterd.logic.gates import Gates, Word, split_clauses
from afterd.model.term import BOOL, Sort, StepId, Term, bitvec

_BLASTED = (BOOL, bitvec(1), bitvec(8))


@st.composite
def _valued_terms(draw: st.DrawFn) -> tuple[Term, dict[int, Known]]:
    sort = draw(st.sampled_from(_BLASTED))
    table = {
        10 * at + number: draw(values(of))
        for at, of in enumerate(SORTS)
        for number in range(READS_OF_A_SORT)
    }
    return draw(terms(sort, 2)), dict(table)


@settings(max_examples=80, suppress_health_check=list(HealthCheck))
@given(_valued_terms())
def test_circuits_agree_with_evaluation(case: tuple[Term, dict[int, Known]]) -> None:
    term, table = case
    expected = evaluate(term, lambda read: table[read.step])
    if expected is UNKNOWN:
        return
    gates = Gates()
    blaster = Blaster(gates)
    words: dict[tuple[StepId, Sort], Word] = {}

    def lookup(step: StepId, sort: Sort) -> Word:
        return words.setdefault((step, sort), blaster.free(sort))

    (made,) = blaster.words_of([term], lookup)
    wanted = blaster.constant(expected, term.sort)
    clauses = split_clauses(
        gates.cone([*made, *(b for word in words.values() for b in word)], set()).tolist()
    )
    with Solver(name="glucose4", bootstrap_with=clauses) as solver:
        assumed = [
            bit if known > 0 else -bit
            for (step, sort), word in words.items()
            for bit, known in zip(word, blaster.constant(table[step], sort), strict=True)
        ]
        same = [x if y > 0 else -x for x, y in zip(made, wanted, strict=True)]
        assert solver.solve(assumptions=[*assumed, *same]), "the value is excluded"
        if not blaster.notes:
            for bit in same:
                assert not solver.solve(assumptions=[*assumed, -bit]), "another value is allowed"
