"""CoMSSs, cores and models of encoded program formulas, from a solver in a process of its own."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import process_time
from typing import Any, Protocol, Self

from afterd.execution.worker import Died, Reply, Worker
from afterd.limits import SolverLimits, WorkerLimits
from afterd.logic.encoding import Dominators, Encoded, Encoding
from afterd.logic.gates import TRUE, Literal, Word, packed_clauses
from afterd.logic.program_formula import Statement, TooLargeError
from afterd.weights import SOLVER_SHARES

Diagnosis = frozenset[Statement]
Weights = Mapping[tuple[str, int], int]


class Asks(Protocol):
    """The part of a worker that is needed here."""

    def ask(self, request: dict[str, Any], seconds: float | None = None) -> Reply | Died:
        """The reply, or how the child died."""
        ...

    def close(self) -> None:
        """End the child."""
        ...


@dataclass(frozen=True, slots=True)
class Found:
    """CoMSSs in order; ``needs``: frontiers (by index) without which one of them repairs nothing.

    ``cores`` are to be handed to the next question about the same input; ``reason`` where the
    enumeration was not complete, ``finished`` up to which size it was.
    """

    diagnoses: tuple[Diagnosis, ...] = ()
    needs: tuple[int, ...] = ()
    cores: tuple[tuple[Literal, ...], ...] = ()
    complete: bool = True
    reason: str = ""
    finished: int = 0


@dataclass(frozen=True, slots=True)
class Core:
    """A minimal set of statements that contradicts what is hard; None where there is none."""

    statements: Diagnosis | None
    reason: str = ""


@dataclass(slots=True)
class Corrections:
    """One encoding and the solver that holds the part of it that was asked about. ``calls`` counts
    the questions, ``seconds`` the solver's CPU time.
    """

    limits: SolverLimits = field(default_factory=SolverLimits)
    encoding: Encoding = field(default_factory=Encoding)
    worker: Asks | None = None
    calls: int = 0
    seconds: float = 0.0
    _held: set[Literal] = field(default_factory=set)  # variables that the solver has
    _until: float = math.inf
    _at_last: float = math.inf

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()

    def restart(self) -> None:
        """Forget every formula: one that was given up would slow down all that come after it."""
        self.resume(Encoding())

    def resume(self, encoding: Encoding) -> None:
        """Ask about the formulas of this encoding from now on, which was this solver's before."""
        self.encoding = encoding
        self.encoding.over = lambda: self.over
        self._held.clear()

    def begin(self, seconds: float, at_last: float = 0.0) -> None:
        """From now on there is so much CPU time, the solver's and this process's together; ``at_last`` for what
        is ``pressed``, if that is more.
        """
        self._until = self._spent() + seconds
        self._at_last = self._spent() + max(seconds, at_last)
        self.encoding.over = lambda: self.over

    @contextmanager
    def pressed(self) -> Iterator[None]:
        """For what there is no answer without: all the time there is, not only this question's part."""
        own, self._until = self._until, self._at_last
        try:
            yield
        finally:
            self._until = own

    def spend(self, seconds: float) -> None:
        """Another process's CPU time, for the same answer."""
        self.seconds += seconds

    @property
    def left(self) -> float:
        """Seconds of CPU time that are left."""
        return max(0.0, self._until - self._spent())

    @property
    def over(self) -> bool:
        """Whether the time is up."""
        return self._spent() >= self._until

    def _spent(self) -> float:
        return self.seconds + process_time()

    def enumerate(
        self,
        encoded: Encoded,
        weights: Weights | None = None,
        known: Iterable[Sequence[Literal]] = (),
        size: int = 5,
        count: int = 500,
        *,
        patient: bool = False,
        repairs: Iterable[Diagnosis] = (),
    ) -> Found:
        """Minimal sets of statements to drop, smallest (lightest) first, none above ``size``.

        It ends early where several sets need frontiers, unless it is ``patient``: those sides must
        be encoded first, and what was found until then may be too small. ``repairs`` are known to
        be some, and are not asked about.
        """
        by_selector = _by_selector(encoded)
        selectors = sorted(by_selector)
        weigh = weights or {}
        heaviest = max(weigh.values(), default=1)
        frontier = [taken for taken in encoded.frontier if taken not in (TRUE, -TRUE)]
        hard = [*encoded.hard, *encoded.bound]
        reply = self._ask(
            [*hard, *frontier],
            alone=True,
            ask="corrections",
            hard=hard,
            selectors=selectors,
            weights=[weigh.get(by_selector[s].line, heaviest) for s in selectors],
            frontier=frontier,
            dominators=[[s, *encoded.dominators.get(s, ())] for s in selectors],
            cores=[list(core) for core in known],
            size=size,
            count=count,
            patient=patient,
            repairs=_selected(repairs, encoded),
        )
        if isinstance(reply, str):
            return Found(complete=False, reason=reply)
        place = {taken: index for index, taken in enumerate(encoded.frontier)}
        return Found(
            tuple(frozenset(by_selector[s] for s in members) for members in reply["sets"]),
            tuple(place[taken] for taken in reply["needs"]),
            tuple(tuple(core) for core in reply["cores"]),
            bool(reply["complete"]),
            str(reply["reason"]),
            int(reply["finished"]),
        )

    def core(self, encoded: Encoded) -> Core:
        """Why the obligations cannot hold on this input: a minimal unsatisfiable core."""
        by_selector = _by_selector(encoded)
        hard = [*encoded.hard, *encoded.bound]
        reply = self._ask(hard, ask="core", hard=hard, selectors=sorted(by_selector))
        if isinstance(reply, str):
            return Core(None, reply)
        if reply["sat"] is not False:
            return Core(None, str(reply["reason"]))
        return Core(frozenset(by_selector[s] for s in reply["core"]))

    def consistent(self, encoded: Encoded, dropped: Diagnosis) -> bool | None:
        """Whether everything else can hold without these statements; None where time was up."""
        kept = [s for statement, s in encoded.statements.items() if statement not in dropped]
        gone = {encoded.statements[s] for s in dropped if s in encoded.statements}
        hard = [*encoded.hard, *encoded.bound, *(s for s in kept if s not in gone)]
        reply = self._ask(hard, ask="model", hard=hard, wanted=[])
        return None if isinstance(reply, str) else reply["sat"]

    def values(self, assumed: Sequence[Literal], words: Sequence[Word]) -> list[int] | None:
        """Unsigned values of words in a model of the clauses and what is assumed; None without one."""
        wanted = [bit for word in words for bit in word]
        reply = self._ask([*assumed, *wanted], ask="model", hard=list(assumed), wanted=wanted)
        if isinstance(reply, str) or not reply["sat"]:
            return None
        true = {TRUE, *reply["true"]}
        return [sum(1 << at for at, bit in enumerate(word) if bit in true) for word in words]

    def close(self) -> None:
        """End the solver's process."""
        if self.worker is not None:
            self.worker.close()

    def _ask(
        self,
        roots: Sequence[Literal],
        *,
        alone: bool = False,
        **question: Any,  # noqa: ANN401 - a message of the child
    ) -> Any | str:  # noqa: ANN401
        """The child's message, or why there is none; the part of the circuit that it lacks goes with
        the question. ``alone``: where much of what it has is of no use any more, it begins anew.
        """
        if self.worker is None:
            limits = WorkerLimits(request=self.limits.wall, address_space=self.limits.address_space)
            self.worker = Worker("afterd.logic.correction_process", limits)
        self.calls += 1
        try:
            fresh, clauses = self._missing(roots, alone=alone)
        except TooLargeError as refused:
            self._held.clear()
            return str(refused)
        request = {
            **question,
            "fresh": fresh,
            "clauses": packed_clauses(clauses),
            "seconds": min(self.limits.timeout, self.left),
        }
        reply = self.worker.ask(request, SOLVER_SHARES.loaded * self.limits.wall)
        if isinstance(reply, Died):
            self._held.clear()
            return f"the solver {reply.detail}"
        self.seconds += float(reply.value["cpu"])
        if "lost" in reply.value:
            self._held.clear()
            return str(reply.value["lost"])
        return reply.value

    def _missing(self, roots: Sequence[Literal], *, alone: bool) -> tuple[bool, array[int]]:
        """Whether the solver begins anew, and the clauses that it does not have."""
        fresh = not self._held
        if alone or fresh:
            cone: set[Literal] = set()
            clauses = self.encoding.gates.cone(roots, cone, lambda: self.over)
            if fresh or len(self._held - cone) > len(cone) * SOLVER_SHARES.idle_variables:
                self._held = cone
                return True, clauses
        return fresh, self.encoding.gates.cone(roots, self._held, lambda: self.over)


