"""Cooperative bug isolation: the importance of predicates."""

from __future__ import annotations

import numpy as np

from afterd.localization.coefficients.zero_division import quotient
from afterd.localization.spectrum import Evaluations, Matrix, Vector, runs_executing


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
