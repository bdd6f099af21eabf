"""Tarantula: suspiciousness, and the confidence in it."""

from __future__ import annotations

import numpy as np

from afterd.localization.coefficients.zero_division import quotient
from afterd.localization.spectrum import Counts, Vector


def tarantula(n: Counts) -> Vector:
    """``(ef/F) / (ef/F + ep/P)``, in [0, 1]; F and P are the failed and the passed runs.

    Jones and Harrold, *Empirical evaluation of the Tarantula automatic fault-localization
    technique*, ASE 2005, section 2: one minus the hue, so that 1 is the most suspicious.
    """
    failed = quotient(n.ef, n.ef + n.nf)
    passed = quotient(n.ep, n.ep + n.np)
    return quotient(failed, failed + passed)


def tarantula_confidence(n: Counts) -> Vector:
    """``max(ef/F, ep/P)``, in [0, 1]: how much of the test suite the suspiciousness rests on.

    Jones, Harrold and Stasko, *Visualization of test information to assist fault localization*,
    ICSE 2002: the brightness of a statement. Not part of the ranking: ties stay ties.
    """
    return np.maximum(quotient(n.ef, n.ef + n.nf), quotient(n.ep, n.ep + n.np))
