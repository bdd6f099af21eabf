"""Whether an execution from the IR is the run that was counted: what it read may be gone since."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from afterd.localization.examination import Line
from afterd.localization.spectrum import Run, Spectrum
from afterd.symbolic import NotFollowedError, Shown


class CountedLines:
    """The lines that a test executed, and all that are counted."""

    def __init__(self, spectrum: Spectrum, test: Run) -> None:
        row = spectrum.executed[[spectrum.runs.index(test)], :]
        self._known = _lines(spectrum, spectrum.units.tolist())
        self._executed = _lines(spectrum, row.indices.tolist()) & self._known
        self._alone = len(test.invocations) == 1

    def check(self, shown: Shown) -> None:
        """Raises NotFollowedError where this is another run: it executed a line that the test did not, or
        (where the test started one program) not all that the test did.
        """
        executed = shown.lines & self._known
        _nothing(executed - self._executed, "it now executes {}, which the test did not")
        if self._alone:
            _nothing(self._executed - executed, "it does not execute {} now, as the test did")


def _nothing(lines: Iterable[Line], saying: str) -> None:
    for file, number in sorted(lines):
        said = saying.format(f"{file}:{number}")
        raise NotFollowedError(f"{said}: what it read may be gone, or another one")


def _lines(spectrum: Spectrum, columns: Sequence[int]) -> frozenset[Line]:
    places = (spectrum.entities[column].location for column in columns)
    return frozenset((place.file, place.line) for place in places if place.line)
