"""Which call was it that went wrong? Algorithmic debugging with the green run as the oracle.

Shapiro's question (Algorithmic Program Debugging, 1983, section 3) is put to every activation of a
function that a change has a part in: given the same, did it do the same as its counterpart in the
green run? One that did other things on the same arguments is an origin of the failure, or of some
other difference; one that did the same clears what was changed in it, however it was rewritten.

What an activation does: what it returns, yields and raises, and what it writes into objects that
are not its own, by stores and by calls into code that is not followed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from afterd.model.change import ChangeId
from afterd.model.trace import Conduct
from afterd.tracing.python.alignment import Alignment
from afterd.tracing.python.births import Births
from afterd.tracing.python.frames import Frame
from afterd.tracing.python.likeness import Likeness
from afterd.tracing.python.parameters import is_generator
from afterd.tracing.python.program import FUNCTIONS, Node
from afterd.tracing.python.purity import may_write, pure_function
from afterd.tracing.python.runtime.rows import Kind
from afterd.tracing.python.ssa import Steps
from afterd.tracing.python.ties import Ties
from afterd.tracing.python.tracefile import Recorded
from afterd.tracing.python.values import Unknown, identity

_ACTIVATIONS = 60  # of one function that are asked about
_ROWS = 4000  # of one activation that are compared
_HANDED = {Kind.RETURN: "return", Kind.YIELD: "yield", Kind.RAISE: "raise"}

Deed = tuple[str, Recorded, int]
"""What was done: where to, the value, the row."""


_WORSE = (Conduct.SAME, Conduct.ABSORBED, Conduct.CARRIED, Conduct.PASSED, Conduct.PARTED)
_PARTED = frozenset({Conduct.PARTED, Conduct.PASSED})


class Calls:
    """Compares activations of the failing run with their counterparts."""

    def __init__(
        self,
        steps: Steps,
        green: Steps,
        alignment: Alignment,
        inverse: Alignment,
        likeness: Likeness,
        ties: Ties,
        failing: Iterable[Frame],
    ) -> None:
        self.steps = steps
        self.green = green
        self.alignment = alignment
        self.likeness = likeness
        self.ties = ties
        self.inverse = inverse
        self._failing = frozenset(failing)
        self._conducts: dict[int, Conduct | None] = {}

    def conduct(self) -> dict[ChangeId, Conduct]:
        """The worst conduct of each executed change, nearest to the failure first."""
        found: dict[ChangeId, tuple[int, int]] = {}
        for changes, conduct, row in self._seen():
            if conduct is not None:
                worse = (_WORSE.index(conduct), row)
                for change in changes:
                    found[change] = max(found.get(change, worse), worse)
        order = sorted(found, key=lambda change: (-found[change][1], change))
        return {change: _WORSE[found[change][0]] for change in order}

    def _seen(self) -> Iterator[tuple[Iterable[ChangeId], Conduct | None, int]]:
        for function, changes in self._changed_functions().items():
            for frame in _some(self.alignment.activations(function)):
                yield changes, self._reaching(frame), frame.entered
        for function, changes in self._removed_functions().items():
            for frame in _some(self.inverse.activations(function)):
                caller = self._caller_here(frame)
                if caller is not None:
                    yield changes, self._as_part_of(caller), caller.entered
        yield from self._outside_functions()

    # -- activations -------------------------------------------------------------------------

    def _reaching(self, frame: Frame) -> Conduct | None:
        """The conduct of an activation; absorbed where a caller did as in green all the same."""
        own = self.of(frame)
        if own not in _PARTED:
            return own
        caller = None if is_generator(frame.node) else frame.parent
        while caller is not None and caller.node.type in FUNCTIONS:
            if is_generator(caller.node):
                break  # what it hands out goes to whoever iterates
            if self.of(caller) is Conduct.SAME and caller not in self._failing:
                return Conduct.ABSORBED
            caller = caller.parent
        return own

    def of(self, frame: Frame) -> Conduct | None:
        """What an activation did; one that green has not is a part of its caller."""
        if frame.number not in self._conducts:
            self._conducts[frame.number] = None
            self._conducts[frame.number] = self._compared(frame)
        return self._conducts[frame.number]

    def _compared(self, frame: Frame) -> Conduct | None:
        twin = self.alignment.frame(frame)
        if twin is None or frame.node.type not in FUNCTIONS:
            return self._callers_conduct(frame)
        mine, other = self._deeds(self.steps, frame), self._deeds(self.green, twin)
        if frame not in self._failing:
            alike = self.likeness.sure(lambda: self._alike(mine, other))
            if alike is not False:
                return Conduct.SAME if alike else self._by_default(frame)
        mine, other = self._given(self.steps, frame), self._given(self.green, twin)
        if not self._alike(mine, other, shared=True):
            return self._by_default(frame) or Conduct.CARRIED
        below = (self.of(child) for child in frame.children[:_ACTIVATIONS])
        return Conduct.PASSED if any(each in _PARTED for each in below) else Conduct.PARTED

    def _by_default(self, frame: Frame) -> Conduct | None:
        """What is known of an activation whose deeds cannot be told apart: a parameter of its own."""
        given = self._given(self.steps, frame)
        altered = (row for _, _, row in given if self.ties.of_row(self.steps.trace, row))
        differs = any(self._bound(row) is Conduct.PARTED for row in altered)
        return Conduct.PARTED if differs else None

    def _callers_conduct(self, frame: Frame) -> Conduct | None:
        caller = frame.parent
        while caller is not None and self.alignment.frame(caller) is None:
            caller = caller.parent
        return None if caller is None else self._as_part_of(caller)

    def _as_part_of(self, caller: Frame) -> Conduct | None:
        """The conduct of code that only one version has, in an activation that both have."""
        if caller.node.type not in FUNCTIONS:
            return None
        conduct = self._reaching(caller)
        return Conduct.PARTED if conduct is Conduct.PASSED else conduct

    def _caller_here(self, frame: Frame) -> Frame | None:
        """The counterpart of the nearest caller of a green activation that has one."""
        caller = frame.parent
        while caller is not None and (mine := self.inverse.frame(caller)) is None:
            caller = caller.parent
        return None if caller is None else mine

    # -- what they were given and did --------------------------------------------------------

    @staticmethod
    def _given(run: Steps, frame: Frame) -> Iterator[Deed]:
        for row in frame.rows[:_ROWS]:
            node = run.trace.node(row)
            if node is not None and node.type == "arg" and node.frame is frame.node:
                yield str(node["arg"]), run.trace.value(row), row

    def _deeds(self, run: Steps, frame: Frame) -> Iterator[Deed]:
        for row in frame.rows[:_ROWS]:
            node, kind = run.trace.node(row), run.trace.kind(row)
            if node is None:
                continue
            if kind in _HANDED:
                yield _HANDED[kind], run.trace.value(row), row
            elif kind is Kind.VALUE:
                yield from self._written(run, frame, node, row)
        if _left_by_exception(run, frame) and frame.left is not None:
            yield "exception", True, frame.left

    def _written(self, run: Steps, frame: Frame, node: Node, row: int) -> Iterator[Deed]:
        births = run.cells.births
        if node["store"] and node.type in {"Attribute", "Subscript"}:
            owner = run.cells.evaluation.target_value(node["value"], row, frame)
            if not _own(owner, births, row, frame):
                yield (
                    f".{node['attr']}" if node.type == "Attribute" else "[]",
                    run.trace.value(row),
                    row,
                )
        elif node.type == "Call" and run.cells.returned(row, frame) is None:
            yield from self._called(run, frame, node, row)

    @staticmethod
    def _called(run: Steps, frame: Frame, call: Node, row: int) -> Iterator[Deed]:
        """A method that may write, called on an object that is not the activation's own."""
        function = call["func"]
        if function.type != "Attribute" or pure_function(call) or not may_write(function["attr"]):
            return
        owner = run.cells.value_of(function["value"], row, frame)
        if _own(owner, run.cells.births, row, frame) or not isinstance(owner, tuple):
            return
        yield f".{function['attr']}()", run.effect(row), row

    def _alike(self, mine: Iterable[Deed], other: Iterable[Deed], *, shared: bool = False) -> bool:
        """The same in the same order, place by place; ``shared``: in places that both have."""
        here, there = _by_place(mine), _by_place(other)
        if not shared and here.keys() != there.keys():
            return False
        return all(
            len(here[place]) == len(there[place])
            and all(
                self.likeness.alike(value, row, twin, green_row)
                for (value, row), (twin, green_row) in zip(here[place], there[place], strict=True)
            )
            for place in here.keys() & there.keys()
        )

    # -- changes -----------------------------------------------------------------------------

    def _changed_functions(self) -> dict[Node, set[ChangeId]]:
        """Functions of the failing version with what was altered in, or removed from, them."""
        found: dict[Node, set[ChangeId]] = {}
        for node in self._nodes(self.steps):
            if node.frame.type in FUNCTIONS and (changes := self.ties.of_node(node)):
                found.setdefault(node.frame, set()).update(changes)
        for node in self._nodes(self.green):
            function = self._counterpart(node.frame)
            if function is not None and (changes := self.ties.removed(node)):
                found.setdefault(function, set()).update(changes)
        return found

    def _counterpart(self, function: Node) -> Node | None:
        """The failing version's function."""
        return self.alignment.matching.bad.get(function) if function.type in FUNCTIONS else None

    def _removed_functions(self) -> dict[Node, set[ChangeId]]:
        """Functions that only the green version has."""
        found: dict[Node, set[ChangeId]] = {}
        for node in self._nodes(self.green):
            if node.frame.type in FUNCTIONS and self._counterpart(node.frame) is None:
                found.setdefault(node.frame, set()).update(self.ties.removed(node))
        return {function: changes for function, changes in found.items() if changes}

    @staticmethod
    def _nodes(run: Steps) -> Iterator[Node]:
        for site in dict.fromkeys(run.trace.sites):
            node, kind = run.trace.decode(site)
            if node is not None and kind is not Kind.ENTER and node is not node.frame:
                yield node

    def _outside_functions(self) -> Iterator[tuple[Iterable[ChangeId], Conduct | None, int]]:
        """What modules and class bodies bound, and what definitions evaluated."""
        for row, site in enumerate(self.steps.trace.sites):
            node, kind = self.steps.trace.decode(site)
            if node is None or kind is not Kind.VALUE or node.frame.type in FUNCTIONS:
                continue
            changes = self.ties.of_node(node)
            if changes and not _is_definition(node):
                yield changes, self._bound(row), row

    def _bound(self, row: int) -> Conduct | None:
        twin = self.alignment.row(row)
        if twin is None:
            return None
        value, other = self.steps.trace.value(row), self.green.trace.value(twin)
        alike = self.likeness.alike(value, row, other, twin)
        return Conduct.SAME if alike else Conduct.PARTED


