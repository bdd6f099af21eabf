"""SAT-TAR: Tarantula on generated tests, helped by the unsatisfiable core (Gopinath et al. 2012).

The core of the violated condition is the first list of suspects. Tests are made by taking the
failing trace's branches the other way, one after the other; of those the one is run next that
covers most suspects. Ratings are Tarantula's, plus one for suspects. What a further failing test
makes less suspicious is no suspect any more; when the ratings stand still, tests that cover other
suspects are preferred.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from afterd.localization.formula.report import Line
from afterd.localization.formula.subject import Subject
from afterd.logic import (
    TRUE,
    Corrections,
    Encoded,
    ProgramFormula,
    Statement,
    TooLargeError,
    Word,
    formula_suspecting,
)
from afterd.model.term import StepId

PATIENCE = 2
"""Rounds in which no suspect's rating changed, after which the strategy switches."""

TRACES = 4
"""Traces whose branches are taken the other way: the failing one, then those of generated tests."""

Executed = TypeVar("Executed", bound="Run")

Rating = tuple[float, float]
"""Suspiciousness (up to 2) and confidence."""


class Run(Protocol):
    """An executed test: the lines it covered and the condition it violated, if any."""

    @property
    def lines(self) -> frozenset[Line]:
        """The lines that were executed."""
        ...

    @property
    def violated(self) -> str:
        """The name of the violated condition; empty where it passed."""
        ...


class Executes(Protocol[Executed]):
    """Runs the failing input with other values in it (as unsigned words)."""

    def of(self, wanted: Iterable[Mapping[StepId, int]], /) -> Iterator[Executed]:
        """A run each, but where there is none; as they are asked for, or all at once."""
        ...

    def subject(self, run: Executed, /) -> Subject:
        """The run's input, to make further tests from its trace."""
        ...


@dataclass(frozen=True, slots=True)
class Round:
    """The state after a round: the tests used so far, the suspects and every line's rating."""

    runs: tuple[Run, ...]
    suspects: frozenset[Line]
    ratings: Mapping[Line, Rating]
    switched: bool = False

    @property
    def generated(self) -> int:
        """How many tests were added to the failing one."""
        return len(self.runs) - 1

    def place(self, line: Line) -> int:
        """A line's place; ties share the worst."""
        return sum(rating >= self.ratings[line] for rating in self.ratings.values())


def sat_tar(
    subject: Subject,
    first: Executed,
    execute: Executes[Executed],
    solver: Corrections,
    suspect: Callable[[Statement], bool] = lambda _statement: True,
    proceed: Callable[[Round], bool] = lambda _round: True,
) -> list[Round]:
    """The rounds, the first without any generated test; ``proceed`` is the user's word after each.

    ``suspect`` says which statements may be wrong: a specification and its driver are not among
    them. Raises TooLargeError.
    """
    formula = formula_suspecting(_whole_formula(subject), suspect)
    suspects = unsatisfiable_cores(formula, solver)
    lines = frozenset(s.line for s in formula.executed if suspect(s))
    rounds = [Round((first,), suspects, ratings((first,), suspects, lines))]
    candidates = generated_tests(subject, first, execute, solver, lambda: proceed(rounds[-1]))
    idle = 0
    while proceed(rounds[-1]):
        last = rounds[-1]
        switched = idle >= PATIENCE
        chosen = most_similar(candidates, last.runs, last.suspects, switched=switched)
        if chosen is None:
            break
        candidates = [run for run in candidates if run is not chosen]
        if chosen.violated and chosen.violated != first.violated:
            continue  # another fault's test would make this one's statements less suspicious
        rounds.append(next_round(last, chosen, lines, switched=switched))
        same = all(rounds[-1].ratings[s] == last.ratings[s] for s in last.suspects & lines)
        idle = idle + 1 if same else 0
    return rounds


def _whole_formula(subject: Subject) -> ProgramFormula:
    """All paths, as the paper encodes a method; the failing one where they are too many."""
    try:
        return subject.all_paths()
    except TooLargeError:
        return subject.trace()


def unsatisfiable_cores(formula: ProgramFormula, solver: Corrections) -> frozenset[Line]:
    """The statements of a minimal core of each violated condition (several faults, several cores)."""
    found: set[Line] = set()
    for violated in formula.violated:
        core = solver.core(solver.encoding.encode(formula, [violated])).statements
        found.update(statement.line for statement in core or ())
    return frozenset(found)


