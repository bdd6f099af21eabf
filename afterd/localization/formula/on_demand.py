"""OFC: the formula grows from the failing trace (Jin and Orso, section III-B, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from afterd.limits import DEMAND
from afterd.localization.formula.bugassist import SIZE
from afterd.localization.formula.report import Line, Report, ordered_diagnoses
from afterd.localization.formula.several_inputs import encoded_together
from afterd.localization.formula.subject import Subject, asked_part, premises_doubted, share_covered
from afterd.localization.formula.widening import Windows, look_back, widest_answer
from afterd.logic import (
    Branch,
    Corrections,
    Diagnosis,
    Encoded,
    Encoding,
    Found,
    Frontier,
    ProgramFormula,
    TooLargeError,
)

_NO_END = f"stopped growing: {DEMAND.iterations} formulas were not enough"


def on_demand(
    subjects: Sequence[Subject],
    solver: Corrections,
    weights: Mapping[Line, int] | None = None,
    size: int = SIZE,
) -> Report:
    """The diagnoses of the failing input, from as few paths as they need; of several inputs in one
    formula, those that repair all of them.

    A side that was not executed is free, so each iteration's formula says less than the next one's
    and than BugAssist's. The paper expands the unvisited side of every conditional in a CoMSS. We
    ask more exactly: a CoMSS is expanded where it repairs nothing without a side that is not
    encoded, whether the conditional is in it or only follows from what is. When none is left, every
    CoMSS has a repair within the formula, so it is one of BugAssist's; and each of BugAssist's
    contains one of ours, so that the two sets are equal (the paper observed it).

    Where all sides are so few that the first growth would take them in, they are what is begun with.
    A long run is asked for from its end, and single statements first: they are what is mostly wanted.
    Larger sets are asked for in the widest window that was settled.

    Where the formula outgrows its bounds, even with no side but those that are needed, all sets of
    the last one that did not are the answer, and it says so: each of BugAssist's of that size is
    one of them, but what one of them needs of other sides is not known.
    """
    name = "OFC" if weights is None else "OFC+CW"

    def settled(windows: Windows) -> _Growing:
        growing = _Growing(subjects, windows, solver, weights, begun.get(windows))
        growing.ask(1)
        if not growing.sets:
            growing.ask_on(size)
        return growing

    try:
        whole = tuple(subject.windows()[-1] for subject in subjects)
        begun = {whole: all_sides(subjects, whole)}
        growing = widest_answer(subjects, solver, settled, at_once=bool(begun[whole]))
    except TooLargeError as refused:
        return Report(name, reason=f"gives up: {refused}", weights=weights)
    growing.ask_on(size)
    found, reason = growing.found, growing.reason
    if not found.diagnoses and not reason:
        if premises_doubted(subjects):
            return on_demand(subjects, solver, weights, size)
        part = asked_part(subjects, growing.windows)
        reason = f"no set of up to {growing.found.finished} statements could repair it{part}"
    notes = tuple(dict.fromkeys(note for f in growing.formulas for note in f.notes))
    return Report(
        name, ordered_diagnoses(found.diagnoses, weights), reason,
        tuple(growing.history), weights, (*notes, *growing.encoding.notes), growing.encoding.size,
        growing.finished, sum(formula.instances for formula in growing.formulas),
        share_covered(subjects, growing.windows),
    )  # fmt: skip


@dataclass(slots=True)
class _Growing:
    """The formula of a window as it grows, and what is known of it. ``settled``: nothing that was found
    needs a side, and all sets of that size were.
    """

    subjects: Sequence[Subject]
    windows: Windows
    solver: Corrections
    weights: Mapping[Line, int] | None
    begun: Sequence[ProgramFormula] | None = None  # all sides, if they are few; None: not known
    explored: set[Branch] = field(default_factory=set)
    spare: set[Branch] = field(default_factory=set)  # of these, what nothing asked for last time
    by_factor: bool = True  # until the formula was too large
    kept: Found | None = None  # all sets of a formula that was large before it grew
    formulas: Sequence[ProgramFormula] = ()
    encoded: Encoded | None = None  # None: the formula has to be made anew
    last: Encoded | None = None
    found: Found = field(default_factory=Found)
    history: list[tuple[Diagnosis, ...]] = field(default_factory=list)
    settled: bool = False
    reason: str = ""  # why what was found is not all
    encoding: Encoding = field(init=False)

    def __post_init__(self) -> None:
        self.encoding = self.solver.encoding

    @property
    def sets(self) -> Sequence[Diagnosis]:
        """What was found."""
        return self.found.diagnoses

    @property
    def finished(self) -> int:
        """The size up to which all sets of the run are known: of a part of it none are."""
        whole = tuple(subject.windows()[-1] for subject in self.subjects)
        return self.found.finished if self.windows == whole else 0

    def ask_on(self, size: int) -> None:
        """The sets up to a size where smaller ones were settled, whatever was asked for since."""
        if not self.settled or self.found.finished >= size:
            return
        if self.solver.encoding is not self.encoding:
            look_back(self.subjects, self.windows)
            self.solver.resume(self.encoding)
        self.ask(size)

    def ask(self, size: int) -> None:
        """The sets up to a size; what was settled before stays where these cannot be."""
        before = self.found if self.settled else None
        complete = False
        try:
            complete = self.settle(size)
            self.reason = self.found.reason or ("" if complete else _NO_END)
        except TooLargeError as refused:
            self.reason = f"{'stopped growing' if self.history else 'gives up'}: {refused}"
            if before is None:
                self.as_far_as_it_went(size)
        self.settled = complete and self.found.complete
        if before is not None and not (complete and self.found.finished):
            self.found = before

    def settle(self, size: int) -> bool:
        """Grow until no set up to ``size`` needs a side; False where that has no end. TooLargeError."""
        for _ in range(DEMAND.iterations):
            if self.solver.over and self.found.diagnoses:
                raise TooLargeError("the time for it is up")
            frontier, encoded = self._made()
            self.found = self.solver.enumerate(encoded, self.weights, self.found.cores, size)
            self.history.append(self.found.diagnoses)
            fresh = {frontier[at].branch for at in self.found.needs} - self.explored
            if not fresh:
                return True
            if self.kept is None and self.encoding.size > DEMAND.large:
                self.kept = self._all_of_the_last(size)
            added = fresh
            if self.by_factor:
                added = grown_sides(fresh, self.explored, frontier, self._visited())
            self.spare = added - fresh
            self.explored |= added
            self.encoded = None
        return False

    def _visited(self) -> int:
        """How many sides the runs themselves took, if an iteration costs something."""
        if self.encoding.size < DEMAND.small:
            return 0
        return max(len(formula.path) for formula in self.formulas)

    def as_far_as_it_went(self, size: int) -> None:
        """All sets of the last formula that was not too large, whatever sides they need."""
        if self.last is not None and not self.solver.over:  # else what was found is the answer
            self.found = self._all_of_the_last(size)
            self.history.append(self.found.diagnoses)
        if self.solver.over and self.kept is not None:
            self.found = self.kept
        self.found = replace(self.found, finished=0)

    def _all_of_the_last(self, size: int) -> Found:
        assert self.last is not None
        return self.solver.enumerate(self.last, self.weights, self.found.cores, size, patient=True)

    def _made(self) -> tuple[Sequence[Frontier], Encoded]:
        """The formula with the sides that are explored, and those it has not. Raises TooLargeError."""
        while self.encoded is None:
            try:
                self.formulas = self._begun() or [
                    subject.on_demand(self.explored) for subject in self.subjects
                ]
                self.last = self.encoded = encoded_together(self.formulas, self.solver)
            except TooLargeError:
                if not self._makes_do_with_less():
                    raise
        return [side for formula in self.formulas for side in formula.frontier], self.encoded

    def _begun(self) -> Sequence[ProgramFormula]:
        """All sides, once, if they are few."""
        if self.begun is None:
            self.begun = all_sides(self.subjects, self.windows)
        found, self.begun = self.begun, ()
        return found

    def _makes_do_with_less(self) -> bool:
        """Whether there is less to ask for: only the sides that are needed, and nothing within them
        before that is needed, too.
        """
        if self.solver.over or self.encoding.size >= DEMAND.most or not self._forced_less():
            return False
        self.explored -= self.spare
        self.by_factor = False
        self.spare = set()
        return True

    def _forced_less(self) -> bool:
        """Whether fewer sides are asked for than were."""
        fewer = [subject.force_less() for subject in self.subjects]
        return any(fewer) or bool(self.spare)


def all_sides(subjects: Sequence[Subject], windows: Windows) -> Sequence[ProgramFormula]:
    """The formulas with all sides where these are so few that the first growth would take them in; none where
    they are more, or where a formula is so small that it takes in only what it needs.

    Of a long run they have no more instructions than a growth gives the longest that is asked for at once.
    """
    grown = 1 + DEMAND.factor
    longest = grown * DEMAND.whole
    if sum(windows) < DEMAND.windows[0] or max(windows) > longest:
        return ()
    look_back(subjects, windows)
    try:
        found = [
            subject.all_paths(min(grown * window, longest))
            for subject, window in zip(subjects, windows, strict=True)
        ]
    except TooLargeError:
        return ()
    return () if any(formula.frontier for formula in found) else found


def grown_sides(
    needed: AbstractSet[Branch],
    explored: AbstractSet[Branch],
    frontier: Sequence[Frontier],
    visited: int,
) -> set[Branch]:
    """The sides to add: those that are needed, and the latest others up to a few times as many as
    there are, explored or ``visited`` by the run.

    Every iteration costs as much as the whole formula does, so a formula that has to grow grows by a
    factor: the number of iterations is then the logarithm of the number of sides.
    """
    added = dict.fromkeys(needed)
    for side in reversed(frontier):
        if len(added) >= DEMAND.factor * max(visited, len(explored)):
            break
        if side.branch not in explored:
            added[side.branch] = None
    return set(added)
