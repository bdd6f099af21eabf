"""The Jaccard coefficient."""

from __future__ import annotations

from afterd.localization.coefficients.zero_division import quotient
from afterd.localization.spectrum import Counts, Vector


def jaccard(n: Counts) -> Vector:
    """``ef / (ef + nf + ep)``, in [0, 1].

    Abreu, Zoeteweij and van Gemund, *On the accuracy of spectrum-based fault localization*,
    TAICPART-MUTATION 2007, section 2.3 (after Chen et al., *Pinpoint*, DSN 2002).
    """
    return quotient(n.ef, n.ef + n.nf + n.ep)
