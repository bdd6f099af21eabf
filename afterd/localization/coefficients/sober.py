"""SOBER: how unlike its passed runs a predicate behaves in failed ones."""

from __future__ import annotations

import math

import numpy as np
from scipy import sparse

from afterd.localization.spectrum import Evaluations, FloatMatrix, Vector

# Biases are quotients of counts: means of equal biases differ by rounding only below this.
ROUNDING = 1e-12


def sober(e: Evaluations) -> Vector:
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
