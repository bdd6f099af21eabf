"""Barinel, as a coefficient of single statements."""

from __future__ import annotations

from afterd.localization.coefficients.zero_division import quotient
from afterd.localization.spectrum import Counts, Vector


def barinel(n: Counts) -> Vector:
    """``1 - ep / (ep + ef)`` of what was executed, in [0, 1]; 0 for what never was.

    Abreu, Zoeteweij and van Gemund, *Spectrum-based multiple fault localization*, ASE 2009: one
    minus the most likely goodness of a component that is the only fault. In this single-fault form
    (Pearson et al., *Evaluating and improving fault localization*, ICSE 2017, section 2) it gives
    every statement the value of SBI; it is listed because users look for it by name.
    """
    return quotient(n.ef, n.ep + n.ef)
