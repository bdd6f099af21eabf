"""The Op2 coefficient."""

from __future__ import annotations

from afterd.localization.spectrum import Counts, Vector


def op2(n: Counts) -> Vector:
    """``ef - ep / (P + 1)``, in (-1, F]; F and P are the failed and the passed runs.

    Naish, Lee and Ramamohanarao, *A model for spectra-based software diagnosis*, ACM TOSEM 20(3),
    2011: optimal there for one deterministic fault.
    """
    return n.ef - n.ep / (n.ep + n.np + 1.0)
