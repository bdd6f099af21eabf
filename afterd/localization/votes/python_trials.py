"""A failed Python test written with other numbers, and run in both versions.

The good version is the oracle: where what the assertions look at is the same in both, the test
passes. All tests that are made of one trace are a module of their own beside the failed one's, which
is run once in each version.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from afterd.compare import CautiousExecution, Pair
from afterd.compare.python import PythonExecution
from afterd.errors import TraceError
from afterd.localization.examination import Line
from afterd.localization.formula.recorded import STEPS, RecordedRun, input_step
from afterd.logic import Branch, ProgramFormula, TooLargeError, signed_value
from afterd.model.term import StepId
from afterd.spectra.python import EntityKind, counted_spectra
from afterd.symbolic import NAME, SEEN, LiftedTest, lines_of_numbers, read_seen
from afterd.trace.python.failure import RAISED, Seen
from afterd.trace.python.recorder import recorded_run
from afterd.trace.python.stage import PythonTraceRequest

MOST = 40
"""Tests that are made of one trace, at most."""

_WORD = 64
_RUN_OF = re.compile(rf"{NAME}(\d+)$")


@dataclass(frozen=True, slots=True)
class PythonTrial:
    """One way to write the test: its numbers, the program's lines that the bad version executed, what
    the good version showed, and the assertion that the bad one departed from (empty: it passed).
    """

    numbers: tuple[int, ...]
    lines: frozenset[Line]
    shown: Seen
    violated: str = ""


@dataclass(frozen=True, slots=True)
class PythonTrials:
    """Runs a test with other numbers, in the trees of both versions. ``place`` is the failed test's
    file in them, ``request`` how a module is run that stands in its place, ``program`` the files that
    are no tests.
    """

    test: LiftedTest
    bad: Path
    good: Path
    place: Path
    request: Callable[[Path], PythonTraceRequest]
    program: Collection[str]

    def of(self, wanted: Iterable[Mapping[StepId, int]]) -> Iterator[PythonTrial]:
        """A trial each, all run together."""
        every = (self._numbers(values) for values in islice(wanted, MOST))
        yield from self.on(list(dict.fromkeys(every)))

    def subject(self, trial: PythonTrial) -> GeneratedSubject:
        """A trial, recorded when it is asked for its trace."""
        return GeneratedSubject(self, trial)

    def on(self, every: Sequence[tuple[int, ...]]) -> Iterator[PythonTrial]:
        """The runs with these numbers; nothing of what could not be run. Raises TraceError."""
        if not every:
            return
        text = self.test.observing(every)
        module, request = self._module(text)
        lines, bad = self._run(request, self.bad, module, text)
        _, good = self._run(request, self.good, module, text)
        for at, numbers in enumerate(every):
            if at in lines and at in good:
                yield PythonTrial(
                    numbers, lines[at], good[at], self._violated(bad.get(at, Seen()), good[at])
                )

    def recorded(self, trial: PythonTrial) -> RecordedRun:
        """The failing trial with terms. Raises TooLargeError where it does not fail when recorded."""
        text = self.test.as_it_was(trial.numbers, trial.shown)
        module, request = self._module(text)
        with _written_module(self.bad / module, text):
            try:
                alone = Pair(recorded_run(request, self.bad, "alone"))
                execution = CautiousExecution(PythonExecution(alone))
            except TraceError as error:
                raise TooLargeError(str(error).rstrip(".")) from error
            failures = execution.failures()
        if not failures:
            raise TooLargeError("no assertion of a generated test was recognised")
        numbered = {(str(module), line): number for line, number in lines_of_numbers(text).items()}
        return RecordedRun(execution, failures[0], numbered=numbered)

    def _module(self, text: str) -> tuple[Path, PythonTraceRequest]:
        """Where a module is written: every text elsewhere, because Python keeps compiled modules by
        name, size and second.
        """
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        module = self.place.with_name(f"{NAME}{digest}.py")
        return module, self.request(module)

    def _numbers(self, values: Mapping[StepId, int]) -> tuple[int, ...]:
        """The test's numbers, but for those that a formula gave."""
        return tuple(
            signed_value(values[input_step(at)], _WORD) if input_step(at) in values else number
            for at, number in enumerate(self.test.numbers)
        )

    def _run(
        self, request: PythonTraceRequest, tree: Path, place: Path, text: str
    ) -> tuple[Mapping[int, frozenset[Line]], Mapping[int, Seen]]:
        """What each test of a module executed, and what its assertions looked at."""
        module = tree / place
        with _written_module(module, text):
            found = counted_spectra(request, tree)
            noted = module.with_suffix(SEEN)
            seen = read_seen(noted.read_text()) if noted.exists() else {}
        executed: dict[int, frozenset[Line]] = {}
        for run, counts in zip(found.tests, found.counts, strict=True):
            if number := _RUN_OF.search(run.test):
                entities = (found.known[at] for at, count in counts.items() if count)
                executed[int(number[1])] = frozenset(
                    (e.file, e.line)
                    for e in entities
                    if e.kind is EntityKind.STATEMENT and e.file in self.program
                )
        return executed, {at: seen.get(at, Seen()) for at in executed}

    def _violated(self, bad: Seen, good: Seen) -> str:
        """The assertion at which the versions part."""
        at = bad.departs(good)
        if at is None:
            return ""
        return (
            f"{bad.raised or 'no exception'} is raised"
            if at == RAISED
            else self.test.assertions[at]
        )


@contextmanager
def _written_module(module: Path, text: str) -> Iterator[None]:
    """A module that is there for a while, and what it writes beside it."""
    module.write_text(text)
    try:
        yield
    finally:
        module.unlink(missing_ok=True)
        module.with_suffix(SEEN).unlink(missing_ok=True)


@dataclass(slots=True)
class GeneratedSubject:
    """A trial as a subject: only a failing one has a formula."""

    trials: PythonTrials
    trial: PythonTrial
    run: RecordedRun | None = None

    def trace(self) -> ProgramFormula:
        """See ``formula.subject.Subject``."""
        if not self.trial.violated:
            raise TooLargeError("a test that passes asserts nothing that failed")
        if self.run is None:
            self.run = self.trials.recorded(self.trial)
        return self.run.trace()

    def on_demand(self, explored: Collection[Branch], /) -> ProgramFormula:
        """See ``formula.subject.Subject``."""
        del explored
        return self.trace()

    def all_paths(self, most: int = 0, /) -> ProgramFormula:
        """See ``formula.subject.Subject``."""
        del most
        raise TooLargeError("only the path that was run is recorded")

    def paths_leaving_once(self) -> ProgramFormula:
        """See ``formula.subject.Subject``."""
        return self.all_paths()

    def force_less(self) -> bool:
        """No side is forced in a recording."""
        return False

    def doubt_premises(self) -> bool:
        """What Python's library makes of the input is no statement of the program's."""
        return False

    def windows(self) -> Sequence[int]:
        """A trial is asked for whole."""
        return (STEPS,)

    def extent(self) -> int:
        """A trial is asked for whole."""
        return STEPS

    def look_back(self, window: int, /) -> None:
        """See ``formula.subject.Subject``."""
        if self.run is not None:
            self.run.look_back(window)
