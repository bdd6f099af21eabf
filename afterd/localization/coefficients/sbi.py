"""Statistical bug isolation, at the level of statements."""

from __future__ import annotations

from afterd.localization.coefficients.zero_division import quotient
from afterd.localization.spectrum import Counts, Vector


def sbi(n: Counts) -> Vector:
    """``ef / (ef + ep)``, in [0, 1]: the Failure of Liblit et al. taken of "was executed".

    Yu, Jones and Harrold, *An empirical study of the effects of test-suite reduction on fault
    localization*, ICSE 2008, section 2.2.
    """
    return quotient(n.ef, n.ef + n.ep)
