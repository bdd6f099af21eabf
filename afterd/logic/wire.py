"""Problems and answers as JSON between us and the solver's process.

Terms travel as one flat table of nodes in which a node names its operands by index: shared
sub-terms once, and no nesting for a parser to run out of stack on.
"""

from __future__ import annotations

from typing import Any

from afterd.limits import LOGIC
from afterd.logic.constraint import (
    Answer,
    Constraint,
    Kind,
    Problem,
    Satisfiable,
    Undecided,
    Unsatisfiable,
)
from afterd.logic.terms import bottom_up, operands
from afterd.logic.theory import Precision
from afterd.model.term import Apply, Concrete, Const, Free, Op, Read, Sort, SortKind, Term, Value

Json = Any


class Encoder:
    """Collects nodes; equal nodes get one index, however often a tracer built them, but for what is not followed:
    two calls that were given the same and gave the same here may give different things elsewhere.
    """

    def __init__(self) -> None:
        self.nodes: list[Json] = []
        self._index: dict[int, int] = {}
        self._known: dict[str, int] = {}
        self._done: set[int] = set()
        self._alive: list[Term] = []

    def add(self, term: Term) -> int:
        """The index of ``term`` in ``nodes``."""
        for node in bottom_up(term, self._done):
            self._alive.append(node)
            row = self._row(node)
            key = repr(row)
            if key not in self._known:
                self._known[key] = len(self.nodes)
                self.nodes.append(row)
            self._index[id(node)] = self._known[key]
        return self._index[id(term)]

    def _row(self, term: Term) -> Json:
        sort = [term.sort.kind.value, term.sort.width]
        children = [self._index[id(child)] for child in operands(term)]
        match term:
            case Const():
                return ["const", *sort, encode_value(term.value)]
            case Read():
                return ["read", *sort, term.step, encode_value(term.value)]
            case Free():
                return ["free", *sort, len(self.nodes)]  # each one differs from all others
            case Concrete():
                return ["concrete", *sort, encode_value(term.value), children, len(self.nodes)]
            case Apply():
                return ["apply", *sort, term.op.value, term.parameter, children]


def decode_nodes(rows: list[Json]) -> list[Term]:
    """The terms of a node table, sharing kept. What only people read (names, reasons) is gone."""
    terms: list[Term] = []
    for tag, kind, width, *rest in rows:
        terms.append(_term(tag, Sort(SortKind(kind), width), rest, terms))
    return terms


def _term(tag: str, sort: Sort, rest: list[Json], terms: list[Term]) -> Term:
    if tag == "const":
        return Const(decode_value(rest[0]), sort)
    if tag == "read":
        return Read(rest[0], sort, "", decode_value(rest[1]))
    if tag == "free":
        return Free("", sort)
    if tag == "concrete":
        reads = tuple(term for i in rest[1] if isinstance(term := terms[i], Read))
        return Concrete(decode_value(rest[0]), sort, "", reads)
    return Apply(Op(rest[0]), tuple(terms[i] for i in rest[2]), sort, rest[1])


def encode_value(value: Value) -> Json:
    """A value; JSON's own types where they are exact."""
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if (
        isinstance(value, int)
        and not isinstance(value, bool)
        and value.bit_length() > LOGIC.decimal_bits
    ):
        return {"int": hex(value)}
    return value


def decode_value(value: Json) -> Value:
    """The inverse of ``encode_value``."""
    if isinstance(value, dict):
        return bytes.fromhex(value["bytes"]) if "bytes" in value else int(value["int"], 16)
    plain: Value = value
    return plain


def encode_problem(problem: Problem) -> dict[str, Json]:
    """A problem as one JSON object."""
    encoder = Encoder()
    return {
        "constraints": [[c.step, c.kind.value, encoder.add(c.term)] for c in problem.constraints],
        "goal": encoder.add(problem.goal),
        "drop_order": list(problem.drop_order),
        "precision": problem.precision.value,
        "nodes": encoder.nodes,
    }


def decode_problem(message: dict[str, Json]) -> Problem:
    """The inverse of ``encode_problem``, names and reasons apart."""
    terms = decode_nodes(message["nodes"])
    return Problem(
        tuple(Constraint(step, Kind(kind), terms[i]) for step, kind, i in message["constraints"]),
        terms[message["goal"]],
        tuple(message["drop_order"]),
        Precision(message["precision"]),
    )


def encode_answer(answer: Answer) -> dict[str, Json]:
    """An answer as one JSON object."""
    match answer:
        case Satisfiable(values):
            pairs = [[step, encode_value(value)] for step, value in values.items()]
            return {"answer": "sat", "values": pairs}
        case Unsatisfiable(core, suffix, minimal):
            return {"answer": "unsat", "core": list(core), "suffix": suffix, "minimal": minimal}
        case Undecided(reason):
            return {"answer": "unknown", "reason": reason}


def decode_answer(message: dict[str, Json]) -> Answer:
    """The inverse of ``encode_answer``."""
    match message["answer"]:
        case "sat":
            return Satisfiable({step: decode_value(value) for step, value in message["values"]})
        case "unsat":
            return Unsatisfiable(tuple(message["core"]), message["suffix"], message["minimal"])
    return Undecided(str(message["reason"]))
