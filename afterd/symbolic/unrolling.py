"""A C program whose formula can be asked for: the concrete run, single trace, on demand, all paths."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from afterd.execution.toolchain import Toolchain
from afterd.limits import DEMAND
from afterd.logic import Branch, ProgramFormula
from afterd.model.term import Value, bitvec
from afterd.symbolic import library
from afterd.symbolic.collecting import Names
from afterd.symbolic.control import Wanted
from afterd.symbolic.frames import Bounds
from afterd.symbolic.loading import Image, listing
from afterd.symbolic.machine import NEVER, Machine
from afterd.symbolic.observing import Event, Expectation
from afterd.symbolic.operations import Known
from afterd.symbolic.refusal import NotFollowedError, TooLongError
from afterd.symbolic.rounds import Loop
from afterd.symbolic.world import Input, World

PLAIN = frozenset({"", "it ended"})
"""How a run ends that neither crashed nor broke an assertion."""
ENDLESS = "it may never end"
_INT = bitvec(32)


@dataclass(frozen=True, slots=True)
class Shown:
    """What one run showed: events, exit status, how it ended, the lines it executed."""

    events: tuple[Event, ...]
    status: int | None
    ending: str
    lines: frozenset[tuple[str, int]]
    instances: int
    moments: tuple[int, ...] = ()
    """Per event, how many instructions were executed until then."""
    rounds: Mapping[Loop, int] = field(default_factory=dict)
    """The most rounds of each loop in any activation."""

    def first_wrong(self, expectation: Expectation | None) -> int | None:
        """The first event that was not as expected; None where all were."""
        wanted = None if expectation is None else expectation.events
        pairs = enumerate(zip(self.events, wanted or (), strict=False))
        return next((at for at, (event, other) in pairs if event != other), None)

    def until(self, last: int) -> Shown:
        """The run to an event, and no further."""
        moments = self.moments[: last + 1]
        events = self.events[: last + 1]
        return replace(
            self, events=events, moments=moments, instances=moments[-1], status=None, ending=ENDLESS
        )

    def fails(self, expectation: Expectation) -> bool:
        """Whether it ended badly, or was not as expected."""
        if self.ending not in PLAIN:
            return True
        shown = expectation.events is not None and self.events != expectation.events
        return shown or expectation.status not in {None, self.status}

    @property
    def expectation(self) -> Expectation:
        """What another version should show."""
        return Expectation(self.events, self.status, self.instances)


@dataclass(slots=True)
class Program:
    """A program loaded for execution; ``entry`` is called with the input's arguments.

    ``main`` gets a count and an array; another function gets its integer arguments as numbers.
    ``invariant`` is a function without arguments that must not return 0 when the entry has returned.
    """

    image: Image
    entry: str = "main"
    bounds: Bounds = field(default_factory=Bounds)
    names: Names = field(default_factory=Names)
    sources: dict[int, tuple[str, int]] = field(default_factory=dict)
    invariant: str = ""
    begun: tuple[Input, Expectation | None, bool] | None = None
    beginnings: dict[int, Machine] = field(default_factory=dict)
    """Of the input that was asked about last: the execution at the beginning of each window."""

    def run(self, given: Input, expected: Callable[[], Expectation | None] | None = None) -> Shown:
        """Execute without terms. A run that is too long is followed until it shows what is not ``expected``,
        which is asked for then alone, where it does: it may never end. Raises NotFollowedError.
        """
        machine = self._machine(given, lambda _branch: False, None, NEVER)
        try:
            machine.run(self.entry, self._arguments(machine, given))
        except TooLongError:
            shown = _shown(machine)
            wrong = None if expected is None else shown.first_wrong(expected())
            if wrong is None:
                raise
            return shown.until(wrong)
        return _shown(machine)

    def formula(
        self,
        given: Input,
        expectation: Expectation | None,
        wanted: Wanted,
        instances: int = 0,
        bounds: Bounds | None = None,
        *,
        last: int | None = None,
        trace_only: bool = False,
    ) -> ProgramFormula:
        """The formula with the sides that are ``wanted``.

        Terms are kept for so many ``instances`` of the run, less what is before their window; no
        output after the event ``last`` is asked for.
        """
        limits = bounds or self.bounds
        about = min(instances, limits.symbolic)
        limits = replace(
            limits, records=limits.once or (about <= DEMAND.whole and instances <= DEMAND.short_run)
        )
        start = instances - about
        asked = (given, expectation, limits.doubts_premises)
        before = self.beginnings.get(start) if start and self.begun == asked else None
        if before is not None:
            machine = before.fork(wanted, limits, start, last, trace_only=trace_only)
            formula = machine.go_on()
        else:
            machine = self._machine(
                given, wanted, expectation, start, limits,
                last=last, trace_only=trace_only,
                alternatives=instances <= DEMAND.short_run,
            )  # fmt: skip
            if start:
                self.begun = asked
                machine.passing = self._kept_beginnings(instances, start)
            formula = machine.run(self.entry, self._arguments(machine, given))
        self.sources.update(machine.world.sources)
        if start:
            note = f"the first {start} instructions of the run are concrete"
            formula = replace(formula, notes=(*formula.notes, note))
        if last is not None:
            note = "nothing is asked after the first wrong output"
            formula = replace(formula, notes=(*formula.notes, note))
        return formula

    def _kept_beginnings(self, instances: int, start: int) -> dict[int, Callable[[Machine], None]]:
        """What is before a window is executed once, whatever window and sides are asked for: a copy of the
        execution is kept at the beginning of this window and of each wider one. Those of another input are
        forgotten.
        """
        self.beginnings.clear()

        def kept(machine: Machine) -> None:
            first = machine.instances + 1  # with this instruction terms begin
            self.beginnings[first] = machine.fork(
                lambda _branch: False, machine.bounds, first, None, trace_only=False
            )

        windows = DEMAND.windows_of(self.bounds.symbolic)
        return {
            instances - window - 1: kept for window in windows if 0 < instances - window <= start
        }

    def _machine(
        self,
        given: Input,
        wanted: Wanted,
        expectation: Expectation | None,
        start: int,
        bounds: Bounds | None = None,
        *,
        last: int | None = None,
        trace_only: bool = False,
        alternatives: bool = True,
    ) -> Machine:
        return Machine(
            self.image, self.names, wanted, bounds or self.bounds, expectation,
            library=library.call, world=World(given), symbolic_from=start,
            last=last, trace_only=trace_only, alternatives=alternatives, invariant=self.invariant,
        )  # fmt: skip

    def _arguments(self, machine: Machine, given: Input) -> list[Known]:
        if self.entry == "main":
            return _command_line(machine, given)
        body = self.image.body(self.entry)
        if body is None or len(body.parameters) != len(given.arguments):
            raise NotFollowedError(f"{self.entry} does not take {len(given.arguments)} numbers")
        return [_number(machine, at, text) for at, text in enumerate(given.arguments)]


def _shown(machine: Machine) -> Shown:
    return Shown(
        tuple(machine.observer.events),
        machine.observer.status,
        machine.ending,
        frozenset(statement.line for statement in machine.collector.executed),
        machine.instances,
        tuple(machine.observer.moments),
        machine.rounds,
    )


def _number(machine: Machine, at: int, text: str) -> Known:
    """An integer parameter of 32 bits as an input."""
    value: Value = int(text) & 0xFFFFFFFF
    if not machine.symbolic:
        return value, None
    read = machine.collector.bind(("parameter", at), _INT, value, f"parameter {at}")
    machine.world.sources[read.step] = ("parameter", at)
    return value, read


def _command_line(machine: Machine, given: Input) -> list[Known]:
    texts = ["program", *given.arguments]
    pointers = []
    for at, text in enumerate(texts):
        data = text.encode("utf-8", "surrogateescape") + b"\0"
        pointers.append(machine.memory.allocate(len(data), f"argument {at}"))
        machine.memory.write(pointers[-1], data)
    table = machine.memory.allocate(8 * (len(pointers) + 1), "arguments")
    for at, pointer in enumerate(pointers):
        machine.memory.write(table + 8 * at, pointer.to_bytes(8, "little"))
    machine.arguments = range(table, table + 8 * len(pointers))
    return [(len(texts), None), (table, None)]


def load(
    sources: Sequence[Path],
    toolchain: Toolchain,
    root: Path,
    entry: str = "main",
    flags: Sequence[str] = (),
) -> Program:
    """Compile and load a program. Raises ToolchainError."""
    return Program(Image([listing(source, toolchain, flags) for source in sources], root), entry)


def exactly_these_sides(branches: Collection[Branch]) -> Wanted:
    """Exactly these sides."""
    return lambda branch: branch in branches
