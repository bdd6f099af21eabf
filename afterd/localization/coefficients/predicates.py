"""Cooperative bug isolation: the importance of predicates.

SOBER: how unlike its passed runs a predicate behaves in failed ones.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import sparse

from afterd.localization.coefficients.statements import quotient
from afterd.localization.spectrum import Evaluations, FloatMatrix, Matrix, Vector, runs_executing


def cbi(e: Evaluations) -> Vector:
    """The larger importance of "it held" and "it did not hold", in [0, 1]; 0 is "discarded".

    ``Failure = F / (F + S)``, ``Context = F_obs / (F_obs + S_obs)``, ``Increase = Failure -
    Context``, ``Importance = 2 / (1/Increase + 1/(log F / log NumF))``, where F and S are the
    failed and successful runs in which the predicate was true at least once, ``_obs`` those in
    which it was evaluated, and NumF all failed runs. A branch is a site of two predicates.

    Liblit, Naik, Zheng, Aiken and Jordan, *Scalable statistical bug isolation*, PLDI 2005, sections
    3.1 and 3.3. Predicates with Increase ≤ 0 are discarded there; the confidence interval is not
    applied, since it would discard everything when few tests fail.
    """
    not_held = e.evaluated - e.held
    not_held.eliminate_zeros()
    return np.maximum(_importance(e, e.held), _importance(e, not_held))


def _importance(e: Evaluations, true: Matrix) -> Vector:
    held_failed, held_passed = runs_executing(true, e.failed), runs_executing(true, ~e.failed)
    seen_failed, seen_passed = (
        runs_executing(e.evaluated, e.failed),
        runs_executing(e.evaluated, ~e.failed),
    )
    failure = quotient(held_failed, held_failed + held_passed)
    context = quotient(seen_failed, seen_failed + seen_passed)
    increase = np.maximum(failure - context, 0.0)
    sensitivity = _sensitivity(held_failed, float(e.failed.sum()))
    return quotient(2.0 * increase * sensitivity, increase + sensitivity)


def _sensitivity(held_failed: Vector, failed: float) -> Vector:
    """``log F / log NumF``; 1 where F = NumF, so also for a single failed run (log 1 / log 1)."""
    logarithm = np.log(np.maximum(held_failed, 1.0))
    total = np.full_like(logarithm, np.log(max(failed, 1.0)))
    return np.where(held_failed == failed, 1.0, quotient(logarithm, total))


# Biases are quotients of counts: means of equal biases differ by rounding only below this.
ROUNDING = 1e-12


def sober_score(e: Evaluations) -> Vector:
    """``log10(σ / (√m · φ(z)))`` with ``z = √m · (mean_failed - μ) / σ``, in [-∞, ∞].

    μ and σ are the mean and the sample deviation, over the passed runs, of the evaluation bias
    ``true / (true + false)``; ``mean_failed`` is its mean over the m failed runs; φ is the standard
    normal density. A run that never evaluates the predicate has the bias 1/2: it speaks for neither
    outcome. σ = 0 gives the limits: ∞ where the means differ, -∞ where they agree. Without a
    failed or without a passed run there is nothing to compare, and every predicate has 0.

    Liu, Fei, Yan, Midkiff and Han, *Statistical debugging: a hypothesis testing-based approach*,
    IEEE TSE 32(10), 2006, section 4: the score is -log of the likelihood of what the failed runs
    show under the passed runs' distribution (base 10, as in the COMPSAC 2011 example).
    """
    failed = int(e.failed.sum())
    if failed in (0, e.failed.size):
        return np.zeros(e.evaluated.shape[1])
    bias = _centred_bias(e)
    mean_passed, deviation = _mean_and_deviation(bias[~e.failed])
    mean_failed, _ = _mean_and_deviation(bias[e.failed])
    return _surprise(mean_failed - mean_passed, deviation, failed)


def _centred_bias(e: Evaluations) -> FloatMatrix:
    """Evaluation biases minus 1/2, so that a run without an evaluation is a zero of the matrix."""
    inverse = e.evaluated.astype(np.float64)
    inverse.data = 0.5 / inverse.data
    return sparse.csr_array((2 * e.held - e.evaluated).multiply(inverse))


def _mean_and_deviation(bias: FloatMatrix) -> tuple[Vector, Vector]:
    """Per column: the mean, and the sample deviation (0 of a single row)."""
    rows, columns = bias.shape
    stored = np.bincount(bias.indices, minlength=columns)
    mean = np.asarray(bias.sum(axis=0), dtype=np.float64) / rows
    apart = (bias.data - mean[bias.indices]) ** 2
    squares = np.bincount(bias.indices, apart, columns) + (rows - stored) * mean**2
    return mean, np.sqrt(squares / max(rows - 1, 1))


def _surprise(difference: Vector, deviation: Vector, failed: int) -> Vector:
    """The score of a difference of means, in logarithms so that φ does not underflow."""
    differs = np.abs(difference) > ROUNDING
    certain = np.where(differs, np.inf, -np.inf)
    spread = np.where(deviation > ROUNDING, deviation, 1.0)
    z = math.sqrt(failed) * difference / spread
    nats = np.log(spread) - 0.5 * math.log(failed) + 0.5 * math.log(2.0 * math.pi) + 0.5 * z**2
    return np.where(deviation > ROUNDING, nats / math.log(10.0), certain)
