"""One problem in one incremental z3 solver, every constraint behind a literal of its own.

Runs only in the solver's child process. A check has a share of the problem's resource units, which
repeat exactly on every machine; the wall clock is only there because z3 does not count everything
(reliability.md, section 14), so an answer that it decides may differ between runs, and says so.
"""

from __future__ import annotations

import math
import struct
import time
from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum

import z3

from afterd.limits import LOGIC
from afterd.logic.constraint import Kind, Problem
from afterd.logic.evaluation import UNKNOWN, Known
from afterd.logic.terms import distinct_reads
from afterd.logic.translate import Expression, Translator
from afterd.model.term import Read, Sort, SortKind, StepId, Value


class Verdict(StrEnum):
    """z3's three answers."""

    SAT = "sat"
    UNSAT = "unsat"
    UNKNOWN = "unknown"


class Session:
    """The solver with the problem in it. Indices are those of ``problem.constraints``.

    ``rlimit`` resource units and ``timeout`` seconds are for the problem, all checks together. It is
    translated for the first check: most questions are answered by evaluation alone.
    """

    def __init__(self, problem: Problem, rlimit: int, timeout: float) -> None:
        self.problem = problem
        self.rlimit = rlimit
        self.checks = 0
        self.reason = ""
        self._deadline = time.monotonic() + timeout
        self._context = z3.Context()
        self._solver = z3.SimpleSolver(ctx=self._context)
        self._solver.set("random_seed", 1)
        self._translator = Translator(self._context, problem.precision)
        self._literals = [z3.Bool(f"p{i}", self._context) for i in range(len(problem.constraints))]
        self._positions = {literal.get_id(): i for i, literal in enumerate(self._literals)}
        self._used = 0
        self._is_loaded = False

    def check(self, indices: Iterable[int], units: int | None = None) -> Verdict:
        """Whether the goal can hold beside these constraints."""
        self._load()
        seconds = self._deadline - time.monotonic()
        allowed = min(units or self.rlimit, self.rlimit - self._used)
        if seconds <= 0 or allowed <= 0:
            self.reason = "time-out" if seconds <= 0 else "resource limit"
            return Verdict.UNKNOWN
        self._solver.set("rlimit", allowed)
        self._solver.set("timeout", max(1, int(1000 * seconds)))
        self.checks += 1
        before = self._count()
        try:
            verdict = Verdict(repr(self._solver.check(*(self._literals[i] for i in indices))))
        except z3.Z3Exception as error:  # out of memory, among others
            self.reason = str(error)
            return Verdict.UNKNOWN
        self._used += max(0, self._count() - before)
        if verdict is Verdict.UNKNOWN:
            self.reason = self._why()
        return verdict

    @property
    def used(self) -> int:
        """z3's resource units that all checks took together."""
        return self._used

    def core(self) -> set[int]:
        """z3's core of the last UNSAT: not minimal."""
        return {self._positions[literal.get_id()] for literal in self._solver.unsat_core()}

    def count_evaluated(self, terms: int) -> None:
        """Count ``terms`` that were evaluated beside z3: they are work of the same question."""
        self._used += terms * LOGIC.units_a_term

    def model(self) -> ModelValues:
        """The last model, of which a value is read when it is asked for."""
        return ModelValues(self._solver.model(), self._translator)

    def values(self, wanted: Iterable[Read]) -> dict[StepId, Value]:
        """The last model's values of reads; those that cannot be read back are left out."""
        model = self.model()
        found: dict[StepId, Value] = {}
        for read in wanted:
            if (value := model.of(read)) is not UNKNOWN:
                found[read.step] = value
        return found

    def _load(self) -> None:
        if self._is_loaded:
            return
        self._is_loaded = True
        for literal, constraint in zip(self._literals, self.problem.constraints, strict=True):
            meaning = self._translator.term(constraint.term)
            if constraint.kind is Kind.DEFINES:
                meaning = self._translator.variable(constraint.step, constraint.sort) == meaning
            self._solver.add(z3.Implies(literal, meaning))
        self._solver.add(self._translator.term(self.problem.goal))
        self._solver.add(*self._translator.facts)
        self._used += self._translator.translated * LOGIC.units_a_node

    def _count(self) -> int:
        statistics = self._solver.statistics()
        counted = "rlimit count" in statistics.keys()  # noqa: SIM118 -- z3's object is no mapping
        return int(statistics.get_key_value("rlimit count")) if counted else 0

    def _why(self) -> str:
        """z3 says "canceled" for both of its limits."""
        reason = str(self._solver.reason_unknown())
        if reason not in {"canceled", "max. resource limit exceeded"}:
            return reason
        return "time-out" if time.monotonic() >= self._deadline else "resource limit"


class ModelValues:
    """What a model gives reads, and what was ``put`` in its place; UNKNOWN where it cannot be read back."""

    def __init__(self, model: Expression, translator: Translator) -> None:
        self._model = model
        self._translator = translator
        self._known: dict[StepId, Known] = {}

    def of(self, read: Read) -> Known:
        """The value of a read."""
        if read.step not in self._known:
            variable = self._translator.variable(read.step, read.sort)
            value = _python_value(self._model.eval(variable, model_completion=True), read.sort)
            self._known[read.step] = UNKNOWN if value is None else value
        return self._known[read.step]

    def put(self, step: StepId, value: Known) -> None:
        """From now on the step has this value."""
        self._known[step] = value


def all_reads(problem: Problem, indices: Collection[int]) -> Mapping[StepId, Read]:
    """One read of every step that the goal and these constraints read."""
    found: dict[StepId, Read] = {}
    terms = [problem.goal, *(problem.constraints[i].term for i in indices)]
    for term in terms:
        for read in distinct_reads(term):
            found.setdefault(read.step, read)
    return found


def _python_value(expression: Expression, sort: Sort) -> Value:
    """A numeral as a value; None for what is none (an uninterpreted element, a real number)."""
    if sort.kind is SortKind.BOOL and z3.is_bool(expression):
        return bool(z3.is_true(expression))
    if z3.is_int_value(expression) or z3.is_bv_value(expression):
        return int(expression.as_long())
    if sort.kind is SortKind.STRING and z3.is_string_value(expression):
        return _text(expression.sexpr())
    if sort.kind is SortKind.FLOAT and z3.is_fp_value(expression):
        return _float(expression)
    return None


def _float(value: Expression) -> float:
    if value.isNaN():
        return math.nan
    bits = z3.simplify(z3.fpToIEEEBV(value, ctx=value.ctx))
    layout = ("<I", "<f") if bits.size() == 32 else ("<Q", "<d")
    return float(struct.unpack(layout[1], struct.pack(layout[0], bits.as_long()))[0])


def _text(literal: str) -> str:
    """The string behind an SMT-LIB literal."""
    parts = literal[1:-1].replace('""', '"').split("\\u{")
    decoded = [parts[0]]
    for part in parts[1:]:
        digits, _, rest = part.partition("}")
        decoded.append(chr(int(digits, 16)) + rest)
    return "".join(decoded)
