"""A program's meaning on one input as a formula: what the program text says, statement by statement.

The trace formula of Jin and Orso (III-B1): the input and the assertion are hard, and so is what a φ
function chooses; the statements are soft. A statement is *dropped* as a whole: whatever it defines,
in every iteration and every call, is then free.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from afterd.model.location import Location
from afterd.model.term import StepId, Term


class TooLargeError(Exception):
    """A formula outgrew its bounds; the message is a sentence's end for a reader."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What a diagnosis speaks of: a source line; ``conditional`` where it decides a branch."""

    location: Location
    conditional: bool = False

    @property
    def line(self) -> tuple[str, int]:
        """The line that stands for it in every list."""
        return self.location.file, self.location.line


@dataclass(frozen=True, slots=True)
class Definition:
    """``step`` is ``term``, unless ``statement`` is dropped (None: hard, it cannot be)."""

    step: StepId
    term: Term
    statement: Statement | None = None


@dataclass(frozen=True, slots=True)
class Branch:
    """One side of a conditional where an input's execution comes to it: ``instance`` numbers the place in
    the unrolled program, the same in every formula of the input.
    """

    function: str
    block: int
    side: int
    instance: int


@dataclass(frozen=True, slots=True)
class Frontier:
    """A side that is not in the formula, and when it would be taken; what follows is then free."""

    branch: Branch
    taken: Term


@dataclass(frozen=True, slots=True)
class PathCondition:
    """A branch as the run took it, for the tests that take it the other way (SAT-TAR)."""

    condition: Term
    statement: Statement


@dataclass(frozen=True, slots=True)
class Violated:
    """An obligation that the run broke: what must hold, and what it is called."""

    name: str
    term: Term


@dataclass(frozen=True, slots=True)
class ProgramFormula:
    """``definitions`` in the order of execution; ``inputs`` bind what was read from outside.

    ``hard`` are the obligations that the run kept; ``violated`` the one or several it broke: with
    both and the inputs the formula is unsatisfiable until statements are dropped. ``executed`` are
    the statements of the run itself; ``notes`` say what was made concrete or left out. ``sane`` is
    what the language leaves undefined where it fails (a signed sum that does not fit), each with
    the condition of reaching it: hard, where the obligations depend on all that it speaks of.
    """

    definitions: tuple[Definition, ...]
    inputs: tuple[Definition, ...]
    hard: tuple[Term, ...]
    violated: tuple[Violated, ...]
    frontier: tuple[Frontier, ...] = ()
    path: tuple[PathCondition, ...] = ()
    executed: tuple[Statement, ...] = ()
    instances: int = 0
    notes: tuple[str, ...] = ()
    sane: tuple[tuple[Term | None, Term], ...] = ()


def formula_suspecting(
    formula: ProgramFormula, suspect: Callable[[Statement], bool]
) -> ProgramFormula:
    """The formula in which only some statements can be wrong: the others are hard."""
    definitions = tuple(
        d if d.statement is None or suspect(d.statement) else replace(d, statement=None)
        for d in formula.definitions
    )
    return replace(formula, definitions=definitions)
