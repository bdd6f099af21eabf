"""One failing input of a program, with the formulas that localisation asks for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from afterd.limits import DEMAND
from afterd.logic import Branch, ProgramFormula, TooLargeError
from afterd.symbolic.observing import Expectation
from afterd.symbolic.refusal import NotFollowedError
from afterd.symbolic.rounds import Loop
from afterd.symbolic.unrolling import ENDLESS, Program, Shown, exactly_these_sides
from afterd.symbolic.world import Input

_DOUBTED = (
    "no statement could repair it, so what it makes of its input may be wrong, too, "
    "and what variables hold that nothing has written"
)


@dataclass(slots=True)
class FailingRun:
    """An input on which a program breaks an assertion, or shows what ``expectation`` does not."""

    program: Program
    given: Input
    expectation: Expectation | None = None
    shown: Shown | None = field(default=None)
    window: int = 0  # instructions that are terms; 0: as the program's bounds say
    whole_sides: bool = True  # a forced side has all sides within it
    over: Callable[[], bool] = lambda: False  # whether the time for formulas is up
    doubts_premises: bool = (
        False  # of the run: conversions of the input, values that nothing has written
    )

    @property
    def length(self) -> int:
        """How many instructions the run has. Raises NotFollowedError."""
        if self.shown is None:
            self.shown = self.program.run(self.given, lambda: self.expectation)
        return self.shown.instances

    @property
    def extent_repaired(self) -> int:
        """How many instructions it has; of one that ended before it showed as much as is expected, the run that showed
        that, if it has more.
        """
        length, expected = self.length, self.expectation
        told = expected.events if expected else None
        if expected is None or told is None or self.shown is None:
            return length
        ended = len(self.shown.events) < len(told)
        return max(length, expected.instances) if ended else length

    def on_demand(self, explored: Collection[Branch]) -> ProgramFormula:
        """The failing path, and the sides that were asked for. Raises TooLargeError."""
        return self._formula(exactly_these_sides(explored), all_paths=False)

    def all_paths(self, most: int = 0, /) -> ProgramFormula:
        """Every path up to the bounds, or of what is looked back over with so many instructions at most; where these
        are too many, with no more rounds of a loop than the run did there, and once more. Raises TooLargeError
        where that cuts it short.
        """
        try:
            return self._formula(lambda _branch: True, all_paths=True, most=most)
        except TooLargeError:
            if self.over() or not self._rounds:
                raise
            return self._formula(lambda _branch: True, all_paths=True, most=most, rounds={})

    def paths_leaving_once(self) -> ProgramFormula:
        """The paths that leave the run's way, and not again before they are back, of what is looked back over.
        Raises TooLargeError.
        """
        return self._formula(lambda _branch: True, all_paths=False, once=True)

    @property
    def _rounds(self) -> Mapping[Loop, int]:
        return {} if self.shown is None else self.shown.rounds

    def trace(self) -> ProgramFormula:
        """The failing path alone: behind a branch that goes the other way all is free."""
        return self._formula(lambda _branch: False, all_paths=False, trace_only=True)

    def windows(self) -> Sequence[int]:
        """Instructions that may be terms, those before the first wrong output or the end of the run.
        Raises TooLargeError.
        """
        try:
            return DEMAND.windows_of(min(self.length, self.program.bounds.symbolic))
        except NotFollowedError as refused:
            raise _not_followed(refused) from refused

    def extent(self) -> int:
        """Instructions until the first wrong output, or of the whole run. Raises NotFollowedError."""
        count = self.length
        assert self.shown is not None
        last = self.shown.first_wrong(self.expectation)
        return count if last is None else self.shown.moments[last]

    def look_back(self, window: int) -> None:
        """Terms for so many instructions from now on, and forced sides whole."""
        self.window, self.whole_sides = window, True

    def force_less(self) -> bool:
        """From now on only the sides that are asked for are forced, none within them."""
        before, self.whole_sides = self.whole_sides, False
        return before and self.length <= DEMAND.short_run

    def doubt_premises(self) -> bool:
        """From now on what makes numbers of the input may be wrong, too (a base, a format), and what a
        variable holds that no statement has written: the one that should have is missing.
        """
        before, self.doubts_premises = self.doubts_premises, True
        return not before

    def _formula(
        self,
        wanted: object,
        *,
        all_paths: bool,
        trace_only: bool = False,
        once: bool = False,
        most: int = 0,
        rounds: Mapping[Loop, int] | None = None,
    ) -> ProgramFormula:
        assert callable(wanted)
        try:
            count = self.length
            if all_paths and not most and count > self.program.bounds.symbolic:
                raise TooLargeError(f"the run alone has {count} instructions")
            bounds = replace(
                self.program.bounds, whole_sides=self.whole_sides, over=self.over,
                doubts_premises=self.doubts_premises, once=once, all_or_none=all_paths or once,
                rounds=self._rounds if rounds is None else rounds,
            )  # fmt: skip
            if self.window and (most or not all_paths):
                bounds = replace(bounds, symbolic=self.window)
            if most:
                bounds = replace(bounds, total=most)
            assert self.shown is not None
            whole = count <= bounds.symbolic and self.shown.ending != ENDLESS
            last = None if whole else self.shown.first_wrong(self.expectation)
            until = count if last is None else self.shown.moments[last]
            formula = self.program.formula(
                self.given, self.expectation, wanted, until, bounds,
                last=last, trace_only=trace_only,
            )  # fmt: skip
        except NotFollowedError as refused:
            raise _not_followed(refused) from refused
        if self.doubts_premises:
            formula = replace(formula, notes=(*formula.notes, _DOUBTED))
        return formula


def _not_followed(refused: NotFollowedError) -> TooLargeError:
    return TooLargeError(f"the program cannot be followed: {refused}")
