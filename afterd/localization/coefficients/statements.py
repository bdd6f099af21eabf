"""The one rule for quotients with a zero denominator.

Tarantula: suspiciousness, and the confidence in it.

The Jaccard coefficient.

The Ochiai coefficient.

Statistical bug isolation, at the level of statements.

Barinel, as a coefficient of single statements.

The DStar coefficient.

The Op2 coefficient.
"""

from __future__ import annotations

import numpy as np

from afterd.localization.spectrum import Counts, Vector


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


def jaccard(n: Counts) -> Vector:
    """``ef / (ef + nf + ep)``, in [0, 1].

    Abreu, Zoeteweij and van Gemund, *On the accuracy of spectrum-based fault localization*,
    TAICPART-MUTATION 2007, section 2.3 (after Chen et al., *Pinpoint*, DSN 2002).
    """
    return quotient(n.ef, n.ef + n.nf + n.ep)


def ochiai(n: Counts) -> Vector:
    """``ef / √((ef + nf) · (ef + ep))``, in [0, 1].

    Abreu, Zoeteweij and van Gemund, *On the accuracy of spectrum-based fault localization*,
    TAICPART-MUTATION 2007, section 2.3 (after Ochiai, 1957).
    """
    return quotient(n.ef, np.sqrt((n.ef + n.nf) * (n.ef + n.ep)))


def sbi(n: Counts) -> Vector:
    """``ef / (ef + ep)``, in [0, 1]: the Failure of Liblit et al. taken of "was executed".

    Yu, Jones and Harrold, *An empirical study of the effects of test-suite reduction on fault
    localization*, ICSE 2008, section 2.2.
    """
    return quotient(n.ef, n.ef + n.ep)


def barinel(n: Counts) -> Vector:
    """``1 - ep / (ep + ef)`` of what was executed, in [0, 1]; 0 for what never was.

    Abreu, Zoeteweij and van Gemund, *Spectrum-based multiple fault localization*, ASE 2009: one
    minus the most likely goodness of a component that is the only fault. In this single-fault form
    (Pearson et al., *Evaluating and improving fault localization*, ICSE 2017, section 2) it gives
    every statement the value of SBI; it is listed because users look for it by name.
    """
    return quotient(n.ef, n.ep + n.ef)


def dstar(n: Counts, star: float = 2.0) -> Vector:
    """``ef^star / (ep + nf)``, in [0, ∞]: infinite for what all failed runs and no other execute.

    Wong, Debroy, Gao and Li, *The DStar method for effective software fault localization*, IEEE
    Transactions on Reliability 63(1), 2014, section III; ``star`` = 2 is their D².
    """
    return quotient(n.ef**star, n.ep + n.nf)


def op2(n: Counts) -> Vector:
    """``ef - ep / (P + 1)``, in (-1, F]; F and P are the failed and the passed runs.

    Naish, Lee and Ramamohanarao, *A model for spectra-based software diagnosis*, ACM TOSEM 20(3),
    2011: optimal there for one deterministic fault.
    """
    return n.ef - n.ep / (n.ep + n.np + 1.0)
