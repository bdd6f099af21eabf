"""python-sat's process for diagnosis: one incremental solver, asked again as the formula grows.

Correction sets come smallest first, and among equals lightest first, by hitting-set duality (Reiter 1987; Liffiton and
Sakallah 2008): RC2 proposes a smallest set of statements that meets every core found so far; where
the rest is satisfiable without it, it is a CoMSS, otherwise the solver gives another core. Cores
outlive the question: what contradicts a formula contradicts every formula that says more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import combinations, islice
from time import process_time
from typing import Any, Self

from pysat.card import CardEnc, EncType
from pysat.examples.rc2 import RC2
from pysat.formula import WCNF
from pysat.solvers import Solver

from afterd.execution.worker_process import serve
from afterd.limits import LOGIC
from afterd.logic.cpu_alarm import CpuAlarm
from afterd.logic.gates import unpacked_clauses

Literals = list[int]

_SOLVER = "glucose4"
_TIME_OUT = "time-out"


class TimeUpError(Exception):
    """The question's time is over."""


@dataclass(slots=True)
class Session:
    """The clauses sent so far, in one solver, and as they were sent."""

    solver: Any = field(default_factory=lambda: Solver(name=_SOLVER))
    hitting: FewMembers | HittingSets | None = None
    sent: list[str] = field(default_factory=list)
    answered: float = field(default_factory=process_time)
    """When the last question was over: reading the next one, which may be a million clauses, is its time."""
    deadline: float = 0.0
    known: frozenset[int] = frozenset()
    closed: frozenset[int] = frozenset()
    finished: int = 0
    dominators: dict[int, list[int]] = field(default_factory=dict)
    settled: set[frozenset[int]] = field(default_factory=set)
    """Sets that repair this input within the formula: they do in every larger one."""
    opened: set[frozenset[int]] = field(default_factory=set)
    """Sets that do with a side that is not in the formula; another formula says more."""

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answer one question; see ``correction.Corrections`` for what they mean."""
        began = self.answered
        self.deadline = began + request["seconds"]
        found = self._answered(request)
        self.answered = process_time()
        return {**found, "cpu": self.answered - began}

    def _answered(self, request: dict[str, Any]) -> dict[str, Any]:
        if request["fresh"]:
            self.solver.delete()
            self.solver = Solver(name=_SOLVER)
            self.sent.clear()
        self.sent.append(request["clauses"])
        try:
            self._load(self.solver, request["clauses"])
        except TimeUpError:  # it has a part of them, which is of no use
            self.solver.delete()
            self.solver = Solver(name=_SOLVER)
            self.sent.clear()
            return {"lost": _TIME_OUT}
        try:
            with CpuAlarm(self.deadline - process_time(), self._interrupt):
                return self._asked(request)
        finally:
            self.solver.clear_interrupt()

    def _load(self, solver: Any, text: str) -> None:  # noqa: ANN401 - python-sat's
        """Give a solver clauses, piece by piece: a million take seconds, and time may be up before."""
        clauses = unpacked_clauses(text)
        while piece := list(islice(clauses, LOGIC.piece)):
            if self.deadline <= process_time():
                raise TimeUpError
            solver.append_formula(piece)

    def _interrupt(self) -> None:
        """Whichever solver is at work."""
        self.solver.interrupt()
        if self.hitting is not None:
            self.hitting.interrupt()

    def _asked(self, request: dict[str, Any]) -> dict[str, Any]:
        match request["ask"]:
            case "corrections":
                return self.corrections(request)
            case "core":
                return self.one_core(request)
        return self.model(request)

    def satisfiable(self, assumptions: Literals) -> bool:
        """Whether the clauses can hold with these literals."""
        if self.deadline <= process_time():
            raise TimeUpError
        found = self.solver.solve_limited(assumptions=assumptions, expect_interrupt=True)
        if found is None:
            raise TimeUpError
        return bool(found)

    def corrections(self, request: dict[str, Any]) -> dict[str, Any]:
        """CoMSSs in order, the cores behind them, and frontiers that one of them needs."""
        sets: list[Literals] = []
        cores: list[Literals] = [list(core) for core in request["cores"]]
        self.known = frozenset(request["selectors"])
        self.closed = frozenset(-taken for taken in request["frontier"])
        self.dominators = {selector: over for selector, *over in request["dominators"]}
        self.finished = 0
        self.opened.clear()
        if not cores:
            self.settled.clear()
        self.settled.update(map(frozenset, request["repairs"]))
        needs: dict[int, None] = {}
        needy = 0
        found = {"sets": sets, "cores": cores, "complete": False, "reason": "", "finished": 0}
        try:
            for members in self._enumerate(request, cores):
                sets.append(members)
                needed = self._frontier_needed(request, members)
                needs.update(dict.fromkeys(needed))
                needy += bool(needed)
                tired = needy >= LOGIC.outside and not request["patient"]
                if tired or len(sets) >= request["count"]:
                    reason = "the formula must grow" if tired else f"{len(sets)} sets are enough"
                    return {**found, "needs": list(needs), "reason": reason}
        except TimeUpError:
            reason = _TIME_OUT
            return {**found, "needs": list(needs), "reason": reason, "finished": self.finished}
        return {**found, "needs": list(needs), "complete": not needs, "finished": request["size"]}

    def _enumerate(self, request: dict[str, Any], cores: list[Literals]) -> Iterator[Literals]:
        """Size by size; what was named in a smaller set is hard from then on (BugAssist's rule).

        A set with a statement that is a correction set by itself would not be minimal, so up to
        pairs nothing is lost; of larger sets those are left out whose statements are all named, or
        some of them, in smaller ones. More than pairs are looked for only while nothing was found:
        a fault in three statements at once is rarer than a set of three that happens to fit.
        """
        weight = dict(zip(request["selectors"], request["weights"], strict=True))
        hard: Literals = list(request["hard"])
        if self.satisfiable([*hard, *weight]):
            yield []
            return
        found = False
        with ExitStack() as stack:
            for size in range(1, min(request["size"], len(weight)) + 1):
                if found and size > LOGIC.always:
                    return
                if size == LOGIC.always:
                    stack.enter_context(self._with(hard))
                named: set[int] = set()
                for members in self._of_size(size, weight, hard, cores):
                    named.update(members)
                    yield members
                found = found or bool(named)
                self.finished = size
                hard += sorted(named)
                weight = {s: w for s, w in weight.items() if s not in named}

    @contextmanager
    def _with(self, hard: Literals) -> Iterator[None]:
        """For a while a solver in which what is hard is a fact.

        What was assumed is propagated again with each question, and pairs are many questions.
        """
        shared = self.solver
        self.solver = Solver(name=_SOLVER, bootstrap_with=[[h] for h in hard])
        try:
            for text in self.sent:
                self._load(self.solver, text)
            yield
        finally:
            self.solver.delete()
            self.solver = shared

    def _of_size(
        self, size: int, weight: dict[int, int], hard: Literals, cores: list[Literals]
    ) -> Iterator[Literals]:
        """Correction sets of at most ``size`` among the soft selectors, the lightest first."""
        soft = list(weight)
        known = [[s for s in core if s in weight] for core in cores]
        sets = FewMembers if size <= LOGIC.always else HittingSets
        with sets(weight, size, known) as hitting:
            self.hitting = hitting
            while (proposed := self._proposed(hitting)) is not None:
                dropped = set(proposed)
                rest = [s for s in soft if s not in dropped]
                if self._repairs(hard, rest, frozenset(proposed)):
                    yield proposed
                    hitting.forbid(proposed)
                    continue
                core = self._core_of(hard, rest)
                if not core:
                    return
                cores.append([*core, *(s for s in hard if s in self.known)])
                hitting.hit(core)

    def _proposed(self, hitting: FewMembers | HittingSets) -> Literals | None:
        """The next hitting set; an interrupted search for it looks like the end of them."""
        proposed = hitting.smallest()
        if proposed is None and self.deadline <= process_time():
            raise TimeUpError
        return proposed

    def _repairs(self, hard: Literals, rest: Literals, dropped: frozenset[int]) -> bool:
        """Whether all can hold without the dropped; first asked with the frontiers closed.

        Most repairs do without a frontier, and a core that names none holds with them open as well.
        """
        if dropped in self.settled or dropped in self.opened:
            return True
        if self.satisfiable([*hard, *rest, *self.closed]):
            self._add(self.settled, dropped)
            return True
        if self.closed.isdisjoint(self.solver.get_core() or []):
            return False
        if self.satisfiable([*hard, *rest]):
            self._add(self.opened, dropped)
            return True
        return False

    def _add(self, known: set[frozenset[int]], repair: frozenset[int]) -> None:
        """A repair, and those with dominators in the place of some of its statements."""
        known.add(repair)
        waiting = [repair]
        while waiting:
            members = waiting.pop()
            for member in members:
                for dominator in self.dominators.get(member, ()):
                    other = members - {member} | {dominator}
                    if len(other) == len(members) and other not in known:
                        known.add(other)
                        waiting.append(other)

    def _core_of(
        self, hard: Literals, selectors: Literals, small: int = LOGIC.minimised
    ) -> Literals:
        """A core among the selectors after an unsatisfiable answer; minimal where it is small."""
        among = set(selectors)
        core = [s for s in self.solver.get_core() or [] if s in among]
        for _ in range(LOGIC.trims):
            self.satisfiable([*hard, *core])
            smaller = set(self.solver.get_core() or [])
            if len(smaller & set(core)) == len(core):
                break
            core = [s for s in core if s in smaller]
        core = self._undominated(hard, core)
        return self._minimal(hard, core) if len(core) <= small else core

    def _undominated(self, hard: Literals, core: Literals) -> Literals:
        """A core without what only statements outside of it would hear of."""
        held = {*hard, *core}
        return [s for s in core if held.issuperset(self.dominators.get(s, ()))]

    def _minimal(self, hard: Literals, core: Literals) -> Literals:
        """What is left of a core after deletion, one by one."""
        at = 0
        while at < len(core):
            rest = core[:at] + core[at + 1 :]
            if self.satisfiable([*hard, *rest]):
                at += 1
            else:
                smaller = set(self.solver.get_core() or [])
                at = sum(1 for s in core[:at] if s in smaller)
                core = [s for s in rest if s in smaller]
        return core

    def _frontier_needed(self, request: dict[str, Any], dropped: Literals) -> Literals:
        """Frontiers without which these statements repair nothing; none if one can do without.

        One of each of several disjoint sets is taken in every repair; what remains closed can.
        """
        if frozenset(dropped) in self.settled:
            return []
        gone = set(dropped)
        hard = [*request["hard"], *(s for s in request["selectors"] if s not in gone)]
        stay = sorted(self.closed)
        needed: Literals = []
        while stay and not self.satisfiable([*hard, *stay]):
            core = set(self._core_of(hard, stay))
            needed += [-closed for closed in stay if closed in core]
            stay = [closed for closed in stay if closed not in core]
        return needed

    def one_core(self, request: dict[str, Any]) -> dict[str, Any]:
        """A minimal core of the selectors; none where all can hold."""
        try:
            if self.satisfiable([*request["hard"], *request["selectors"]]):
                return {"sat": True, "core": [], "reason": ""}
            return {
                "sat": False,
                "core": self._core_of(request["hard"], request["selectors"], 1 << 30),
                "reason": "",
            }
        except TimeUpError:
            return {"sat": None, "core": [], "reason": _TIME_OUT}

    def model(self, request: dict[str, Any]) -> dict[str, Any]:
        """Whether the literals can hold, and which of ``wanted`` do in the model."""
        try:
            if not self.satisfiable(request["hard"]):
                return {"sat": False, "true": [], "reason": ""}
        except TimeUpError:
            return {"sat": None, "true": [], "reason": _TIME_OUT}
        true = set(self.solver.get_model() or [])
        return {"sat": True, "true": [v for v in request["wanted"] if v in true], "reason": ""}


class FewMembers:
    """Hitting sets of exactly ``size`` members, the lightest first, in one pass over all such sets.

    A set that misses a core is never asked for again, because cores only get more. With weights of
    many values RC2 takes ten times as long for this; for large sets there would be too many.
    """

    def __init__(self, weight: Mapping[int, int], size: int, cores: Sequence[Literals]) -> None:
        self._met = dict.fromkeys(weight, 0)  # bit n of a selector: whether it meets core n
        self._all = 0
        for core in cores:
            self.hit(core)
        first = set(min(cores, key=len, default=weight))
        found = (c for c in combinations(weight, size) if not first.isdisjoint(c))
        self._rest = iter(sorted(found, key=lambda members: sum(weight[s] for s in members)))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is held."""

    def interrupt(self) -> None:
        """No call of it takes long."""

    def smallest(self) -> Literals | None:
        """The next one; None where there is none."""
        for members in self._rest:
            met = 0
            for member in members:
                met |= self._met[member]
            if met == self._all:
                return list(members)
        return None

    def hit(self, core: Literals) -> None:
        """Another core to be met."""
        bit = self._all + 1
        self._all |= bit
        for selector in core:
            self._met[selector] |= bit

    def forbid(self, members: Literals) -> None:
        """No set comes twice."""


class HittingSets:
    """Hitting sets of cores, the lightest first, with at most ``size`` members.

    A MaxSAT problem over variables of its own: RC2 looks at every variable up to the largest with
    each answer, and selectors are few among the variables of a program.
    """

    def __init__(self, weight: Mapping[int, int], size: int, cores: Sequence[Literals]) -> None:
        self._selectors = list(weight)
        self._number = {selector: at for at, selector in enumerate(self._selectors, start=1)}
        formula = WCNF()
        for core in cores:
            formula.append([self._number[s] for s in core])
        count = len(self._selectors)
        if size < count:
            members = list(self._number.values())
            bound = CardEnc.atmost(members, size, top_id=count, encoding=EncType.seqcounter)
            for clause in bound.clauses:
                formula.append(clause)
        for selector, number in self._number.items():
            formula.append([-number], weight=weight[selector])
        self._solver = RC2(formula)
        self._over = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._over = True
        self._solver.delete()

    def interrupt(self) -> None:
        """End the search for the next one, from another thread."""
        if not self._over:
            self._solver.interrupt()

    def smallest(self) -> Literals | None:
        """The next one; None where there is none."""
        model = self._solver.compute(expect_interrupt=True)
        if model is None:
            return None
        return [self._selectors[n - 1] for n in model if 0 < n <= len(self._selectors)]

    def hit(self, core: Literals) -> None:
        """Another core to be met."""
        self._solver.add_clause([self._number[s] for s in core])

    def forbid(self, members: Literals) -> None:
        """No set that contains these."""
        self._solver.add_clause([-self._number[s] for s in members])


if __name__ == "__main__":
    serve(Session().answer)
