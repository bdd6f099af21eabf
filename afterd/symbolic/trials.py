"""Other inputs of a failing run: made from a solver's values, executed, and judged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from afterd.logic import signed_value
from afterd.model.term import StepId
from afterd.symbolic.failing import FailingRun
from afterd.symbolic.observing import Event
from afterd.symbolic.refusal import NotFollowedError
from afterd.symbolic.unrolling import PLAIN, Program, Shown
from afterd.symbolic.world import Input

Line = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Trial:
    """One input, what it executed, and the condition that it violated (empty: it passed)."""

    given: Input
    lines: frozenset[Line]
    violated: str = ""

    @property
    def failed(self) -> bool:
        """Whether it violated something."""
        return bool(self.violated)


@dataclass(frozen=True, slots=True)
class Trials:
    """Runs inputs of a program; ``green`` is the oracle, or None: then the program's assertions are."""

    failing: FailingRun
    green: Program | None = None

    def of(self, wanted: Iterable[Mapping[StepId, int]]) -> Iterator[Trial]:
        """Runs on the failing input with other numbers in it, but what cannot be followed."""
        for values in wanted:
            trial = self.on(with_values(self.failing, values))
            if trial is not None:
                yield trial

    def subject(self, trial: Trial) -> FailingRun:
        """A trial's input, to ask for its trace."""
        return FailingRun(self.failing.program, trial.given)

    def on(self, given: Input) -> Trial | None:
        """The run on an input."""
        try:
            shown = self.failing.program.run(given)
            expected = self.green.run(given) if self.green is not None else None
        except NotFollowedError:
            return None
        return Trial(given, shown.lines, violated_by(shown, expected))


def violated_by(shown: Shown, expected: Shown | None) -> str:
    """The name of the condition that a run violated: its own ending, or how it departs from green."""
    if shown.ending not in PLAIN:
        return "" if expected is not None and expected.ending == shown.ending else shown.ending
    if expected is None:
        return ""
    for at, event in enumerate(shown.events):
        if at >= len(expected.events) or expected.events[at] != event:
            return _event_name(event, expected.events[at] if at < len(expected.events) else None)
    if len(shown.events) < len(expected.events):
        return f"no output {expected.events[len(shown.events)].what!r}"
    return "" if shown.status == expected.status else "exit status"


def _event_name(event: Event, expected: Event | None) -> str:
    if expected is None or expected.what != event.what:
        return f"output {event.what!r}, which should not be there"
    return f"a value of the output {event.what!r}"


def with_values(failing: FailingRun, values: Mapping[StepId, int]) -> Input:
    """The failing input with numbers replaced where they were read from."""
    arguments = list(failing.given.arguments)
    data = failing.given.stdin
    sources = failing.program.sources
    for step in sorted(values, key=lambda step: sources.get(step, ("", 0))[1], reverse=True):
        kind, at = sources.get(step, ("", 0))
        number = str(signed_value(values[step], 32))
        if kind == "argument" and 0 < at <= len(arguments):
            arguments[at - 1] = number
        elif kind == "parameter":
            arguments[at] = number
        elif kind == "stdin":
            word = data[at:].split()[:1]
            start = data.index(word[0], at) if word else at
            end = start + (len(word[0]) if word else 0)
            data = data[:start] + number.encode() + data[end:]
    return replace(failing.given, arguments=tuple(arguments), stdin=data)
