"""Executes a program on one input and collects its formula: one run, with its other sides."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from copy import copy

from afterd.limits import DEMAND
from afterd.logic import ProgramFormula, Statement
from afterd.model.term import BOOL, Apply, Const, Op, Read, Sort, Term, Value, bitvec
from afterd.symbolic import branches
from afterd.symbolic.branches import Position
from afterd.symbolic.code import CONVERTING, DOUBTED, READING, Body, Code, Operand, plain_name
from afterd.symbolic.collecting import Collector, Names
from afterd.symbolic.control import RETURN, Control, Wanted
from afterd.symbolic.frames import Bounds, Finished, Frame, frame_limit
from afterd.symbolic.loading import Image
from afterd.symbolic.memory import Cell
from afterd.symbolic.observing import Expectation, Observer
from afterd.symbolic.operations import Known, compute, overflow_free
from afterd.symbolic.origins import Origins
from afterd.symbolic.pointers import Pointers
from afterd.symbolic.refusal import NotFollowedError, SideEndedError, TooLongError
from afterd.symbolic.world import World

_CALLED_BACK = "%what the library called returned"
NEVER = 1 << 62
"""More instructions than any run has."""

Library = Callable[["Machine", "Frame", Code, str, list[Known]], Known | None]


class Machine(Control):
    """One execution. ``expectation`` says what it should have shown, where that is known."""

    def __init__(  # noqa: PLR0913 - an execution is made of these
        self,
        image: Image,
        names: Names,
        wanted: Wanted,
        bounds: Bounds,
        expectation: Expectation | None = None,
        *,
        library: Library,
        world: World,
        symbolic_from: int = 0,
        last: int | None = None,
        trace_only: bool = False,
        alternatives: bool = True,
        invariant: str = "",
    ) -> None:
        super().__init__(
            wanted,
            bounds,
            trace_only=trace_only,
            symbolic_from=symbolic_from,
            alternatives=alternatives,
        )
        self.image = image
        self.memory = image.memory.copy()
        self.collector = Collector(names)
        self.pointers = Pointers(
            self.memory, self.collector,
            image.declared.get if bounds.doubts_premises else _hard_statement, lambda: self.symbolic,
            lambda: self._forced, alternatives=alternatives,
        )  # fmt: skip
        self.observer = Observer(self.memory, self.collector, expectation, last)
        self.instances = 0
        self.rounds = {}
        self.frames: list[Frame] = []
        self.positions: tuple[Position, ...] = ((None, 0),)
        self.ending = ""
        self.library = library
        self.world = world
        self._invariant = invariant
        self.passing: dict[int, Callable[[Machine], None]] = {}
        """What is told of the execution when the run comes to so many instructions."""
        self._in_library = 0
        self._call_backs: dict[int, int] = {}
        kept = 0 < symbolic_from < NEVER
        self.origins = Origins(self.collector, self.memory) if kept else None
        self.arguments = range(0)  # where the program's arguments are listed

    def run(self, entry: str, arguments: list[Known]) -> ProgramFormula:
        """Execute from a function; the formula of what was executed."""
        body = self.image.body(entry)
        if body is None:
            raise NotFollowedError(f"the program defines no function {entry}")
        self._enter(body, 0, arguments, "")
        return self.go_on()

    def go_on(self) -> ProgramFormula:
        """Execute to the end; the formula of what was executed."""
        ended: SideEndedError | NotFollowedError | None = None
        while True:
            try:
                if ended is not None:
                    over, ended = ended, None
                    self._side_over(over)
                while True:
                    self._step()
            except SideEndedError as reason:
                ended = reason
            except NotFollowedError as reason:
                if self.real:
                    raise
                ended = reason
            except Finished:
                return self.collector.formula(self.instances)

    def fork(
        self,
        wanted: Wanted,
        bounds: Bounds,
        symbolic_from: int,
        last: int | None,
        *,
        trace_only: bool,
    ) -> Machine:
        """This execution, before terms are kept, to be gone on with apart: what was executed until now is
        the same whatever sides are wanted, and wherever terms begin.
        """
        other = copy(self)
        other.ask(wanted, bounds, symbolic_from, trace_only=trace_only)
        other.stand_alone(last)
        return other

    def stand_alone(self, last: int | None) -> None:
        """Have a state of its own, as it is; no more is asked after the event ``last``."""
        self.passing = {}
        self.memory, self.collector = self.memory.copy(), self.collector.copy()
        self.pointers = self.pointers.copy(
            self.memory, self.collector, lambda: self.symbolic, lambda: self._forced
        )
        self.observer = self.observer.copy(self.memory, self.collector, last)
        self.frames = [frame.copy() for frame in self.frames]
        self.world = self.world.copy()
        if self.origins is not None:
            self.origins = self.origins.copy(self.collector, self.memory)
        self._call_backs = dict(self._call_backs)

    def _side_over(self, over: SideEndedError | NotFollowedError) -> None:
        """Go on with another side; an access that crashed the run is what must not be."""
        if isinstance(over, SideEndedError) and self.real and over.address is not None:
            self.ending = str(over)
            elsewhere = Apply(Op.NE, (over.address, Const(over.at, bitvec(64))), BOOL)
            self.collector.require(elsewhere, name=str(over), violated=True)
        self.ended(str(over))

    def _step(self) -> None:
        """Execute one instruction."""
        frame = self.frames[-1]
        if self.instances in self.passing and not self._in_library:
            self.passing.pop(self.instances)(self)
        if self.instances == self._symbolic_from:
            self._keep_terms()
        code = frame.body.blocks[frame.block].codes[frame.at]
        frame.at += 1
        self.instances += 1
        self._check_budget()
        if code.statement is not None and self.real:
            self.collector.executed[code.statement] = None
        action = _ACTIONS.get(code.opcode)
        if action is not None:
            action(self, frame, code)
            return
        given = [self.operand(frame, operand) for operand in code.operands]
        if frame.carried:
            only = len(code.operands) == 1 and code.operands[0].register in frame.carried
            _carry(frame, code.result, carried=only)
        if not self.symbolic:
            frame.registers[code.result] = self._made_of(
                compute(code, _values(given)), code.sort, given
            )
            return
        result = frame.registers[code.result] = compute(code, given)
        if result[1] is not None:
            fits = overflow_free(code, given, result)
            if fits is not None:
                self.collector.keep_sane(fits)

    def _check_budget(self) -> None:
        if self.instances % DEMAND.looks == 0:
            self.bounds.look_at_time()
        if not self._forced:
            if self.instances > self.bounds.instances:
                raise TooLongError(f"the run has more than {self.bounds.instances} instructions")
            return
        limit = frame_limit(self.frames) or self._hypothetical_until
        if self.own_instances > limit:
            raise SideEndedError("more instructions than a forced side may take")

    def operand(self, frame: Frame, operand: Operand) -> Known:
        """The value of an operand and its term."""
        if operand.register:
            return frame.registers[operand.register]
        return operand.value, None

    def define(self, frame: Frame, code: Code, known: Known) -> Known:
        """What a statement defines is a name of its own: free where the statement is dropped."""
        if code.statement is None:
            return self._made_of(known, code.sort, [known], frame) if not self.symbolic else known
        key = (frame.key, frame.block, frame.at, frame.visits.get(frame.block, 0))
        is_pointer = bool(code.operands) and code.operands[0].is_pointer
        return self.defined_by(code.statement, key, known, code.sort, frame, is_pointer=is_pointer)

    def defined_by(
        self,
        statement: Statement,
        key: Hashable,
        known: Known,
        sort: Sort,
        frame: Frame,
        *,
        is_pointer: bool = False,
    ) -> Known:
        """A value as a name of its own that a statement defines."""
        value, term = known
        if not self.symbolic:
            return self._made_of((value, None), sort, [known], frame, statement)
        if term is None:
            term = Const(value, sort)
        named = self.collector.define_pointer if is_pointer else self.collector.define
        return value, named(key, term, value, statement)

    def _made_of(
        self,
        made: Known,
        sort: Sort,
        given: Sequence[Known],
        frame: Frame | None = None,
        statement: Statement | None = None,
    ) -> Known:
        """Before terms are kept: a value with what it was made from; ``frame`` where it was defined."""
        value, term = made
        if self.origins is None:
            return value, None
        origin = self.origins.of(term) | self.origins.statement(statement)
        origin |= self.origins.of_all(other for _, other in given)
        if frame is not None:
            origin |= frame.control
        return value, self.origins.term(value, sort, origin)

    def of_origins(self, value: Value, sort: Sort, terms: Sequence[Term]) -> Term | None:
        """Before terms are kept: what a value of the library was made from."""
        if self.origins is None:
            return None
        return self.origins.term(value, sort, self.origins.of_all(terms))

    def called_back(self, frame: Frame, function: int, given: Sequence[Known]) -> Known:
        """What a function of the program returns that the library calls."""
        body = self.image.body(self.image.names.get(function, ""))
        if body is None:
            raise NotFollowedError(f"{frame.body.name} has the library call an unknown function")
        depth = len(self.frames)
        self._enter(body, self._next_call_back(frame), list(given), _CALLED_BACK)
        self._in_library += 1
        try:
            self._step_until(depth)
        finally:
            self._in_library -= 1
        return frame.registers.pop(_CALLED_BACK, (0, None))

    def _step_until(self, depth: int) -> None:
        """Execute until no more than so many calls are under way."""
        while len(self.frames) > depth:
            try:
                self._step()
            except (SideEndedError, NotFollowedError) as ended:
                inside = any(inner.open for inner in self.frames[depth:])
                if not inside or (self.real and isinstance(ended, NotFollowedError)):
                    raise
                self._side_over(ended)

    def _next_call_back(self, frame: Frame) -> int:
        """The number of one of several calls that the library makes for one instruction."""
        place = self.key(frame)
        count = self._call_backs[place] = self._call_backs.get(place, 0) + 1
        return self.collector.names.of((place, "called back", count))

    def _keep_terms(self) -> None:
        """From here on terms are kept: what there is gets a name."""
        if self.origins is None:
            return
        for frame in self.frames:
            for decision in frame.deciding:
                self.origins.met(decision)
            frame.deciding.clear()
        for frame in self.frames:
            for name, (value, term) in frame.registers.items():
                if term is not None:
                    key = ("before", frame.key, name)
                    frame.registers[name] = value, self.collector.define(key, term, value, None)
        for address, cell in self.memory.cells.items():
            value, term = self.memory.load(address, cell.size, cell.term.sort)
            read = self.collector.define(("before", address), term or cell.term, value, None)
            self.memory.cells[address] = Cell(cell.size, read)

    def _carries(self, name: str, known: Known) -> bool:
        """Whether what a library function returned is the test's input: to change it is no repair."""
        if name in DOUBTED and self.bounds.doubts_premises:
            return False
        if name not in CONVERTING:
            return name in READING
        term = known[1]
        return term is None or (isinstance(term, Read) and term.step in self.world.sources)

    def _input(self, known: Known, frame: Frame, sort: Sort) -> Known:
        """What was read, assigned by a statement that only carries it: hard."""
        return known if self.symbolic else self._made_of(known, sort, [known], frame)

    def key(self, frame: Frame) -> int:
        """The number of this instance of the current instruction."""
        place = (frame.key, frame.block, frame.at, frame.visits.get(frame.block, 0))
        return self.collector.names.of(place)

    def _enter(self, body: Body, key: int, arguments: list[Known], result: str) -> None:
        if len(self.frames) >= self.bounds.depth and not self.real:
            raise SideEndedError("calls nested too deep")
        registers = dict(zip(body.parameters, arguments, strict=False))
        under = self.frames[-1].control if self.frames else 0
        self.frames.append(Frame(body, key, registers, result, under=under))

    # What instructions with effects do.

    def _alloca(self, frame: Frame, code: Code) -> None:
        count = self.operand(frame, code.operands[0])[0] if code.operands else 1
        assert isinstance(count, int)
        kind = f"{frame.body.name} {code.result}" if count == 1 else "variable length"
        made = self.memory.allocate(code.size * count, kind, self.key(frame), real=self.real)
        frame.registers[code.result] = (made, None)
        frame.locals.append(made)

    def _load(self, frame: Frame, code: Code) -> None:
        if not code.sort.width and code.sort != BOOL:
            raise NotFollowedError(f"a load of the type {code.detail}")
        pointer = self.operand(frame, code.operands[0])
        if frame.carried or self.arguments:
            _carry(frame, code.result, carried=pointer[0] in self.arguments)
        if not self.symbolic:
            loaded = self.pointers.load((pointer[0], None), code.size, code.sort, 0)
            frame.registers[code.result] = self._made_of(loaded, code.sort, [pointer])
            return
        frame.registers[code.result] = self.pointers.load(
            pointer, code.size, code.sort, self.key(frame) if pointer[1] is not None else 0,
            is_pointer=code.is_pointer,
        )  # fmt: skip

    def _store(self, frame: Frame, code: Code) -> None:
        if not code.sort.width and code.sort != BOOL:
            raise NotFollowedError(f"a store of the type {code.detail}")
        known = self.operand(frame, code.operands[0])
        given = code.operands[0].register
        if given in frame.carried:
            known = self._input(known, frame, code.sort)
        elif given not in frame.body.parameters:
            known = self.define(frame, code, known)
        pointer = self.operand(frame, code.operands[1])
        if not self.symbolic:
            known = self._made_of(known, code.sort, [pointer], frame)
            pointer = pointer[0], None
        self.pointers.store(pointer, known, code.sort, code.size)

    def _gep(self, frame: Frame, code: Code) -> None:
        given = [self.operand(frame, operand) for operand in code.operands]
        if self.symbolic:
            frame.registers[code.result] = self.pointers.element(code, given)
            return
        moved = self.pointers.element(code, _values(given))
        frame.registers[code.result] = self._made_of(moved, code.sort, given)

    def _call(self, frame: Frame, code: Code) -> None:
        name = code.detail[0]
        given = [self.operand(frame, operand) for operand in code.operands]
        if not name:
            target = given.pop()[0]
            assert isinstance(target, int)
            name = self.image.names.get(target, "")
        body = self.image.body(name)
        if body is None:
            for at in code.computed:
                given[at] = self._argument(frame, code, at, given[at], code.operands[at])
            before, mark = None if self.symbolic else self.origins, self.memory.mark()
            result = self.library(
                self, frame, code, name, given if self.symbolic else _values(given)
            )
            if before is not None:
                before.copied(mark, before.of_all(term for _, term in given) | frame.control)
            if code.result:
                known = result if result is not None else (0, None)
                _carry(frame, code.result, carried=self._carries(plain_name(name), known))
                frame.registers[code.result] = (
                    known if self.symbolic else self._made_of(known, code.sort, given)
                )
            return
        passed = [
            self._argument(frame, code, at, known, code.operands[at])
            for at, known in enumerate(given)
        ]
        self._enter(body, self.key(frame), passed, code.result)

    def _argument(self, frame: Frame, code: Code, at: int, known: Known, operand: Operand) -> Known:
        """An argument is defined by the call's statement: of a function of the program each, of one that
        shows values those that the statement computes itself.
        """
        value, term = known
        if operand.register in frame.carried or (value and value == self.arguments.start):
            return self._input(known, frame, operand.sort)
        if not self.symbolic:
            return self._made_of((value, None), operand.sort, [known], frame, code.statement)
        if code.statement is None or not branches.is_scalar(Const(0, operand.sort)):
            return known
        term = Const(value, operand.sort) if term is None else term
        named = self.collector.define_pointer if operand.is_pointer else self.collector.define
        return value, named((self.key(frame), at), term, value, code.statement)

    def _return(self, frame: Frame, code: Code) -> None:
        known: Known = (0, None)
        if code.operands:
            known = self.operand(frame, code.operands[0])
            if code.operands[0].register in frame.carried:
                known = self._input(known, frame, code.operands[0].sort)
            elif branches.is_scalar(Const(0, code.operands[0].sort)):
                known = self.define(frame, code, known)
        if frame.open:
            self.arrived(frame, {"return": known}, frame.meeting(RETURN))
            return
        self.leave(frame, known)

    def leave(self, frame: Frame, known: Known) -> None:
        """Return from an activation."""
        if self.frames[-1].deciding:
            self._met(self.frames[-1], RETURN)
        left = self.frames.pop()
        self.memory.ended.update(left.locals)
        if left.judges:
            self._judged(known)
        if not self.frames:
            self.observer.exited(self.positions, known, real=self.real)
            if not self.asks_invariant(self.collector.names.of("invariant")):
                self.finish("it ended")
            return
        caller = self.frames[-1]
        if frame.result:
            caller.registers[frame.result] = known

    def asks_invariant(self, key: int) -> bool:
        """The program is over: evaluate the invariant, if there is one."""
        body = self.image.body(self._invariant) if self._invariant else None
        if body is None:
            return False
        self._enter(body, key, [], "")
        self.frames[-1].judges = True
        return True

    def _judged(self, known: Known) -> None:
        """The invariant returned; after ``exit`` only this side is over."""
        value, term = known
        sort = bitvec(32) if term is None else term.sort
        holds = Apply(Op.NE, (term or Const(value, sort), Const(0, sort)), BOOL)
        name = f"the invariant {self._invariant}"
        self.observer.asserted(name, holds, held=bool(value), real=self.real)
        ending = "it ended" if value or not self.real else f"{name} does not hold"
        if not self.frames:
            self.finish(ending)
        if self.real:
            self.ending = ending
        raise SideEndedError(ending)


def _hard_statement(_kind: str) -> Statement | None:
    """What a variable holds that no statement has written is as it is: no declaration is to blame."""
    return None


def _values(given: Sequence[Known]) -> list[Known]:
    """Without terms."""
    return [(value, None) for value, _ in given]


def _carry(frame: Frame, register: str, *, carried: bool) -> None:
    """Whether a register holds what was read, as it was read."""
    if carried:
        frame.carried.add(register)
    else:
        frame.carried.discard(register)


_ACTIONS: dict[str, Callable[[Machine, Frame, Code], None]] = {
    "alloca": Machine._alloca,  # noqa: SLF001 - the table of its own methods
    "load": Machine._load,  # noqa: SLF001
    "store": Machine._store,  # noqa: SLF001
    "getelementptr": Machine._gep,  # noqa: SLF001
    "call": Machine._call,  # noqa: SLF001
    "ret": Machine._return,  # noqa: SLF001
    "br": Machine.branch,
    "switch": Machine.switch,
}
