"""Branches whose sides have not met again, and what is known where they do: φ, as hard clauses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from afterd.model.term import BOOL, Apply, Const, Op, SortKind, Term, Value, bitvec
from afterd.symbolic.code import Operand
from afterd.symbolic.collecting import Collector, any_of, conjunction_of, negation_of
from afterd.symbolic.memory import Memory
from afterd.symbolic.operations import Known
from afterd.symbolic.pieces import Changed, cut_alike
from afterd.symbolic.rounds import Rounds
from afterd.trace.c.ir.constants import from_word

Position = tuple[Term | None, int]


@dataclass(frozen=True, slots=True)
class Side:
    """One way that a branch can go: its condition and the block it leads to."""

    number: int
    condition: Term
    target: int


@dataclass(frozen=True, slots=True)
class Arrival:
    """What a side made of the state by the time the sides met.

    ``known``: it was executed; ``free``: nothing is known of what another side wrote; ``taken``: it was
    gone to its end, and does not merely lead to where the sides meet; ``forced``: how many branches went
    otherwise than what was executed before them says; ``world``: the world's state behind it.
    """

    side: Side
    changed: Changed
    phis: dict[str, Known]
    positions: tuple[Position, ...]
    known: bool = True
    free: bool = False
    taken: bool = True
    forced: int = 0
    world: Any = None


def distance(arrival: Arrival) -> tuple[bool, int, bool]:
    """How far an arrival is from what the run did: what was forced least often gives the values of what
    would have been; of several, one that does not merely go past what was executed.
    """
    return not arrival.known, arrival.forced, not arrival.taken


@dataclass(slots=True)
class OpenBranch:
    """A branch on the way: the state before it, the sides to be taken, those that arrived.

    A way may go past ``join`` to that of a branch further out. ``lost``: something of this branch did, or
    ended, so that not every way is among the arrivals; ``split``: the side that is being executed
    arrived in part already; ``left``: what the run did went past.
    """

    key: int
    block: int
    join: int
    path: Term | None
    mark: int
    registers: dict[str, Known]
    world: Any
    positions: tuple[Position, ...]
    sides: list[Side]  # still to be executed
    now: Side  # the one being executed
    real: bool  # whether the first side is what the run did
    limit: int = 0  # own instances at which a forced side is given up
    since: int = 0  # own instances when the first of its sides was forced
    arrivals: list[Arrival] = field(default_factory=list)
    closed: int = 0  # sides that are forbidden, because they lie beyond a bound
    first_arrived: bool = False
    forced: int = 0  # how many branches before it were forced
    frame_key: int = 0
    visits: dict[int, int] = field(default_factory=dict)  # of the activation, on its first side
    rounds: Rounds = field(default_factory=Rounds)  # before it
    lost: bool = False
    split: bool = False
    left: bool = False


def merge(
    branch: OpenBranch, memory: Memory, collector: Collector
) -> tuple[dict[str, Known], tuple[Position, ...]]:
    """Memory, φs and the positions in the output after the sides met. Memory is at the branch.

    The values are those of the first arrival; the term chooses by the sides' conditions.
    """
    changes = cut_alike([arrival.changed for arrival in branch.arrivals])
    pairs = zip(branch.arrivals, changes, strict=True)
    branch.arrivals = [replace(arrival, changed=changed) for arrival, changed in pairs]
    first = branch.arrivals[0]
    sizes: dict[int, int] = {}
    for arrival in branch.arrivals:
        for address, (data, _) in arrival.changed.items():
            sizes[address] = max(len(data), sizes.get(address, 0))
    for address, size in sorted(sizes.items()):
        _merge_cell(branch, memory, collector, address, size)
    phis: dict[str, Known] = {}
    for name in first.phis:
        values = [arrival.phis[name] for arrival in branch.arrivals]
        phis[name] = _chosen_side(branch, collector, ("phi", name), values, None)
    return phis, _positions(branch.arrivals)


def _merge_cell(
    branch: OpenBranch, memory: Memory, collector: Collector, address: int, size: int
) -> None:
    before = (memory.read(address, size), memory.term_at(address, size))
    found = [
        _freed_cell(branch, arrival.side, memory, collector, address, size)
        if arrival.free and address not in arrival.changed
        else arrival.changed.get(address, before)
        for arrival in branch.arrivals
    ]
    data = found[0][0]
    if any(len(other) != size for other, _ in found):
        collector.notes["memory that two sides wrote in pieces of different size"] = None
        bits = bitvec(8 * len(data))
        value = from_word(int.from_bytes(data, "little"), bits)
        memory.write(address, data, collector.free((branch.key, "pieces", address), bits, value))
        return
    sort = next((term.sort for _, term in found if term is not None), bitvec(8 * size))
    values: list[Known] = []
    for other, term in found:
        value = from_word(int.from_bytes(other, "little"), sort)
        values.append((value, term if term is not None and term.sort == sort else None))
    _, term = _chosen_side(branch, collector, ("cell", address), values, sort)
    memory.write(address, data, term)


def _chosen_side(
    branch: OpenBranch,
    collector: Collector,
    what: tuple[str, str | int],
    values: Sequence[Known],
    sort: Any,  # noqa: ANN401 - a Sort, or None to take the first term's
) -> Known:
    """The value of the side that is taken."""
    value = values[0][0]
    if all(term is None for _, term in values) and len({repr(v) for v, _ in values}) == 1:
        return value, None
    alike = values[0][1] is not None and all(term is values[0][1] for _, term in values)
    if alike or len(values) == 1:
        return values[0]
    sort = sort or next((t.sort for _, t in values if t is not None), None) or _sort_of(value)
    terms = [Const(v, sort) if term is None else term for v, term in values]
    result = terms[-1]
    for arrival, term in reversed(list(zip(branch.arrivals, terms, strict=True))[:-1]):
        result = Apply(Op.ITE, (arrival.side.condition, term, result), sort)
    return value, collector.define((branch.key, *what), result, value, None)


def any_value(incoming: Mapping[int, Operand]) -> Known:
    """A value of a φ's sort: which one does not matter, it will be free."""
    sample = next(iter(incoming.values()))
    zero: Value = False if sample.sort == BOOL else 0
    return zero, Const(zero, sample.sort)


