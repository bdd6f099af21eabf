"""Dominance against its definition: a dominator's repair is one wherever the other's is."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from pysat.solvers import Solver

from afterd.logic.encoding import Encoding
from afterd.logic.gates import split_clauses
from afterd.logic.program_formula import Definition, ProgramFormula, Statement, Violated
from afterd.model.location import Location
from afterd.model.term import Apply, Const, Op, Read, Term, bitvec

_WORD = bitvec(2)
_OPERATORS = (Op.ADD, Op.SUB, Op.BITAND, Op.BITXOR)


@st.composite
def _programs(draw: st.DrawFn) -> ProgramFormula:
    """Straight-line programs: statement n reads earlier ones; the last one is not what it should be."""
    count = draw(st.integers(2, 7))
    definitions: list[Definition] = []
    for step in range(count):
        given_steps = st.integers(0, step - 1) if step else st.nothing()
        operand = st.one_of(
            st.integers(0, 3).map(lambda value: Const(value, _WORD)),
            given_steps.map(lambda read: Read(read, _WORD, "", 0)),
        )
        term = Apply(draw(st.sampled_from(_OPERATORS)), (draw(operand), draw(operand)), _WORD)
        line = draw(st.integers(1, 5))
        definitions.append(Definition(step, term, Statement(Location("p.c", line))))
    last: Term = Read(count - 1, _WORD, "", 0)
    wanted = Apply(Op.EQ, (last, Const(draw(st.integers(0, 3)), _WORD)), bitvec(1))
    return ProgramFormula(tuple(definitions), (), (), (Violated("end", wanted),))


@settings(max_examples=200)
@given(_programs(), st.data())
def test_a_dominator_repairs_what_the_other_does(
    formula: ProgramFormula, data: st.DataObject
) -> None:
    encoding = Encoding()
    encoded = encoding.encode(formula)
    selectors = sorted(set(encoded.statements.values()))
    dropped = set(data.draw(st.lists(st.sampled_from(selectors), max_size=2)) if selectors else ())
    clauses = split_clauses(encoding.gates.cone(encoded.hard, set()).tolist())
    with Solver(name="glucose4", bootstrap_with=clauses) as solver:

        def repairs(without: set[int]) -> bool:
            return bool(solver.solve([*encoded.hard, *(s for s in selectors if s not in without)]))

        if not repairs(dropped):
            return
        for selector in dropped:
            for dominator in encoded.dominators.get(selector, ()):
                assert repairs(dropped - {selector} | {dominator})


def test_a_chain_is_dominated_by_its_end() -> None:
    def line(number: int) -> Statement:
        return Statement(Location("p.c", number))

    first = Definition(1, Const(1, _WORD), line(1))
    second = Definition(2, Apply(Op.ADD, (Read(1, _WORD, "", 1), Const(1, _WORD)), _WORD), line(2))
    wrong = Apply(Op.EQ, (Read(2, _WORD, "", 2), Const(3, _WORD)), bitvec(1))
    encoding = Encoding()
    encoded = encoding.encode(ProgramFormula((first, second), (), (), (Violated("end", wrong),)))
    ones = {line.line: selector for line, selector in encoded.statements.items()}
    assert encoded.dominators[ones["p.c", 1]] == {ones["p.c", 2]}
    assert not encoded.dominators[ones["p.c", 2]]
