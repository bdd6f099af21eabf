"""What is known to repair an input is not asked about again."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import Any

from afterd.logic.correction_process import Literals, Session
from afterd.logic.gates import INT32, packed_clauses

ONE, OTHER, INNOCENT = 2, 3, 4
CLAUSES = array(INT32, [1, 0, -ONE, -OTHER, 0])


@dataclass
class Asked(Session):
    asked: list[Literals] = field(default_factory=list)

    def satisfiable(self, assumptions: Literals) -> bool:
        self.asked.append(assumptions)
        return super().satisfiable(assumptions)


def corrections(repairs: list[Literals]) -> tuple[dict[str, Any], int]:
    session = Asked()
    found = session.answer({
        "ask": "corrections", "fresh": True, "clauses": packed_clauses(CLAUSES), "seconds": 60.0,
        "hard": [1], "selectors": [ONE, OTHER, INNOCENT], "weights": [1, 2, 3], "frontier": [],
        "dominators": [], "cores": [], "size": 1, "count": 10, "patient": False, "repairs": repairs,
    })  # fmt: skip
    return found, len(session.asked)


def test_a_set_that_is_known_to_repair_comes_in_its_order_without_a_question() -> None:
    """scribe: what few paths had said was asked once more of all paths, which took seconds a set."""
    every, questions = corrections([])
    found, fewer = corrections([[OTHER]])
    assert found["sets"] == every["sets"] == [[ONE], [OTHER]]
    assert found["finished"] == every["finished"] == 1
    assert fewer == questions - 1
