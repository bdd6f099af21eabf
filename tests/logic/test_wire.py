"""Problems and answers survive the way to the solver's process and back."""

from __future__ import annotations

import json
import math

import pytest
from generated_terms import SORTS, terms
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from problems import random_problem

from afterd.logic.constraint import Answer, Constraint, Kind, Satisfiable, Undecided, Unsatisfiable
from afterd.logic.evaluation import evaluate, same_value
from afterd.logic.wire import (
    Encoder,
    decode_answer,
    decode_nodes,
    decode_problem,
    decode_value,
    encode_answer,
    encode_problem,
    encode_value,
)
from afterd.model.term import INT, Apply, Free, Op, Read, Term, Value


@settings(max_examples=100, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(SORTS).flatmap(lambda sort: terms(sort, 3)), st.integers(0, 3))
def test_terms_keep_their_meaning(term: Term, value: int) -> None:
    encoder = Encoder()
    index = encoder.add(term)
    decoded = decode_nodes(json.loads(json.dumps(encoder.nodes)))[index]
    assert same_value(evaluate(term, lambda _: value), evaluate(decoded, lambda _: value))


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        1,
        pytest.param(-(10**5000), id="long"),
        0.1,
        -0.0,
        math.inf,
        math.nan,
        "é\ud800\x00",
        b"\xff",
        "1",
    ],
)
def test_values_survive(value: Value) -> None:
    assert same_value(decode_value(json.loads(json.dumps(encode_value(value)))), value)


def test_problems_survive() -> None:
    for seed in range(20):
        problem = random_problem(seed)
        assert decode_problem(json.loads(json.dumps(encode_problem(problem)))) == problem


@pytest.mark.parametrize(
    "answer",
    [
        Satisfiable({3: 7, 4: b"x"}),
        Unsatisfiable((5, 2), 4, minimal=False),
        Undecided("time-out"),
    ],
)
def test_answers_survive(answer: Answer) -> None:
    assert decode_answer(json.loads(json.dumps(encode_answer(answer)))) == answer


def test_equal_nodes_travel_once_and_free_values_stay_apart() -> None:
    encoder = Encoder()
    for _ in range(5):
        encoder.add(Apply(Op.ADD, (Read(1, INT), Read(2, INT)), INT))
    assert len(encoder.nodes) == 3
    assert encoder.add(Free("x", INT)) != encoder.add(Free("x", INT))


def test_a_deep_term_is_no_nesting() -> None:
    term: Term = Read(1, INT, "x", 1)
    for _ in range(100_000):
        term = Apply(Op.NEG, (term,), INT)
    encoder = Encoder()
    encoder.add(Constraint(2, Kind.DEFINES, term).term)
    assert len(json.dumps(encoder.nodes)) < 6_000_000
