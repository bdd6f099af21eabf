"""Questions to z3, asked from outside: every answer is a value, also when z3 dies of the question.

Three limits, because each has been seen to fail (reliability.md, section 14): resource units, which
repeat exactly; z3's own time-out, which is soft; and a wall clock after which the child is killed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol, Self

from afterd.execution.worker import Died, Reply, Worker
from afterd.limits import LOGIC, SolverLimits, WorkerLimits
from afterd.logic.constraint import Answer, Problem, Undecided, Unsatisfiable, exceeds
from afterd.logic.refutation import refuted
from afterd.logic.theory import Precision, has_hard_operators
from afterd.logic.wire import decode_answer, encode_problem

_POISONED = ("memory", "the solver failed")
"""Reasons after which every later answer of the same process is in doubt."""


class Asks(Protocol):
    """The part of a worker that is needed here."""

    def ask(self, request: dict[str, Any], seconds: float | None = None) -> Reply | Died:
        """The reply, or how the child died."""
        ...

    def close(self) -> None:
        """End the child; the next question starts another."""
        ...


class Solver:
    """A solver in a process of its own. ``calls`` counts z3's checks, ``units`` its resource units and
    ``seconds`` its time.
    """

    def __init__(self, limits: SolverLimits | None = None, worker: Asks | None = None) -> None:
        self.limits = limits or SolverLimits()
        self.calls = 0
        self.units = 0
        self.seconds = 0.0
        self._worker = worker or Worker(
            "afterd.logic.solver_process",
            WorkerLimits(request=self.limits.wall, address_space=self.limits.address_space),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()

    def core(self, problem: Problem) -> Answer:
        """Why the goal cannot hold: a minimal core, or Satisfiable, or Undecided.

        What was too hard is asked again with hard operators made concrete, if there are any. A core is believed only
        when a second, independent reading of its terms does not refute it.
        """
        exact = self._believed(problem)
        if not _too_hard(exact) or not _has_hard_operators(problem):
            return exact
        coarse = self._believed(replace(problem, precision=Precision.CONCRETE))
        better = isinstance(exact, Undecided) or not _too_hard(coarse)
        if isinstance(coarse, Unsatisfiable) and better:
            return replace(coarse, precision=Precision.CONCRETE)
        return exact

    def model(self, problem: Problem) -> Answer:
        """Values of the reads under which all constraints and the goal hold."""
        return self._ask("model", problem)

    def close(self) -> None:
        """End the solver's process."""
        self._worker.close()

    def _believed(self, problem: Problem) -> Answer:
        answer = self._ask("core", problem)
        if isinstance(answer, Unsatisfiable) and refuted(problem, answer.core):
            return Undecided("the solver's core was refuted by evaluating its terms")
        return answer

    def _ask(self, question: str, problem: Problem) -> Answer:
        if self.calls >= self.limits.queries:
            return Undecided("the budget of solver calls is spent")
        if exceeds(problem, LOGIC.terms):
            return Undecided(f"the problem has more than {LOGIC.terms} terms")
        reply = self._worker.ask(self._request(question, problem), self.limits.wall)
        if isinstance(reply, Died):
            self.calls += 1
            self.units += self.limits.rlimit
            self.seconds += self.limits.wall if reply.signal == 0 else 0.0
            return Undecided(f"the solver {reply.detail}")
        self.calls += int(reply.value["checks"])
        self.units += int(reply.value["units"])
        self.seconds += reply.seconds
        return self._read(reply.value)

    def _request(self, question: str, problem: Problem) -> dict[str, Any]:
        return {
            "ask": question,
            "problem": encode_problem(problem),
            "rlimit": self.limits.rlimit,
            "timeout": self.limits.timeout,
            "memory": self.limits.memory,
        }

    def _read(self, message: Mapping[str, Any]) -> Answer:
        answer = decode_answer(dict(message))
        if isinstance(answer, Undecided) and any(word in answer.reason for word in _POISONED):
            self._worker.close()
        return answer


def _has_hard_operators(problem: Problem) -> bool:
    terms = (constraint.term for constraint in problem.constraints)
    return has_hard_operators((*terms, problem.goal))


def _too_hard(answer: Answer) -> bool:
    return isinstance(answer, Undecided) or (
        isinstance(answer, Unsatisfiable) and not answer.minimal
    )