def _by_selector(encoded: Encoded) -> dict[Literal, Statement]:
    """Selector to statement; of several on one line a conditional stands for the line."""
    found: dict[Literal, Statement] = {}
    for statement, selector in encoded.statements.items():
        if selector not in found or statement.conditional:
            found[selector] = statement
    return found


def _selected(repairs: Iterable[Diagnosis], encoded: Encoded) -> list[list[Literal]]:
    """The selectors of those sets of which each statement is in the formula."""
    statements = encoded.statements
    return [
        [statements[statement] for statement in repair]
        for repair in repairs
        if all(statement in statements for statement in repair)
    ]


def merged_formulas(parts: Sequence[Encoded]) -> Encoded:
    """Several inputs' formulas as one: what is hard for each is hard for all."""
    first = parts[0]
    statements: dict[Statement, Literal] = {}
    for part in parts:
        statements.update(part.statements)
    return replace(
        first,
        hard=tuple(literal for part in parts for literal in part.hard),
        bound=tuple(literal for part in parts for literal in part.bound),
        statements=statements,
        frontier=tuple(taken for part in parts for taken in part.frontier),
        dominators=_of_all([part.dominators for part in parts]),
    )


def _of_all(parts: Sequence[Dominators]) -> Dominators:
    """What dominates a statement wherever it is."""
    found: dict[Literal, frozenset[Literal]] = {}
    for part in parts:
        for selector, over in part.items():
            found[selector] = found.get(selector, over) & over
    return found
