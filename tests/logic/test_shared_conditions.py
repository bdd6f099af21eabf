"""A condition that grows from check to check is walked once, not once for each check that has it."""

from __future__ import annotations

import pytest

from afterd.logic import terms
from afterd.logic.encoding import Encoding
from afterd.logic.program_formula import Definition, ProgramFormula, Statement, Violated
from afterd.model.location import Location
from afterd.model.term import BOOL, Apply, Const, Op, Read, Term, bitvec

_WORD = bitvec(4)


def _checked(rounds: int) -> ProgramFormula:
    """A loop that counts; each round is reached by all conditions before it and checks a sum."""
    definitions = [Definition(0, Const(0, _WORD), Statement(Location("p.c", 1)))]
    reached: Term = Const(value=True, sort=BOOL)
    sane: list[tuple[Term | None, Term]] = []
    for step in range(1, rounds + 1):
        before = Read(step - 1, _WORD, "", 0)
        definitions.append(
            Definition(
                step,
                Apply(Op.ADD, (before, Const(1, _WORD)), _WORD),
                Statement(Location("p.c", 2)),
            )
        )
        reached = Apply(Op.AND, (reached, Apply(Op.NE, (before, Const(9, _WORD)), BOOL)), BOOL)
        sane.append((reached, Apply(Op.NE, (before, Const(8, _WORD)), BOOL)))
    last = Read(rounds, _WORD, "", 0)
    wanted = Apply(Op.EQ, (last, Const(3, _WORD)), BOOL)
    return ProgramFormula(tuple(definitions), (), (), (Violated("end", wanted),), sane=tuple(sane))


def _looked_at(rounds: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """How often the parts of a term were asked for while the formula was encoded."""
    asked = 0
    parts = terms.operands

    def counted(term: Term) -> object:
        nonlocal asked
        asked += 1
        return parts(term)

    formula = _checked(rounds)
    with monkeypatch.context() as patched:
        patched.setattr(terms, "operands", counted)
        Encoding().encode(formula)
    return asked


def test_twice_the_checks_are_twice_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = (_looked_at(rounds, monkeypatch) for rounds in (100, 200))
    assert many < 2.2 * few


def test_terms_of_known_steps_are_told_from_those_of_others() -> None:
    known, strange = Read(1, _WORD, "", 0), Read(2, _WORD, "", 0)
    both = Apply(Op.ADD, (known, strange), _WORD)
    above = Apply(Op.ADD, (both, known), _WORD)
    found = terms.terms_of_known([above, known, both], {1})
    assert found == {id(known)}
