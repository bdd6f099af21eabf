"""The Ochiai coefficient."""

from __future__ import annotations

import numpy as np

from afterd.localization.coefficients.zero_division import quotient
from afterd.localization.spectrum import Counts, Vector


def ochiai(n: Counts) -> Vector:
    """``ef / √((ef + nf) · (ef + ep))``, in [0, 1].

    Abreu, Zoeteweij and van Gemund, *On the accuracy of spectrum-based fault localization*,
    TAICPART-MUTATION 2007, section 2.3 (after Ochiai, 1957).
    """
    return quotient(n.ef, np.sqrt((n.ef + n.nf) * (n.ef + n.ep)))