def _sort_of(value: Value) -> Any:  # noqa: ANN401 - a Sort
    return BOOL if isinstance(value, bool) else bitvec(64)


def _positions(arrivals: Sequence[Arrival]) -> tuple[Position, ...]:
    """Where in the output the program is, under which condition: each place once, the run's first."""
    # Terms are told apart by identity: comparing shared ones takes exponentially long.
    alike = {tuple((id(given), at) for given, at in arrival.positions) for arrival in arrivals}
    if len(alike) == 1:
        return arrivals[0].positions
    conditions: dict[int, list[Term]] = {}
    for arrival in arrivals:
        for given, at in arrival.positions:
            condition = arrival.side.condition
            here = condition if given is None else conjunction_of(given, condition)
            conditions.setdefault(at, []).append(here)
    if len(conditions) == 1:  # whatever was taken
        return ((None, next(iter(conditions))),)
    return tuple((any_of(found), at) for at, found in conditions.items())


def unexplored_side(
    branch: OpenBranch,
    side: Side,
    memory: Memory,
    collector: Collector,
    written: dict[int, int],
    phis: dict[str, Known],
    *,
    trace_only: bool,
) -> Arrival:
    """A side that was not executed: what it may write is free."""
    changed: Changed = {}
    for address, size in written.items():
        changed[address] = _freed_cell(branch, side, memory, collector, address, size)
    free: dict[str, Known] = {
        name: (value, _free_phi(collector, branch, side, name, value, term))
        for name, (value, term) in phis.items()
    }
    return Arrival(side, changed, free, branch.positions, known=False, free=trace_only)


def _freed_cell(
    branch: OpenBranch, side: Side, memory: Memory, collector: Collector, address: int, size: int
) -> tuple[bytes, Term]:
    """A cell that nothing is known about on a side."""
    data, term = memory.read(address, size), memory.term_at(address, size)
    sort = bitvec(8 * size) if term is None else term.sort
    value = from_word(int.from_bytes(data, "little"), sort)
    return data, collector.free((branch.key, side.number, address), sort, value)


def _free_phi(
    collector: Collector, branch: OpenBranch, side: Side, name: str, value: Value, term: Term | None
) -> Term:
    sort = term.sort if term is not None else _sort_of(value)
    return collector.free((branch.key, side.number, name), sort, value)


def sides_of(guard: Term, targets: tuple[int, int]) -> list[Side]:
    """The two sides of a conditional branch."""
    return [Side(0, guard, targets[0]), Side(1, negation_of(guard), targets[1])]


def cases_of(selected: Term, cases: dict[Value, int], default: int) -> list[Side]:
    """The sides of a switch: one a block, the default where no case is."""
    by_target: dict[int, list[Term]] = {}
    tests = [Apply(Op.EQ, (selected, Const(v, selected.sort)), BOOL) for v in cases]
    for test, target in zip(tests, cases.values(), strict=True):
        by_target.setdefault(target, []).append(test)
    none: Term = Const(True, BOOL)  # noqa: FBT003 - the literal true
    for test in tests:
        none = conjunction_of(none, negation_of(test))
    by_target.setdefault(default, []).append(none)
    sides = []
    for number, (target, conditions) in enumerate(by_target.items()):
        condition = conditions[0]
        for other in conditions[1:]:
            condition = Apply(Op.OR, (condition, other), BOOL)
        sides.append(Side(number, condition, target))
    return sides


def is_scalar(term: Term) -> bool:
    """Whether a statement can define it: a number, a truth value, an address."""
    return term.sort.kind in {SortKind.BITVEC, SortKind.BOOL, SortKind.FLOAT}
