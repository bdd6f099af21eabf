"""What a program shows, and what it should have shown: the obligations of a run.

Where the green version is the oracle, what it printed is what has to be printed; an assertion of
the program has to hold. A run goes on after a wrong value (the next one says more of where it came
from), not after something that should not have been shown at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from afterd.model.term import BOOL, Apply, Const, Op, Term, Value
from afterd.symbolic.branches import Position
from afterd.symbolic.collecting import TRUE, Collector, conjunction_of, implication, negation_of
from afterd.symbolic.memory import Memory
from afterd.symbolic.operations import Known
from afterd.symbolic.refusal import SideEndedError
from afterd.symbolic.strings import Displayed, Rounded, Text, shows_number, string_shows

NO_MORE = "no more is asked"
"""How a side ends after the last output that it is asked for."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something shown: what kind (a format), and the values in it."""

    what: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Expectation:
    """All that should be shown, in order, and the exit status; None for what does not matter. ``instances`` are the
    instructions of the run that showed it.
    """

    events: tuple[Event, ...] | None
    status: int | None = None
    instances: int = 0


class Observer:
    """Compares an execution with what is expected of it."""

    def __init__(
        self,
        memory: Memory,
        collector: Collector,
        expectation: Expectation | None,
        last: int | None = None,
    ) -> None:
        """``last``: the event after which no more is asked (None: to the end)."""
        self._last = last
        self._memory = memory
        self._collector = collector
        self._expected = expectation
        self.events: list[Event] = []
        self.moments: list[int] = []
        self.status: int | None = None

    def copy(self, memory: Memory, collector: Collector, last: int | None) -> Observer:
        """One that has seen the same, and asks for no more after another event."""
        other = Observer(memory, collector, self._expected, last)
        other.events, other.moments = list(self.events), list(self.moments)
        other.status = self.status
        return other

    def asserted(self, name: str, condition: Term, *, held: bool, real: bool) -> None:
        """An assertion of the program was evaluated."""
        self._collector.require(condition, name=name, violated=real and not held)

    def shown(
        self,
        what: str,
        shown: Sequence[Displayed],
        positions: Sequence[Position],
        moment: int,
        *,
        real: bool,
    ) -> tuple[Position, ...]:
        """Something is shown; the positions after it. Raises SideEndedError where it should not be.

        ``moment`` is how many instructions were executed until then.
        """
        if real:
            self.events.append(Event(what, tuple(_value(value) for value in shown)))
            self.moments.append(moment)
        if self._expected is not None and self._expected.events is not None:
            events = self._expected.events
            demands = [
                (given, self._matches(what, shown, events[at] if at < len(events) else None))
                for given, at in positions
            ]
            self._demand(f"output {what!r}", demands, real=real)
        if self._last is not None and all(at >= self._last for _, at in positions):
            raise SideEndedError(NO_MORE)
        return tuple((given, at + 1) for given, at in positions)

    def exited(self, positions: Sequence[Position], status: Known, *, real: bool) -> None:
        """The program ends."""
        value = status[0]
        if real:
            self.status = int(value) & 0xFF if isinstance(value, int) else None
        if self._expected is None:
            return
        if self._expected.events is not None:
            count = len(self._expected.events)
            demands = [
                (given, (None, True) if at == count else (None, False)) for given, at in positions
            ]
            self._demand("the end of the output", demands, real=real)
        if self._expected.status is not None and isinstance(value, int):
            wanted = (status, self._expected.status)
            self._demand("exit status", [(None, _equality_term(*wanted))], real=real)

    def _demand(
        self,
        name: str,
        demands: Sequence[tuple[Term | None, tuple[Term | None, bool]]],
        *,
        real: bool,
    ) -> None:
        """Under each condition its match: (what must hold, whether it does in this execution)."""
        term: Term | None = None
        for given, (match, held) in demands:
            if match is None and held:
                continue
            term = conjunction_of(
                term, implication(given, negation_of(TRUE) if match is None else match)
            )
        held = demands[0][1][1]
        if term is not None:
            self._collector.require(term, name=name, violated=real and not held)
        if all(match is None and not held for _, (match, held) in demands):
            raise SideEndedError("it printed otherwise")

    def _matches(
        self, what: str, shown: Sequence[Displayed], expected: Event | None
    ) -> tuple[Term | None, bool]:
        """What must hold for the event to be as expected (None: nothing can or need change)."""
        if expected is None or expected.what != what or len(expected.values) != len(shown):
            return None, False
        term: Term | None = None
        all_held = True
        for known, wanted in zip(shown, expected.values, strict=True):
            match, held = self._equal(known, wanted)
            if match is None and not held:
                return None, False
            all_held = all_held and held
            term = term if match is None else conjunction_of(term, match)
        return term, all_held

    def _equal(self, known: Displayed, wanted: Value) -> tuple[Term | None, bool]:
        if isinstance(known, Rounded):
            return shows_number(known, wanted)
        if not isinstance(known, Text):
            return _equality_term(known, wanted)
        return (
            string_shows(self._memory, known, wanted)
            if isinstance(wanted, bytes)
            else (None, False)
        )


def _value(shown: Displayed) -> Value:
    return shown.value if isinstance(shown, Text | Rounded) else shown[0]


def _equality_term(known: Known, wanted: Value) -> tuple[Term | None, bool]:
    value, term = known
    held = repr(value) == repr(wanted)
    if term is None or type(value) is not type(wanted):
        return None, held
    if not isinstance(wanted, int | float):
        return None, held
    return Apply(Op.EQ, (term, Const(wanted, term.sort)), BOOL), held
