"""What was found out for one ranking, so that no technique finds it out again.

A ranking technique as votes on lines.

A voter looks at a counted suite and gives each line it has an opinion of a score: the one shape in
which spectrum-based and formula-based techniques meet, and what a fusion of them starts from.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from time import process_time
from typing import Protocol, TypeVar, cast

import numpy as np

from afterd.errors import TestError
from afterd.localization.examination import Line, on_units
from afterd.localization.fusion import WEIGHTS
from afterd.localization.spectrum import Columns, EntityKind, Spectrum, Vector
from afterd.localization.techniques import Suspicion, Technique
from afterd.logic import Corrections
from afterd.workspace import Range, Suite, Workspace

_T = TypeVar("_T")


class NoVoteError(TestError):
    """A technique looked, and has no opinion; the message says why."""


class RuledOutError(NoVoteError):
    """A technique looked to the end: nothing that it could name explains the failures."""


class Memory:
    """Answers by question, also that there is none; and a solver whose encoding techniques share."""

    def __init__(self) -> None:
        self._found: dict[Hashable, object] = {}
        self._solver: Corrections | None = None

    def once(self, question: Hashable, answer: Callable[[], _T]) -> _T:
        """The answer, which is found out when it is first asked for. Raises NoVoteError, also again."""
        if question not in self._found:
            try:
                self._found[question] = answer()
            except NoVoteError as nothing:
                self._found[question] = nothing
        found = self._found[question]
        if isinstance(found, NoVoteError):
            raise found
        return cast("_T", found)

    def solver(self, seconds: float, at_last: float = 0.0) -> Corrections:
        """The ranking's solver, with so much CPU time for the questions that come (``Corrections.begin``)."""
        if self._solver is None:
            self._solver = Corrections()
        self._solver.begin(seconds, at_last)
        return self._solver

    def spent(self) -> float:
        """CPU seconds of this process and the solver's."""
        return process_time() + (self._solver.seconds if self._solver is not None else 0.0)

    def over(self) -> bool:
        """Whether the time for the solver's questions is up."""
        return self._solver is not None and self._solver.over

    def close(self) -> None:
        """End the solver's process."""
        if self._solver is not None:
            self._solver.close()


_EVALUATED = frozenset([EntityKind.PREDICATE, EntityKind.CONDITION])


ROUNDS = 8
"""Tests that are generated of one failed test."""


@dataclass(frozen=True, slots=True)
class VoteOptions:
    """What a user may say to voters: ``weights`` of the fusion, SAT-TAR's ``rounds`` at most, an
    ``invariant`` (a function of the program that must hold when it ends), ``one_formula`` for all
    failing inputs.
    """

    weights: Mapping[str, float] = field(default_factory=lambda: WEIGHTS)
    rounds: int = ROUNDS
    invariant: str = ""
    one_formula: bool = False


@dataclass(frozen=True, slots=True)
class Votes:
    """What a technique says of lines: higher is more suspicious. ``confidence`` where it has one; ``share``
    is what part of the failed tests' runs it is about, 0 to 1; ``ruled_out`` are lines that explain some of
    the failures alone, and not all: they have no vote in a fusion.

    Of a fusion: ``parts`` are the places of a line by technique, ``missing`` says of the techniques
    without a vote why they have none, ``shares`` of those whose vote is not about whole runs how much of them it is.
    """

    scores: Mapping[Line, float]
    confidence: Mapping[Line, float] = field(default_factory=dict)
    parts: Mapping[Line, Mapping[str, float]] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    share: float = 1.0
    ruled_out: frozenset[Line] = frozenset()
    shares: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Counted:
    """A counted suite, and all that a voter may look at beside its spectrum.

    ``bad`` is the version's revision; ``wanted`` the range whose changes are known, None where no
    range was given; ``memory`` is of one ranking.
    """

    workspace: Workspace
    suite: Suite
    tree: str
    spectrum: Spectrum
    bad: str = ""
    wanted: Range | None = None
    options: VoteOptions = field(default_factory=VoteOptions)
    memory: Memory = field(default_factory=Memory)


class Voter(Protocol):
    """A technique; ``lacks`` says why it cannot vote on a suite, as a phrase, or nothing."""

    def __call__(self, counted: Counted, /) -> Votes:
        """Vote on the lines of a suite. Raises NoVoteError."""
        ...

    def lacks(self, counted: Counted, /) -> str:
        """What it misses."""
        ...


@dataclass(frozen=True, slots=True)
class SpectrumVoter:
    """A spectrum-based technique: a line is as suspicious as the most suspicious thing on it."""

    technique: Technique

    def __call__(self, counted: Counted, /) -> Votes:
        """Vote by the spectrum."""
        return line_votes(counted.spectrum, self.technique(counted.spectrum))

    def lacks(self, counted: Counted, /) -> str:
        """What the technique misses in the spectrum."""
        return self.technique.lacks(counted.spectrum)


def line_votes(spectrum: Spectrum, suspicion: Suspicion) -> Votes:
    """Scores of entities as scores of lines; statements have their block's where they have none."""
    kinds = {spectrum.entities[column].kind for column in suspicion.columns}
    if kinds & _EVALUATED:
        return Votes(_highest(spectrum, suspicion.columns, suspicion.scores))
    units = spectrum.units
    scores = _highest(spectrum, units, on_units(spectrum, suspicion))
    if suspicion.confidence is None:
        return Votes(scores)
    return Votes(scores, _highest(spectrum, suspicion.columns, suspicion.confidence))


def _highest(spectrum: Spectrum, columns: Columns, scores: Vector) -> dict[Line, float]:
    """Per line the highest score; what nothing speaks for is left out."""
    found: dict[Line, float] = {}
    for column, score in zip(columns.tolist(), scores.tolist(), strict=True):
        place = spectrum.entities[column].location
        line = (place.file, place.line)
        if not np.isneginf(score) and score > found.get(line, -np.inf):
            found[line] = score
    return found
