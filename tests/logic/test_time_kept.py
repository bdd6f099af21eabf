"""A question's CPU time is kept while the solver's one call is in flight."""

from __future__ import annotations

from array import array
from itertools import combinations
from time import process_time

import pytest

from afterd.logic.correction import Corrections
from afterd.logic.correction_process import Session
from afterd.logic.cpu_alarm import CpuAlarm
from afterd.logic.encoding import Encoded
from afterd.logic.gates import INT32, packed_clauses
from afterd.logic.maxsat_process import answer

SECONDS, SLACK = 0.3, 1.0


def pigeons(count: int) -> list[list[int]]:
    """One pigeon more than holes: hours for a solver that only has resolution."""
    spot = [[1 + p * count + h for h in range(count)] for p in range(count + 1)]
    pairs = [(h, p, q) for h in range(count) for p, q in combinations(range(count + 1), 2)]
    return [*spot, *([-spot[p][h], -spot[q][h]] for h, p, q in pairs)]


def sent(clauses: list[list[int]]) -> str:
    return packed_clauses(array(INT32, [literal for c in clauses for literal in (*c, 0)]))


def test_a_call_in_flight_is_cut_off_and_unknown_and_the_next_is_answered() -> None:
    session = Session()
    question = {"ask": "core", "hard": [], "selectors": [], "fresh": True, "seconds": SECONDS}
    cut = session.answer({**question, "clauses": sent(pigeons(12))})
    assert cut["sat"] is None
    assert cut["reason"] == "time-out"
    assert SECONDS <= cut["cpu"] < SECONDS + SLACK
    assert session.answer({**question, "clauses": sent([[1], [-1]])})["sat"] is False


def test_clauses_are_not_taken_in_when_time_is_up_and_sent_once_more() -> None:
    session = Session()
    chain = sent([[-at, at + 1] for at in range(1, 300_000)])
    question = {"ask": "core", "hard": [1, -300_000], "selectors": [], "fresh": True}
    cut = session.answer({**question, "clauses": chain, "seconds": 0.05})
    assert cut["lost"] == "time-out"
    assert cut["cpu"] < 0.05 + SLACK
    assert session.answer({**question, "clauses": chain, "seconds": 60.0})["sat"] is False


def test_reading_a_question_is_its_time() -> None:
    session = Session()
    began = process_time()
    while process_time() - began < SECONDS:  # as a message of a million clauses takes
        pass
    question = {"ask": "core", "hard": [1], "selectors": [], "fresh": True, "seconds": SECONDS}
    late = session.answer({**question, "clauses": sent([[1]])})
    assert late["cpu"] >= SECONDS
    assert "time-out" in {late.get("lost"), late.get("reason")}
    assert session.answer({**question, "clauses": sent([[1]])})["sat"] is True


def test_a_circuit_is_not_collected_when_time_is_up() -> None:
    with Corrections() as solver:
        gates = solver.encoding.gates
        wide = gates.all_of(tuple(gates.new() for _ in range(2_000)))
        encoded = Encoded((wide,), (), {}, (), (wide,), (), {}, {})
        solver.begin(0.0)
        found = solver.enumerate(encoded)
        assert (found.reason, solver.seconds) == ("the time for it is up", 0.0)
        solver.begin(60.0)
        assert solver.enumerate(encoded).complete


def test_a_search_for_correction_sets_is_cut_off_and_says_so() -> None:
    hard = pigeons(12)
    question = {"ask": "correction", "hard": hard, "soft": [[1]], "weights": [1], "size": 1}
    cut = answer({**question, "count": 5, "seconds": SECONDS})
    assert cut["sets"] == []
    assert cut["reason"] == "time-out"
    assert cut["cpu"] < SECONDS + SLACK


@pytest.mark.parametrize("rings", [True, False])
def test_the_alarm_counts_cpu_time(rings: bool) -> None:
    rung: list[float] = []
    began = process_time()
    with CpuAlarm(0.05 if rings else 60.0, lambda: rung.append(process_time())) as alarm:
        while not rung and process_time() - began < 0.2:
            pass
    assert alarm.rang is rings
    assert all(at - began >= 0.05 for at in rung)
    assert len(rung) == rings
