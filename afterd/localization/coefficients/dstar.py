"""The DStar coefficient."""

from __future__ import annotations

from afterd.localization.coefficients.zero_division import quotient
from afterd.localization.spectrum import Counts, Vector


def dstar(n: Counts, star: float = 2.0) -> Vector:
    """``ef^star / (ep + nf)``, in [0, ∞]: infinite for what all failed runs and no other execute.

    Wong, Debroy, Gao and Li, *The DStar method for effective software fault localization*, IEEE
    Transactions on Reliability 63(1), 2014, section III; ``star`` = 2 is their D².
    """
    return quotient(n.ef**star, n.ep + n.nf)
