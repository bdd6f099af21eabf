"""What a spectrum counts, and whose runs it counts: the columns and the rows of its matrix.

Tracers make them, techniques rank them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from afterd.model.location import Location

NO_COLUMN = -1


class EntityKind(StrEnum):
    """What a column counts."""

    STATEMENT = "statement"
    BLOCK = "block"
    EDGE = "edge"
    PREDICATE = "predicate"  # the whole condition of a branch
    CONDITION = "condition"  # a short-circuit atom of a predicate, or one evaluation sequence


@dataclass(frozen=True, slots=True)
class Entity:
    """One column of the matrix.

    ``source`` and ``target`` are the columns of an edge's two blocks; ``block`` is the column of
    the block that a statement, predicate or condition belongs to (NO_COLUMN: not known). A function
    is a weakly connected set of blocks; a block without outgoing edges is an exit, and executions
    of a block that no incoming edge accounts for are entries into its function. ``name`` is what
    another tool called the entity where a location cannot say it; ``bugs`` are the faults that a
    benchmark's matrix marks there (no technique looks at them).
    """

    kind: EntityKind
    location: Location
    name: str = ""
    block: int = NO_COLUMN
    source: int = NO_COLUMN
    target: int = NO_COLUMN
    bugs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Invocation:
    """How a program was started: its arguments with its name, the file it read, the folder it was
    started in (empty: unknown).
    """

    argv: tuple[str, ...]
    stdin: str = ""
    folder: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """One row: a test's run; ``crashed_in`` is the column it died in, where that is known.

    ``invocations`` are the programs that it started, where those can be executed again.
    """

    name: str
    failed: bool
    detail: str = ""
    crashed_in: int = NO_COLUMN
    invocations: tuple[Invocation, ...] = ()
