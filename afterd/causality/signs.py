"""What is known of a change, sign by sign, and what that makes of its odds.

Each sign is named as its odds are (``weights.GuiltOdds``): how likely a change is to be guilty is the
product of its signs' odds, so that ``afterd bench calibrate`` can fit them one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from math import prod
from types import MappingProxyType

from afterd.model.trace import Conduct
from afterd.weights import ODDS


class Sign(StrEnum):
    """One thing that speaks for or against a change."""

    PARTED = "parted"
    PASSED = "passed"
    CARRIED = "carried"
    ABSORBED = "absorbed"
    SAME = "same"
    EFFECT_SEEN = "effect_seen"
    UNMET_PARTED = "unmet_parted"
    UNMET = "unmet"
    IDLE = "idle"
    ASIDE = "aside"
    NOT_ALONE = "not_alone"
    ENTANGLED = "entangled"
    SHOWN = "shown"
    SPOKEN = "spoken"


SIGN_OF_CONDUCT: Mapping[Conduct, Sign] = MappingProxyType(
    {
        Conduct.PARTED: Sign.PARTED,
        Conduct.PASSED: Sign.PASSED,
        Conduct.CARRIED: Sign.CARRIED,
        Conduct.ABSORBED: Sign.ABSORBED,
        Conduct.SAME: Sign.SAME,
        Conduct.NEUTRAL: Sign.SAME,
    }
)
"""What the calls that a change is in did beside green's."""


def odds_of(signs: Iterable[Sign]) -> float:
    """How much likelier guilt is for these signs together."""
    return prod(_ODDS[sign] for sign in signs)


_ODDS = {sign: float(getattr(ODDS, sign.value)) for sign in Sign}
