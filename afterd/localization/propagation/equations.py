"""Solving the equation set of a propagation technique, singular or not."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph
from scipy.sparse import linalg as sparse_linalg

from afterd.localization.spectrum import Columns, FloatMatrix, Vector

ColumnMatrix: TypeAlias = "sparse.csc_array[np.float64]"

DIGITS = 9  # of the largest score; what is beyond is rounding, and would break ties
SINGULAR = 1e-11  # smallest over largest pivot
SATISFIED = 1e-12  # residual over largest score
ITERATIONS = 5_000  # of LSQR: enough for functions of some thousand blocks, seconds for any


def solve(weights: FloatMatrix, constant: Vector, guess: Vector) -> Vector:
    """The solution of ``x = weights · x + constant``, nearest to ``guess`` where there are many.

    The set is one sparse linear system. Loops make it singular as a rule: all that flows around a
    loop comes back to its header, so the header's equation follows from the others (footnote 8 of
    the BlockRank paper solves by iteration for that reason, bounded since it need not converge:
    a loop of two blocks swaps their values for ever). So we solve for the correction of ``guess``:
    functions whose equations it satisfies already need none; the rest is factorised together; if
    that is singular each function by itself; and a singular function by LSQR, whose iteration
    converges to the smallest correction (Paige and Saunders, ACM TOMS 8(1), 1982), in the least
    squares sense where the equations contradict each other.
    """
    system = sparse.csr_array(sparse.eye_array(constant.size) - weights)
    residual = constant - system @ guess
    number, labels = csgraph.connected_components(weights, directed=False)
    function = labels.astype(np.intp)
    worst = _largest_by_group(residual, function, number)
    scale = _largest_by_group(guess, function, number) + _largest_by_group(
        constant, function, number
    )
    open_blocks = np.flatnonzero((worst > SATISFIED * scale)[function])
    solution = guess.copy()
    if open_blocks.size:
        solution[open_blocks] += _correction(system, residual, function, open_blocks)
    return _rounded_scores(solution)


def _correction(system: FloatMatrix, residual: Vector, function: Columns, rows: Columns) -> Vector:
    """The smallest ``y`` with ``system[rows, rows] · y = residual[rows]``."""
    square = sparse.csc_array(system[rows][:, rows])
    direct = _factorised_solution(square, residual[rows])
    if direct is not None:
        return direct
    parts = [rows[function[rows] == number] for number in np.unique(function[rows])]
    if len(parts) == 1:
        return _least_squares(square, residual[rows])
    correction = np.empty(rows.size)
    for part in parts:
        correction[np.searchsorted(rows, part)] = _correction(system, residual, function, part)
    return correction


def _factorised_solution(square: ColumnMatrix, right: Vector) -> Vector | None:
    """The direct solution, or None where the factors show the system to be singular."""
    try:
        factors = sparse_linalg.splu(square)
    except RuntimeError:  # SuperLU met an exactly zero pivot
        return None
    pivots = np.abs(factors.U.diagonal())
    return factors.solve(right) if pivots.min() > SINGULAR * pivots.max() else None


def _least_squares(square: ColumnMatrix, right: Vector) -> Vector:
    """The smallest of the vectors that satisfy the equations best."""
    limit = min(2 * right.size + 10, ITERATIONS)
    return np.asarray(sparse_linalg.lsqr(square, right, atol=1e-14, btol=1e-14, iter_lim=limit)[0])


def _largest_by_group(values: Vector, group: Columns, groups: int) -> Vector:
    """Per group, the largest absolute value."""
    largest = np.zeros(groups)
    np.maximum.at(largest, group, np.abs(values))
    return largest


def _rounded_scores(values: Vector) -> Vector:
    """Rounded to DIGITS digits of the largest value, so that equal scores compare equal."""
    largest = float(np.abs(values).max(initial=0.0))
    if largest == 0.0:
        return values
    return np.round(values, DIGITS - 1 - int(np.floor(np.log10(largest))))