def _own(owner: Recorded | Unknown, births: Births, row: int, frame: Frame) -> bool:
    """Whether an object was made by the activation itself, or is not known."""
    if isinstance(owner, Unknown) or identity(owner) is None:
        return True
    born = births.made(owner, row)
    return born is not None and born > frame.entered


def _some(frames: Sequence[Frame]) -> Sequence[Frame]:
    half = _ACTIVATIONS // 2
    return frames if len(frames) <= _ACTIVATIONS else [*frames[:half], *frames[-half:]]


def _left_by_exception(run: Steps, frame: Frame) -> bool:
    """Whether the caller did not get a value: it left at once, or caught something."""
    caller = frame.parent
    if caller is None or frame.left is None or is_generator(frame.node):
        return False
    row = run.trace.next_in_frame(caller, frame.left)
    while row is not None and run.trace.kind(row) is Kind.SYNC:
        row = run.trace.next_in_frame(caller, row)
    if row is None or run.trace.kind(row) is Kind.EXIT:
        return True
    node = run.trace.node(row)
    return node is not None and node.type == "ExceptHandler"


def _by_place(deeds: Iterable[Deed]) -> dict[str, list[tuple[Recorded, int]]]:
    found: dict[str, list[tuple[Recorded, int]]] = {}
    for place, value, row in deeds:
        found.setdefault(place, []).append((value, row))
    return found


def _is_definition(node: Node) -> bool:
    return node.type in {"FunctionDef", "AsyncFunctionDef", "ClassDef", "alias"}
