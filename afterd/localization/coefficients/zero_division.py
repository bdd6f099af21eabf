"""The one rule for quotients with a zero denominator."""

from __future__ import annotations

import numpy as np

from afterd.localization.spectrum import Vector


def quotient(numerator: Vector, denominator: Vector) -> Vector:
    """Element by element ``numerator / denominator``, where 0/0 = 0 and x/0 = ∞ for x > 0.

    Nothing observed is no suspicion, and a coefficient that only lacks evidence against an entity
    puts it above every entity with some. This is the treatment of Naish, Lee and
    Ramamohanarao, *A model for spectra-based software diagnosis*, ACM TOSEM 20(3), 2011: zero where
    the numerator is zero, otherwise a value above all that a non-zero denominator can give.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        result = np.true_divide(numerator, denominator)
    return np.where(numerator == 0, 0.0, result)
