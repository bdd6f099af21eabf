"""The z3 encoding and the Python one mean the same; where they cannot, the encoding says less."""

from __future__ import annotations

import z3
from generated_terms import READS_OF_A_SORT, SORTS, terms, values
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from afterd.logic.evaluation import UNKNOWN, Known, evaluate
from afterd.logic.theory import Precision, reasons
from afterd.logic.translate import Translator
from afterd.model.term import Term


@st.composite
def _valued_terms(draw: st.DrawFn) -> tuple[Term, dict[int, Known]]:
    sort = draw(st.sampled_from(SORTS))
    term = draw(terms(sort, 3))
    table: dict[int, Known] = {
        10 * i + k: draw(values(s)) for i, s in enumerate(SORTS) for k in range(READS_OF_A_SORT)
    }
    return term, table


@settings(max_examples=300, suppress_health_check=list(HealthCheck))
@given(_valued_terms(), st.sampled_from(Precision))
def test_z3_agrees_with_evaluation(
    case: tuple[Term, dict[int, Known]], precision: Precision
) -> None:
    term, table = case
    expected = evaluate(term, lambda read: table[read.step])
    if expected is UNKNOWN:
        return
    context = z3.Context()
    translator = Translator(context, precision)
    expression = translator.term(term)
    solver = z3.SimpleSolver(ctx=context)
    solver.set("rlimit", 2_000_000)
    for step, value in table.items():
        sort = SORTS[step // 10]
        solver.add(translator.variable(step, sort) == translator.constant(value, sort))
    literal = translator.constant(expected, term.sort)
    solver.add(*translator.facts)
    assert solver.check(expression == literal) != z3.unsat, "the value is excluded"
    if not list(reasons(term, precision)):
        assert solver.check(z3.Not(expression == literal)) != z3.sat, "another value is allowed"
