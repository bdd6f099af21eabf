"""Division by a word that is not known: the quotient and the rest of SMT-LIB, in a circuit that follows the digits
of the dividend.
"""

from __future__ import annotations

from itertools import product

from pysat.solvers import Solver

from afterd.logic.gates import Gates, Word, split_clauses
from afterd.logic.words import constant, divide, less_than, subtract

_WIDTH = 5


def test_every_quotient_and_rest_is_that_of_the_numbers() -> None:
    gates = Gates()
    a, b = _free(gates, _WIDTH), _free(gates, _WIDTH)
    quotient, rest = divide(gates, a, b)
    clauses = split_clauses(gates.cone([*quotient, *rest, *a, *b], set()).tolist())
    with Solver(name="glucose4", bootstrap_with=clauses) as solver:
        for x, y in product(range(1 << _WIDTH), repeat=2):
            assert solver.solve(assumptions=[*_being(a, x), *_being(b, y)])
            model = set(solver.get_model() or [])
            found = [
                sum(1 << at for at, bit in enumerate(w) if bit in model) for w in (quotient, rest)
            ]
            assert found == ([x // y, x % y] if y else [(1 << _WIDTH) - 1, x])


def test_a_step_takes_in_no_more_digits_than_the_rest_has() -> None:
    """After n digits of the dividend the rest has n: a step is one comparison and one difference of so many."""
    gates, plain = Gates(), Gates()
    divide(gates, _free(gates, 32), _free(gates, 32))
    for digits in range(1, 33):
        a, b = _free(plain, digits), _free(plain, digits)
        less_than(plain, a, b)
        subtract(plain, a, b)
    chosen = 6 * sum(range(33))
    assert gates.size < plain.size + chosen + 32 * 8


def _free(gates: Gates, width: int) -> Word:
    return tuple(gates.new() for _ in range(width))


def _being(word: Word, value: int) -> list[int]:
    known = constant(value, len(word))
    return [x if y > 0 else -x for x, y in zip(word, known, strict=True)]