def generated_tests(
    subject: Subject,
    first: Executed,
    execute: Executes[Executed],
    solver: Corrections,
    go_on: Callable[[], bool] = lambda: True,
) -> list[Executed]:
    """Tests of the failing trace's branches taken the other way, and of the traces that this gives,
    as far as the user lets it ``go_on``.

    One for each set of executed lines (Listing 2, first step, asks for unique coverage).
    """
    found: list[Executed] = []
    seen = {first.lines}
    waiting = [subject]
    for _ in range(TRACES):
        if not waiting or not go_on():
            break
        for run in execute.of(_other_ways(waiting.pop(0), solver)):
            if run.lines not in seen:
                seen.add(run.lines)
                found.append(run)
                waiting.append(execute.subject(run))
            if not go_on():
                break
    return found


def _other_ways(subject: Subject, solver: Corrections) -> Iterator[Mapping[StepId, int]]:
    """Values of the inputs for each branch of one trace that can go the other way."""
    try:
        formula = subject.trace()
        without = replace(formula, violated=(), hard=())
        encoded = solver.encoding.encode(without, with_path=True)
    except TooLargeError:
        return
    always = tuple(solver.encoding.selectors.values())
    for at, literal in enumerate(encoded.path):
        if abs(literal) == TRUE:
            continue
        values = nearest_inputs([*always, *encoded.path[:at], -literal], formula, encoded, solver)
        if values is not None:
            yield values


def nearest_inputs(
    wanted: Sequence[int], formula: ProgramFormula, encoded: Encoded, solver: Corrections
) -> Mapping[StepId, int] | None:
    """Values of the inputs under which the literals hold: as few as possible unlike the failing ones,
    and these as near to them, or to zero, as their leading bits can be.
    """
    if solver.values(wanted, []) is None:
        return None
    kept = list(wanted)
    before = {given.step: given.term for given in formula.inputs}
    for step, word in encoded.inputs.items():
        (known,) = solver.encoding.blaster.words_of([before[step]], _no_reads)
        kept += _leading_bits(word, known, kept, solver)
    words = list(encoded.inputs.values())
    values = solver.values(kept, words)
    return None if values is None else dict(zip(encoded.inputs, values, strict=True))


def _leading_bits(word: Word, known: Word, kept: Sequence[int], solver: Corrections) -> list[int]:
    """As many leading bits of a word as can be those of its value; of -1 or 0 where the sign cannot."""
    for pattern in (known, (-TRUE,) * len(word), (TRUE,) * len(word)):
        same = [x if y == TRUE else -x for x, y in zip(word, pattern, strict=True)]

        def free(count: int, same: Sequence[int] = same) -> bool:
            return solver.values([*kept, *same[count:]], []) is not None

        if free(0):
            return same
        if free(len(word) - 1):
            return same[bisect_left(range(len(word)), x=True, key=free) :]
    return []


def _no_reads(_step: StepId, _sort: object) -> tuple[int, ...]:
    return ()


def most_similar(
    candidates: Iterable[Run], used: Sequence[Run], suspects: frozenset[Line], *, switched: bool
) -> Run | None:
    """The unused run that covers most suspects, and more of the failing trace among equals.

    It must cover something new: another set of lines, or of suspects once the strategy switched.
    """

    def view(run: Run) -> frozenset[Line]:
        return run.lines & suspects if switched else run.lines

    seen = {view(run) for run in used}
    fresh = [run for run in candidates if run.lines & suspects and view(run) not in seen]
    first = used[0].lines
    return max(
        fresh, key=lambda run: (len(run.lines & suspects), len(run.lines & first)), default=None
    )


def next_round(last: Round, chosen: Run, lines: frozenset[Line], *, switched: bool) -> Round:
    """Ratings with one more test; suspects that a failing test made less suspicious are dropped."""
    runs = (*last.runs, chosen)
    suspects = last.suspects
    if chosen.violated:
        now, before = tarantula(runs, lines), tarantula(last.runs, lines)
        suspects = frozenset(s for s in suspects if s not in now or now[s] >= before[s])
    return Round(runs, suspects, ratings(runs, suspects, lines), switched)


def ratings(
    runs: Sequence[Run], suspects: frozenset[Line], lines: frozenset[Line]
) -> dict[Line, Rating]:
    """Tarantula's suspiciousness, plus one for a suspect; and its confidence."""
    return {
        line: (suspicion + (line in suspects), confidence)
        for line, (suspicion, confidence) in tarantula(runs, lines).items()
    }


def tarantula(runs: Sequence[Run], lines: frozenset[Line]) -> dict[Line, Rating]:
    """Suspiciousness and confidence by the runs' coverage (section 2)."""
    failed = [run for run in runs if run.violated]
    passed = [run for run in runs if not run.violated]
    found: dict[Line, Rating] = {}
    for line in lines:
        bad = sum(line in run.lines for run in failed) / max(1, len(failed))
        good = sum(line in run.lines for run in passed) / max(1, len(passed))
        found[line] = (bad / (bad + good) if bad + good else 0.0, max(bad, good))
    return found
