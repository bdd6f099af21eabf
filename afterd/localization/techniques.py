"""Every spectrum-based technique by the name that ``--technique`` takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

from afterd.localization.coefficients.predicates import cbi, sober_score
from afterd.localization.coefficients.statements import (
    barinel,
    dstar,
    jaccard,
    ochiai,
    op2,
    sbi,
    tarantula,
    tarantula_confidence,
)
from afterd.localization.propagation.blockrank import blockrank, blockrank_joint
from afterd.localization.propagation.cp import cp
from afterd.localization.propagation.flow_graph import FlowGraph, flow_graph
from afterd.localization.spectrum import (
    Columns,
    Counts,
    EntityKind,
    Evaluations,
    Spectrum,
    Vector,
)


@dataclass(frozen=True, slots=True, eq=False)
class Suspicion:
    """What a technique says: ``scores[i]`` for the entity in column ``columns[i]``, never NaN.

    ``confidence`` says how much evidence each score rests on, where the technique defines that.
    """

    columns: Columns
    scores: Vector
    confidence: Vector | None = None


class Coefficient(Protocol):
    """A formula of the four counts, one value per entity."""

    def __call__(self, n: Counts, /) -> Vector:
        """The suspiciousness of each entity."""
        ...


class Technique(Protocol):
    """A pure function from a spectrum to scores; ``lacks`` says why a spectrum will not do."""

    def __call__(self, spectrum: Spectrum, /) -> Suspicion:
        """Score the entities this technique looks at."""
        ...

    def lacks(self, spectrum: Spectrum, /) -> str:
        """What the technique misses in this spectrum, as a phrase, or nothing."""
        ...


@dataclass(frozen=True, slots=True)
class StatementLevel:
    """A coefficient of the counts of every statement (every block where there are only those)."""

    coefficient: Coefficient
    confidence: Coefficient | None = None

    def __call__(self, spectrum: Spectrum, /) -> Suspicion:
        """Score the units of the spectrum."""
        columns = spectrum.units
        n = spectrum.counts(columns)
        confidence = None if self.confidence is None else self.confidence(n)
        return Suspicion(columns, self.coefficient(n), confidence)

    def lacks(self, spectrum: Spectrum, /) -> str:
        """Statements or blocks."""
        return "" if spectrum.units.size else "counts of statements or blocks"


@dataclass(frozen=True, slots=True)
class EvaluationLevel:
    """A function of how often every predicate (or every condition) came out true and false."""

    kind: EntityKind
    coefficient: Callable[[Evaluations], Vector]

    def __call__(self, spectrum: Spectrum, /) -> Suspicion:
        """Score the predicates or conditions of the spectrum."""
        columns = spectrum.columns(self.kind)
        return Suspicion(columns, self.coefficient(spectrum.evaluations(columns)))

    def lacks(self, spectrum: Spectrum, /) -> str:
        """Predicates or conditions."""
        return "" if spectrum.columns(self.kind).size else f"counts of {self.kind.value} outcomes"


@dataclass(frozen=True, slots=True)
class Propagation:
    """A function of the control-flow graph and its edge profiles, one value per block."""

    relevance: Callable[[FlowGraph], Vector]

    def __call__(self, spectrum: Spectrum, /) -> Suspicion:
        """Score the blocks of the spectrum."""
        graph = flow_graph(spectrum)
        return Suspicion(graph.blocks, self.relevance(graph))

    def lacks(self, spectrum: Spectrum, /) -> str:
        """Blocks; edges may be absent where every function is a single block."""
        return "" if spectrum.columns(EntityKind.BLOCK).size else "block and edge counts"


TECHNIQUES: Mapping[str, Technique] = MappingProxyType(
    {
        "tarantula": StatementLevel(tarantula, tarantula_confidence),
        "jaccard": StatementLevel(jaccard),
        "ochiai": StatementLevel(ochiai),
        "sbi": StatementLevel(sbi),
        "dstar": StatementLevel(dstar),
        "op2": StatementLevel(op2),
        "barinel": StatementLevel(barinel),
        "cbi": EvaluationLevel(EntityKind.PREDICATE, cbi),
        "sober": EvaluationLevel(EntityKind.PREDICATE, sober_score),
        # DES applies the same formulas to the parts of a predicate that short-circuit evaluation
        # tells apart (Zhang, Jiang, Chan and Tse, Debugging through evaluation sequences, COMPSAC
        # 2008); a predicate is as suspicious as its most suspicious part.
        "des-cbi": EvaluationLevel(EntityKind.CONDITION, cbi),
        "des-sober": EvaluationLevel(EntityKind.CONDITION, sober_score),
        "cp": Propagation(cp),
        "blockrank": Propagation(blockrank),
        "blockrank-joint": Propagation(blockrank_joint),
    }
)
