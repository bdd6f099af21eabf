"""CW: what passing tests know, as weights of clauses (Jin and Orso, section III-A)."""

from __future__ import annotations

from collections.abc import Mapping

from afterd.localization.formula.report import Line

_SCALE = 100


def clause_weights(suspicion: Mapping[Line, float]) -> dict[Line, int]:
    """Weight = 1 / suspiciousness, in hundredths; zero gets the largest weight of all.

    A suspiciousness above one counts as one: what is never dropped for less is never dropped first.
    """
    weights = {
        line: round(_SCALE / min(score, 1.0)) for line, score in suspicion.items() if score > 0
    }
    heaviest = max(weights.values(), default=_SCALE)
    return {line: weights.get(line, heaviest) for line in suspicion}
